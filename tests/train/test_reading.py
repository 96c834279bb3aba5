"""Modifiers are found in texts of a language that nobody knows, where some were planted, and
nowhere else."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from hardmax.text import TextModel
from hardmax.text._texts import read_texts
from hardmax.text.reading import Reader
from hardmax.train import Settings, fit, fitting
from hardmax.train.reading import Evidence, find_modifiers, find_short

SCOPE = 4
SPEAKING = tuple(f"{a}{b}{c}" for c in "lr" for a in "bdfgk" for b in "aeiou")
SILENT = tuple(f"{a}{b}{c}s" for a in "mnp" for b in "aei" for c in "tkf")
NEGATORS = ("zu", "qa")
# Each is hardly ever there, all together are often.
RARE = tuple(f"{a}{b}n'q" for a in "bdfgkmp" for b in "aeiou")
STRENGTHENING = "hyx"
KINDS = {SPEAKING: 0.42, SILENT: 0.34, NEGATORS: 0.1, RARE: 0.07, (STRENGTHENING,): 0.07}
WORDS = [word for kind in KINDS for word in kind]
SHARES = [share / len(kind) for kind, share in KINDS.items() for _ in kind]
QUICK = Settings(C=1.0, gate=0.0, alpha="0", neutral_weight=5, ngram_range=(1, 1))


def planted(
    texts: int, seed: int, *, classes: int = 2, words=(5, 12), modified: bool = True
) -> tuple[list[str], list[int]]:
    """Texts of a few clauses. A text is of the class that its words speak for most; what they say
    is turned up to four words after a negator in the same clause, and three times as much after the
    word that strengthens."""
    rng = np.random.default_rng(seed)
    rows = 1 if classes == 2 else classes
    shape = len(SPEAKING), rows
    values = np.random.default_rng(7).choice([-1.0, 1.0], size=shape)
    if rows > 1:
        values = 2.0 * np.eye(rows)[np.arange(len(SPEAKING)) % rows]
    value = dict(zip(SPEAKING, values, strict=True))
    chosen, labels = [], []
    for _ in range(texts):
        score, written = rng.normal(scale=0.3, size=rows), []
        for _ in range(rng.integers(*words) // 4 + 1):
            size = rng.integers(3, 8)
            clause = rng.choice(WORDS, size=size, p=SHARES).tolist()
            for place, word in enumerate(clause):
                before = clause[max(place - SCOPE, 0) : place] if modified else ()
                score = score + _factor(before) * value.get(word, 0.0)
            written.append(" ".join(clause))
        chosen.append(", ".join(written))
        label = score[0] > 0 if rows == 1 else score.argmax()
        labels.append(int(label))
    return chosen, labels


def _factor(before: Sequence[str]) -> float:
    if any(word in NEGATORS or word in RARE for word in before):
        return -1.0
    return 3.0 if STRENGTHENING in before else 1.0


def factors(model: TextModel) -> dict[str, float]:
    return {modifier.word: modifier.factor for modifier in model.modifiers}


@pytest.mark.parametrize("classes", [2, 3])
def test_planted_modifiers_are_found_with_the_right_signs_and_help(classes):
    texts, labels = planted(4000, seed=1, classes=classes)
    model = fit(texts, labels, QUICK)
    found = factors(model)
    assert {*NEGATORS, "*n'q"} <= set(found)
    assert all(found[word] < 0.25 for word in (*NEGATORS, "*n'q"))
    assert found.get(STRENGTHENING, 2.0) > 1.25
    assert not set(found) & {*SPEAKING, *SILENT}
    assert all(modifier.texts >= 50 for modifier in model.modifiers)
    others, truth = planted(1000, seed=2, classes=classes)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fitting, "_find_reader", lambda *_: Reader())
        plain = fit(texts, labels, QUICK)
    assert plain.modifiers == ()
    right, without = ((each.predict(others) == truth).mean() for each in (model, plain))
    assert right > without + 0.05


def test_a_modifier_that_turns_votes_has_none_of_its_own_even_if_vectors_know_it():
    texts, labels = planted(4000, seed=1)
    rng = np.random.default_rng(0)
    known = [*SPEAKING, *SILENT, *NEGATORS, *RARE, "unheard"]
    vectors = {word: rng.normal(size=3).tolist() for word in known}
    model = fit(texts, labels, replace(QUICK, vectors=vectors))
    assert {*NEGATORS, "*n'q"} <= set(factors(model))
    surfaces = set(model.vocabulary.surfaces)
    assert {*SPEAKING, "unheard"} <= surfaces
    assert surfaces.isdisjoint({*NEGATORS, *RARE})
    assert not model.analyse(NEGATORS).decided.any()


@pytest.mark.parametrize("seed", range(2))
def test_where_nothing_modifies_nothing_is_found(seed):
    texts, labels = planted(1500, seed=seed, modified=False)
    assert fit(texts, labels, QUICK).modifiers == ()


def test_modifiers_are_dropped_unless_the_loss_falls_by_more_than_can_be_chance(monkeypatch):
    texts, labels = planted(1500, seed=5)
    assert fit(texts, labels, QUICK).modifiers
    monkeypatch.setattr(fitting, "SURE", 1e9)
    assert fit(texts, labels, QUICK).modifiers == ()


def test_a_word_that_speaks_more_than_is_known_does_not_modify_itself():
    labels = np.tile([0, 1], 100)
    short = find_short(read_texts(["calm", "awful"] * 100))
    known = Evidence(
        votes=np.array([[1.0] if word == "awful" else [-1.0] for word in short.words])[None],
        speaks=np.zeros(2, bool),
        folds=np.zeros(200, int),
        logits=np.zeros((200, 1)),
        shares=np.ones(200),
        labels=labels,
        weights=np.ones(200),
    )
    assert find_modifiers(short, known, SCOPE) == ()


def test_labels_by_chance_have_no_modifiers():
    texts, _ = planted(1500, seed=3)
    labels = np.random.default_rng(0).integers(0, 2, len(texts))
    assert fit(texts, labels, QUICK).modifiers == ()


def test_long_texts_say_too_much_to_learn_modifiers_from():
    texts, labels = planted(500, seed=4, words=(68, 72))
    assert fit(texts, labels, QUICK).modifiers == ()


def test_the_same_texts_give_the_same_modifiers():
    texts, labels = planted(1500, seed=5)
    model, again = fit(texts, labels, QUICK), fit(texts, labels, QUICK)
    assert model.modifiers
    assert model.modifiers == again.modifiers
    assert model.weights.tobytes() == again.weights.tobytes()


def test_the_loss_of_a_text_is_that_of_its_label():
    logits = np.array([[0.0], [2.0], [2.0]])
    truth = np.array([0, 1, 0])
    factors = np.empty((1, 0, 1))
    known = Evidence(
        factors, np.zeros(3, dtype=bool), np.zeros(3), logits, np.ones(3), truth, np.ones(3)
    )
    expected = np.log([2, 1 + np.exp(-2), 1 + np.exp(2)])
    np.testing.assert_allclose(known.losses(), expected)
