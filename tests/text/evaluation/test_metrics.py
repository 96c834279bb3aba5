import numpy as np
import pytest
from text.small_models import random_texts, small_model

from hardmax._validation import InputError
from hardmax.text.evaluation.calibration import calibrate, fit_temperature
from hardmax.text.evaluation.metrics import (
    accuracy,
    balanced_accuracy,
    brier,
    calibration_curve,
    calibration_error,
    confusion,
    evaluate,
    f1_binary,
    f1_macro,
    log_loss,
)

RNG = np.random.default_rng(0)


def drawn(texts: int, classes: int):
    """Probabilities, and labels that come with exactly those probabilities."""
    chances = RNG.dirichlet(np.ones(classes), size=texts)
    return np.array([RNG.choice(classes, p=row) for row in chances]), chances


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_numbers_agree_with_those_of_scikit_learn(classes):
    peers = pytest.importorskip("sklearn.metrics")
    truth, chances = drawn(500, classes)
    guess = chances.argmax(axis=1)
    assert accuracy(truth, guess) == pytest.approx(peers.accuracy_score(truth, guess))
    assert balanced_accuracy(truth, guess, classes) == pytest.approx(peers.balanced_accuracy_score(truth, guess))
    assert f1_macro(truth, guess, classes) == pytest.approx(peers.f1_score(truth, guess, average="macro"))
    assert log_loss(truth, chances) == pytest.approx(peers.log_loss(truth, chances))
    assert confusion(truth, guess, classes).tolist() == peers.confusion_matrix(truth, guess).tolist()
    if classes == 2:
        assert f1_binary(truth, guess) == pytest.approx(peers.f1_score(truth, guess))
        assert brier(truth, chances) == pytest.approx(2 * peers.brier_score_loss(truth, chances[:, 1]))


def test_honest_probabilities_have_almost_no_calibration_error_and_boastful_ones_do():
    truth, chances = drawn(50_000, 2)
    assert calibration_error(truth, chances) < 0.01
    boastful = chances**4 / (chances**4).sum(axis=1, keepdims=True)
    assert calibration_error(truth, boastful) > 0.1


def test_bins_hold_equally_many_texts():
    truth, chances = drawn(1000, 3)
    confidence, right, texts = calibration_curve(truth, chances)
    assert len(texts) == 15
    assert texts.max() - texts.min() <= 1
    assert (np.diff(confidence) >= 0).all()
    assert (right * texts).sum() == pytest.approx((chances.argmax(axis=1) == truth).sum())
    assert len(calibration_curve(truth[:4], chances[:4])[2]) == 4


def test_all_numbers_come_by_name():
    truth, chances = drawn(100, 2)
    found = evaluate(truth, chances)
    assert found["texts"] == 100
    assert found["accuracy"] == accuracy(truth, chances.argmax(axis=1))
    assert "f1_binary" not in evaluate(*drawn(100, 3))


@pytest.mark.parametrize("scale", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_the_temperature_undoes_a_scaling_of_honest_logits(scale, classes):
    truth, chances = drawn(20_000, classes)
    logits = np.log(chances)
    asked = (logits[:, 1] - logits[:, 0]) * scale if classes == 2 else logits * scale
    assert fit_temperature(asked, truth) == pytest.approx(scale, rel=0.05)


def test_where_no_text_is_mistaken_probabilities_are_still_no_certainties():
    # As if two more texts had come, of no class in particular: of 100 and 2 texts one is of the other class.
    temperature = fit_temperature([5.0] * 50 + [-5.0] * 50, [1] * 50 + [0] * 50)
    assert 1 / (1 + np.exp(-5.0 / temperature)) == pytest.approx(101 / 102, rel=1e-6)


def test_a_calibrated_model_predicts_the_same_labels_with_a_smaller_log_loss():
    model = small_model(decoder=[[30.0, 5.0]])
    texts = random_texts(400)
    truth = np.where(RNG.random(400) < 0.7, model.predict(texts), model.predict(texts)[::-1])
    better = calibrate(model, texts, truth)
    numbers = (truth == "positive").astype(int)
    assert better.predict(texts).tolist() == model.predict(texts).tolist()
    assert log_loss(numbers, better.predict_proba(texts)) < log_loss(numbers, model.predict_proba(texts))
    assert calibrate(better, texts, truth).temperature == pytest.approx(better.temperature, rel=1e-3)


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(InputError, match="equally many"):
        accuracy([0, 1], [0])
    with pytest.raises(InputError, match="row for each text"):
        log_loss([0, 1], [0.5, 0.5])
    with pytest.raises(InputError, match="one class for each"):
        fit_temperature([0.0, 1.0], [0])
    with pytest.raises(InputError, match="finite"):
        fit_temperature([0.0, np.nan], [0, 1])
    with pytest.raises(InputError, match="'other'"):
        calibrate(small_model(), ["great"], ["other"])
