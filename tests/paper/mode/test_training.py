import json

import numpy as np
import pytest
from paper.mode.paper_corpus import planted_ids

torch = pytest.importorskip("torch")

from hardmax._validation import InputError  # noqa: E402
from hardmax.paper.mode.network import first_weights  # noqa: E402
from hardmax.paper.mode.order import draw_order  # noqa: E402
from hardmax.paper.mode.plan import Plan, plan_of  # noqa: E402
from hardmax.paper.mode.reviews_on_device import put_on_device  # noqa: E402
from hardmax.paper.mode.running import train_paper, train_together  # noqa: E402
from hardmax.paper.mode.split import split_rows  # noqa: E402
from hardmax.paper.mode.training import Training  # noqa: E402

IDS, LABELS = planted_ids()
WORDS = int(IDS.max()) + 1


@pytest.fixture(autouse=True)
def one_thread():
    """Threads would wait for each other longer than so small a network lasts."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def reviews():
    return put_on_device(IDS, LABELS, WORDS, "cpu")


def to_the_end(training):
    return list(training.advance())


def test_the_authors_choices_are_the_defaults():
    plan = Plan(dimension=2)
    assert (plan.layers, plan.temperature, plan.learning_rate) == (8, 0.001, 1e-3)
    assert (plan.batch_size, plan.largest_norm, plan.epochs, plan.seed) == (64, 5, 101, 0)


@pytest.mark.parametrize("exact", [False, True])
def test_planted_words_are_learnt_by_softmax_and_by_hardmax(exact):
    training = Training(reviews(), Plan(dimension=4, exact=exact, epochs=25, learning_rate=0.05))
    to_the_end(training)
    losses, accuracies = training.history[:, 0].tolist(), training.history[:, 3].tolist()
    assert losses[-1] < 0.3 < 0.6 < losses[0]
    assert accuracies[-1] > 0.75


def test_a_training_is_the_same_as_one_written_plainly():
    """The loop without shares, sums or orders drawn ahead: torch's own parts, batch after batch."""
    plan = Plan(dimension=3, epochs=2, compare_every=0)
    training = Training(reviews(), plan)
    ids, labels = torch.from_numpy(IDS), torch.from_numpy(LABELS).float()
    weights = {name: value.clone().requires_grad_() for name, value in training.weights().items()}
    adam = torch.optim.Adam(weights.values(), lr=1e-3)
    for epoch in range(2):
        order = np.random.default_rng([0, 2, epoch]).permutation(140)
        for batch in torch.from_numpy(order).split(64):
            tokens, alpha = torch.nn.functional.embedding(ids[batch], weights["embedding"]), weights["alpha"]
            for _ in range(8):
                attention = torch.softmax(tokens @ tokens.transpose(1, 2) / 0.001, dim=-1)
                tokens = (tokens + alpha * (attention @ tokens)) / (1 + alpha)
            found = torch.sigmoid(tokens.mean(1) @ weights["decoder"] + weights["bias"])
            adam.zero_grad()
            torch.nn.functional.binary_cross_entropy(found, labels[batch]).backward()
            torch.nn.utils.clip_grad_norm_(weights.values(), 5)
            adam.step()
    to_the_end(training)
    for name, value in training.weights().items():
        # Adam divides by the size of gradients: where these are nothing but rounding, so is the step.
        assert (value - weights[name]).abs().median() < 1e-5


def test_the_same_seed_gives_the_same_bytes_and_another_another():
    first, second = (train_paper(IDS, LABELS, 2, epochs=2)["history"] for _ in range(2))
    assert first == second
    assert train_paper(IDS, LABELS, 2, epochs=2, seed=1)["history"] != first


def test_hardmax_with_the_weights_of_softmax_is_measured_every_tenth_epoch():
    hard = train_paper(IDS, LABELS, 2, epochs=11)["history"]["hard"]
    assert hard["epochs"] == [0, 10]
    assert len(hard["judged_accuracy_hard"]) == 2


def test_hardmax_and_softmax_have_about_the_same_loss():
    history = train_paper(IDS, LABELS, 2, epochs=1)["history"]
    assert history["hard"]["train_loss_hard"][0] == pytest.approx(history["train_loss"][0], abs=0.01)


def test_every_review_comes_once_in_an_epoch_and_the_filling_has_no_share():
    plan = Plan(dimension=2, epochs=3)
    order = draw_order(np.arange(10, 110), plan, "cpu")
    assert order.steps == 2
    for rows in order.rows:
        assert sorted(rows[order.shares > 0].tolist()) == list(range(10, 110))
    torch.testing.assert_close(order.shares.sum(dim=1), torch.ones(2))
    assert not torch.equal(order.rows[0], order.rows[1])


def test_held_out_reviews_are_trained_on_by_nobody():
    split = split_rows(1000, plan_of(2, "validated"))
    assert (len(split.training), len(split.judging), len(split.once)) == (630, 70, 300)
    assert sorted([*split.training, *split.judging, *split.once]) == list(range(1000))
    assert split.once.min() == 700


