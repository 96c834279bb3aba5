"""Models made up on the spot: real words with random weights, and words that modify them; texts of
these words.

Drawn texts come as words in clauses beside what they are spelt as, so that an oracle needs no
tokeniser."""

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from hardmax.text.reading import Modifier, VotingRule
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

WORDS = (
    "great",
    "awful",
    "film",
    "plot",
    "the",
    "not good",
    "good",
    "a",
    "dull",
    "witty",
    "the worst",
    "very",
    "so",
)
RULE = {field.name for field in fields(VotingRule)}
MODIFIERS = (Modifier("not", -0.5, 9), Modifier("very", 1.5, 7), Modifier("*n't", -0.75, 5))


def made(parts: dict[str, Any]) -> TextModel:
    """A model of these parts, those of its rule among them."""
    rule = {name: parts.pop(name) for name in RULE & parts.keys()}
    return TextModel(rule=VotingRule(**rule), **parts)


def names_of(classes: int) -> list[str]:
    return ["negative", "positive"] if classes == 2 else [f"class {c}" for c in range(classes)]


def small_model(seed: int = 0, *, classes: int = 2, **changes: Any) -> TextModel:
    """A model that knows WORDS, their weights drawn at random."""
    rng = np.random.default_rng(seed)
    rows = 1 if classes == 2 else classes
    parts = {
        "vocabulary": Vocabulary(WORDS, rng.integers(0, 50, size=(len(WORDS), classes))),
        "weights": 3 * rng.normal(size=(len(WORDS), rows)),
        "bias": rng.normal(size=rows) / 4,
        "classes": names_of(classes),
        "modifiers": MODIFIERS,
    }
    return made(parts | changes)


def word_model(weights: dict[str, Any], **changes: Any) -> TextModel:
    """A model that knows these words, without bias and modifiers."""
    table = np.array(list(weights.values()), dtype=float).reshape(len(weights), -1)
    rows = table.shape[1]
    classes = 2 if rows == 1 else rows
    parts = {
        "vocabulary": Vocabulary(list(weights), np.ones((len(weights), classes))),
        "weights": table,
        "bias": np.zeros(rows),
        "classes": names_of(classes),
    }
    return made(parts | changes)


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Texts of known and unknown words and modifiers; some are empty."""
    rng = np.random.default_rng(seed)
    choices = [*WORDS, "unknown", "worst", "Not Good.", "<br />", "not", "Didn’t", ","]
    return [" ".join(rng.choice(choices, size=rng.integers(0, 30))) for _ in range(count)]


# ---------------------------------------------------------------- drawn models and texts

SPELT = {
    "good": ("good", "GOOD"),
    "bad": ("bad",),
    "film": ("Film",),
    "not": ("not", "NOT"),
    "very": ("very",),
    "don't": ("don't", "DON’T"),
    "can't": ("can’t",),  # which no model knows but by its form
    "n'est": ("n'est", "N’est"),
    "n't": ("n't",),
    "13.1": ("13.1",),
    "unknown": ("unknown",),
}
SURFACES = (
    "good",
    "bad",
    "film",
    "not",
    "not good",
    "very good",
    "good film",
    "not very good",
    "don't",
    "13.1",
)
ENDS = (", ", ". ", " (", ") ", '" ', " -- ", " – ", "<br />", "; ", "!? ")
FACTORS = (-0.5, -1.0, 1.5, 2.5, 0.5, 3.0, 1.0, 0.125, -16.0)
NAMED = ("not", "very", "don't", "n'est", "good", "unknown", "*n't", "n'*", "*'t", "*t", "b*")


class Said(NamedTuple):
    """A text, and the words of its clauses."""

    text: str
    clauses: list[list[str]]


@st.composite
def texts(draw: st.DrawFn) -> Said:
    """A text of a few clauses."""
    word = st.sampled_from(["good", "bad", "not", "film"] * 3 + list(SPELT))
    clauses = draw(st.lists(st.lists(word, min_size=1, max_size=9), min_size=1, max_size=4))
    between = draw(st.sampled_from([" ", "\n", " - "]))  # which end no clause
    text = ""
    for clause in clauses:
        spelt = [draw(st.sampled_from(SPELT[word])) for word in clause]
        text += between.join(spelt) + draw(st.sampled_from(ENDS))
    return Said(text, clauses)


modifiers = st.lists(
    st.builds(Modifier, st.sampled_from(NAMED), st.sampled_from(FACTORS), st.integers(0, 9)),
    max_size=5,
    unique_by=lambda modifier: modifier.word,
)


tokenisers = st.builds(Tokeniser, longest_phrase=st.integers(1, 3), overlapping=st.booleans())


@st.composite
def models(draw: st.DrawFn, classes: Any = None) -> TextModel:
    """A model of any kind; its weights are small multiples of 1/4, which tie and are never
    rounded."""
    count = draw(st.sampled_from([2, 2, 3, 4]) if classes is None else classes)
    rows = 1 if count == 2 else count
    surfaces = draw(st.permutations(SURFACES))[: draw(st.integers(5, len(SURFACES)))]
    quarters = st.lists(st.sampled_from([-6, -3, -2, -1, 0, 1, 2, 4]), min_size=rows, max_size=rows)
    table = draw(st.lists(quarters, min_size=len(surfaces), max_size=len(surfaces)))
    rule = VotingRule(
        scope=draw(st.integers(1, 6)),
        gate=draw(st.sampled_from([0, 0.25, 0.5, 0.75])),
        alpha=draw(st.sampled_from(["0", "1", "3"])) if rows == 1 else "0",
        neutral_weight=draw(st.sampled_from([1, 2, 50])),
    )
    return TextModel(
        vocabulary=Vocabulary(surfaces, [[1, 2, 3, 3][:count]] * len(surfaces)),
        weights=np.array(table) / 4,
        bias=np.array(draw(quarters)) / 4,
        classes=(0, 1) if rows == 1 else tuple("pqrs"[:count]),
        modifiers=tuple(draw(modifiers)) or (Modifier("not", -0.5),) * draw(st.integers(0, 1)),
        rule=rule,
        tokeniser=draw(tokenisers),
    )
