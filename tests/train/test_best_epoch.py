"""Which weights a training keeps: with patience those of its best epoch at the full step, else its last."""

# pyright: reportMissingImports=false
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from field_checks import SMALL
from small_training import TOKENS, examples
from watching import weights_of

from hardmax.train.layer import Hardmax
from hardmax.train.log import Epoch
from hardmax.train.loop import Folder, decide, train
from hardmax.train.network import Network, make_network
from hardmax.train.recipe import Recipe

# So fast that the words of forty texts are learned by heart after a few epochs, and other texts pay for it.
HASTY = replace(SMALL, learning_rate=0.3, epochs=12, validation_fraction=0.5)
TAUGHT, JUDGES = examples(texts=40), examples(texts=100, seed=2)


def trained(recipe: Recipe, **more) -> tuple[Network, list[Epoch]]:
    network = make_network(TOKENS, 2, recipe, Hardmax())
    return network, train(network, TAUGHT, recipe, validation=JUDGES, **more)


def losses(reports: list[Epoch]) -> list[float]:
    return [report.validation_loss or np.nan for report in reports]


def loss_of(network: Network, alpha: float) -> float:
    logits = decide(network, JUDGES.clouds, alpha)[0][:, 0]
    return float(np.logaddexp(0, np.where(JUDGES.labels == 1, -logits, logits)).mean())


def test_the_best_epoch_is_kept_though_training_goes_on_to_its_end():
    network, reports = trained(replace(HASTY, patience=20))
    best = int(np.argmin(losses(reports)))
    assert 0 < best < len(reports) - 1
    assert len(reports) == HASTY.epochs
    assert loss_of(network, 1.0) == pytest.approx(losses(reports)[best], rel=1e-5)
    assert losses(reports)[-1] > 1.1 * losses(reports)[best]


def test_without_patience_the_last_epoch_is_kept():
    network, reports = trained(HASTY)
    assert loss_of(network, 1.0) == pytest.approx(losses(reports)[-1], rel=1e-5)
    assert losses(reports)[-1] > 1.1 * min(losses(reports))


def test_an_epoch_before_alpha_has_risen_is_never_the_best():
    network, reports = trained(replace(HASTY, bag_of_words_epochs=6.0, patience=20))
    full = [report for report in reports if report.alpha == 1.0]
    assert full[0].epoch == 6
    assert min(losses(reports)) < 0.9 * min(losses(full))
    assert loss_of(network, 1.0) == pytest.approx(min(losses(full)), rel=1e-5)


def test_patience_begins_when_alpha_has_risen():
    _, reports = trained(replace(HASTY, bag_of_words_epochs=6.0, patience=2))
    assert int(np.argmin(losses(reports))) < 5
    assert len(reports) >= 8


@pytest.mark.parametrize("cut", [4, 8])
def test_a_training_cut_short_after_its_best_epoch_still_keeps_it(tmp_path, cut):
    recipe = replace(HASTY, patience=20)
    whole, reports = trained(recipe)
    assert int(np.argmin(losses(reports))) < cut - 1

    def stop(report: Epoch) -> None:
        if report.epoch == cut:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(recipe, folder=Folder(tmp_path, "hasty"), progress=stop)
    again, told = trained(recipe, folder=Folder(tmp_path, "hasty"))
    assert losses(told) == losses(reports)
    for name, value in weights_of(whole).items():
        assert weights_of(again)[name].tobytes() == value.tobytes()