def test_the_test_is_looked_at_once_where_some_are_held_out():
    result = train_paper(IDS, LABELS, 2, kind="validated", epochs=3)
    assert set(result["test"]) == {"loss", "accuracy", "loss_hard", "accuracy_hard"}
    accuracies = result["history"]["judged_accuracy"]
    assert result["chosen"]["epoch"] == accuracies.index(max(accuracies))
    assert "test" not in train_paper(IDS, LABELS, 2, epochs=1)


def test_the_best_weights_are_those_of_the_chosen_epoch():
    training = Training(reviews(), Plan(dimension=2, epochs=4, learning_rate=0.05))
    kept = []
    for is_epoch in training.advance():
        if is_epoch:
            kept.append(training.weights()["embedding"].clone())
    accuracies = training.history[:, 3].tolist()
    torch.testing.assert_close(training.best["embedding"], kept[accuracies.index(max(accuracies))])


def test_a_training_that_was_cut_short_goes_on_to_the_same_bytes(tmp_path):
    plans = [plan_of(2, "paper", epochs=4), plan_of(3, "exact", epochs=4)]
    whole = train_together(reviews(), plans, tmp_path / "whole", checkpoint_every=2)
    for line in ("d2-paper: epoch 2", "d3-exact: epoch 2"):
        with pytest.raises(KeyboardInterrupt):
            train_together(
                reviews(), plans, tmp_path / "cut", checkpoint_every=1, at_once=2, progress=_stop_after(line)
            )
    cut = train_together(reviews(), plans, tmp_path / "cut")
    assert [one["history"] for one in cut] == [one["history"] for one in whole]
    for plan in plans:
        weights = [(tmp_path / run / plan.name / "weights.safetensors").read_bytes() for run in ("whole", "cut")]
        assert weights[0] == weights[1]


def _stop_after(line):
    def progress(told):
        if told.startswith(line):
            raise KeyboardInterrupt

    return progress


def test_no_time_leaves_nothing_at_its_end(tmp_path):
    assert train_together(reviews(), [plan_of(2, "paper", epochs=1)], tmp_path, seconds=0) == []


def test_what_is_at_its_end_is_left_alone(tmp_path):
    plans = [plan_of(2, "paper", epochs=1)]
    train_together(reviews(), plans, tmp_path)
    told = []
    (document,) = train_together(reviews(), plans, tmp_path, progress=told.append)
    assert told == ["d2-paper: is there"]
    assert json.loads((tmp_path / "d2-paper" / "result.json").read_text()) == document


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    train_together(reviews(), [plan_of(2, "paper", epochs=1)], tmp_path)
    (tmp_path / "d2-paper" / "result.json").unlink()
    with pytest.raises(InputError, match="another training"):
        train_together(reviews(), [plan_of(2, "paper", epochs=1, seed=1)], tmp_path)
    (tmp_path / "d2-paper" / "checkpoint.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="cut off"):
        train_together(reviews(), [plan_of(2, "paper", epochs=1)], tmp_path)


@pytest.mark.parametrize(
    ("ids", "labels", "device", "why"),
    [
        (IDS[0], LABELS, "cpu", "rows of ids"),
        (IDS, LABELS[1:], "cpu", "rows of ids"),
        (IDS - 1, LABELS, "cpu", "from 0 to"),
        (IDS, LABELS + 1, "cpu", "0 or 1"),
    ],
)
def test_reviews_that_cannot_be_used_are_refused(ids, labels, device, why):
    with pytest.raises(InputError, match=why):
        put_on_device(ids, labels, WORDS, device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_named():
    with pytest.raises(InputError, match="no GPU"):
        put_on_device(IDS, LABELS, WORDS, "cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is there")
def test_graphs_on_a_gpu_give_what_single_steps_give():
    on_gpu = put_on_device(IDS, LABELS, WORDS, "cuda")
    histories = []
    for graphs in (True, False):
        training = Training(on_gpu, Plan(dimension=4, epochs=4, compare_every=2), record_graphs=graphs)
        to_the_end(training)
        training.wait()
        histories.append(training.history.cpu())
    torch.testing.assert_close(histories[0], histories[1], equal_nan=True, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dimension", [2, 16])
def test_training_starts_where_the_parts_of_torch_do(dimension: int):
    first = first_weights(50, Plan(dimension=dimension, seed=3), "cpu")
    torch.manual_seed(3)
    embedding, alpha, decoder = torch.nn.Embedding(50, dimension), torch.rand(1), torch.nn.Linear(dimension, 1)
    assert torch.equal(first["embedding"], embedding.weight)
    assert torch.equal(first["alpha"], alpha)
    assert torch.equal(first["decoder"], decoder.weight[0])
    assert torch.equal(first["bias"], decoder.bias)


def test_another_shuffle_is_another_order_of_the_same_reviews():
    rows = np.arange(100)
    orders = [draw_order(rows, Plan(dimension=2, epochs=2, shuffle=n), "cpu").rows[:, :2].numpy() for n in (0, 1, 1)]
    assert (orders[1] == orders[2]).all()
    assert (orders[0] != orders[1]).any()
    assert np.unique(orders[1][0]).tolist() == rows.tolist()
