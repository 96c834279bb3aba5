"""Models made up on the spot: real words with random weights, and words that modify them; texts of
these words.

Drawn texts come as words in clauses beside what they are spelt as, so that an oracle needs no
tokeniser."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from hardmax.text.reading import Modifier, VotingRule
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

KNOWN = "great|awful|film|plot|the|not good|good|a|dull|witty|the worst|very|so"
WORDS = tuple(KNOWN.split("|"))
RULE = {field.name for field in fields(VotingRule)}
NOT = Modifier("not", -0.5, 9)
MODIFIERS = (NOT, Modifier("very", 1.5, 7), Modifier("*n't", -0.75, 5))


def made(parts: dict[str, Any]) -> TextModel:
    """A model of these parts, those of its rule among them."""
    rule = {name: parts.pop(name) for name in RULE & parts.keys()}
    return TextModel(rule=VotingRule(**rule), **parts)


def names_of(classes: int) -> list[str]:
    if classes == 2:
        return ["negative", "positive"]
    return [f"class {number}" for number in range(classes)]


def small_model(seed: int = 0, *, classes: int = 2, **changes: Any) -> TextModel:
    """A model that knows WORDS, their weights drawn at random."""
    rng = np.random.default_rng(seed)
    rows = 1 if classes == 2 else classes
    counts = rng.integers(0, 50, size=(len(WORDS), classes))
    parts: dict[str, Any] = {"vocabulary": Vocabulary(WORDS, counts)}
    parts["weights"] = 3 * rng.normal(size=(len(WORDS), rows))
    parts["bias"] = rng.normal(size=rows) / 4
    parts["classes"] = names_of(classes)
    parts["modifiers"] = MODIFIERS
    return made(parts | changes)


def word_model(weights: dict[str, Any], **changes: Any) -> TextModel:
    """A model that knows these words, without bias and modifiers."""
    table = np.array([*weights.values()], dtype=float)
    table = table.reshape(len(weights), -1)
    rows = table.shape[1]
    classes = 2 if rows == 1 else rows
    counts = np.ones((len(weights), classes))
    parts: dict[str, Any] = {"vocabulary": Vocabulary(list(weights), counts)}
    parts["weights"] = table
    parts["bias"] = np.zeros(rows)
    parts["classes"] = names_of(classes)
    return made(parts | changes)


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Texts of known and unknown words and modifiers; some are empty."""
    rng = np.random.default_rng(seed)
    choices = [*WORDS, "unknown", "worst", "Not Good.", "<br />", "not", "Didn’t", ","]
    drawn = (rng.choice(choices, size=rng.integers(0, 30)) for _ in range(count))
    return [" ".join(words) for words in drawn]


# ---------------------------------------------------------------- drawn models and texts

# No model knows "can't" but by its form.
SPELLINGS = "good GOOD|bad|Film|not NOT|very|don't DON’T|can’t|n'est N’est|n't|13.1|unknown"
SPELT: dict[str, Sequence[str]] = {}
for spellings in SPELLINGS.split("|"):
    first, *_ = spellings.lower().split()
    SPELT[first.replace("’", "'")] = spellings.split()
SURFACES = [
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
]
ENDS = (", ", ". ", " (", ") ", '" ', " -- ", " – ", "<br />", "; ", "!? ")
FACTORS = (-0.5, -1.0, 1.5, 2.5, 0.5, 3.0, 1.0, 0.125, -16.0)
NAMES = "not very don't n'est good unknown *n't n'* *'t *t b*"
NAMED = NAMES.split()


class Said(NamedTuple):
    """A text, and the words of its clauses."""

    text: str
    clauses: list[list[str]]


@st.composite
def texts(draw: st.DrawFn) -> Said:
    """A text of a few clauses."""
    word = st.sampled_from(["good", "bad", "not", "film"] * 3 + list(SPELT))
    some_words = st.lists(word, min_size=1, max_size=9)
    clauses = draw(st.lists(some_words, min_size=1, max_size=4))
    between = draw(st.sampled_from([" ", "\n", " - "]))  # which end no clause
    text = ""
    for clause in clauses:
        spelt = [draw(st.sampled_from(SPELT[word])) for word in clause]
        text += between.join(spelt) + draw(st.sampled_from(ENDS))
    return Said(text, clauses)


found_in = st.integers(0, 9)
shifts = st.sampled_from((0.0, 0.0, -0.75, 1.5))
modifier = st.builds(Modifier, st.sampled_from(NAMED), st.sampled_from(FACTORS), found_in, shifts)
modifiers = st.lists(modifier, max_size=5, unique_by=lambda modifier: modifier.word)


tokenisers = st.builds(Tokeniser, longest_phrase=st.integers(1, 3), overlapping=st.booleans())


@st.composite
def models(draw: st.DrawFn, classes: Any = None) -> TextModel:
    """A model of any kind; its weights are small multiples of 1/4, which tie and are never
    rounded."""
    if classes is None:
        classes = st.sampled_from([2, 2, 3, 4])
    count = draw(classes)
    rows = 1 if count == 2 else count
    known = draw(st.integers(5, len(SURFACES)))
    surfaces = draw(st.permutations(SURFACES))[:known]
    quarter = st.sampled_from([-6, -3, -2, -1, 0, 1, 2, 4])
    quarters = st.lists(quarter, min_size=rows, max_size=rows)
    table = draw(st.lists(quarters, min_size=known, max_size=known))
    parts: dict[str, Any] = {"weights": np.array(table) / 4}
    parts["bias"] = np.array(draw(quarters)) / 4
    parts["vocabulary"] = Vocabulary(surfaces, [[1, 2, 3, 3][:count]] * known)
    parts["classes"] = (0, 1) if rows == 1 else tuple("pqrs"[:count])
    some = draw(modifiers) or [Modifier("not", -0.5)] * draw(st.integers(0, 1))
    if rows > 1:
        some = [replace(each, shift=0.0) for each in some]
    parts["modifiers"] = tuple(some)
    parts["scope"] = draw(st.integers(1, 6))
    parts["gate"] = draw(st.sampled_from([0, 0.25, 0.5, 0.75]))
    parts["neutral_weight"] = draw(st.sampled_from([1, 2, 50]))
    alphas = ["0", "1", "3"] if rows == 1 else ["0"]
    parts["alpha"] = draw(st.sampled_from(alphas))
    parts["tokeniser"] = draw(tokenisers)
    return made(parts)
