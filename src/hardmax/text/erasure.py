"""Whether the tokens that are said to matter do: erasure tests."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardmax._validation import InputError, check_instance, check_int
from hardmax.text._analysis import UNDECIDED, weigh_text
from hardmax.text._texts import read_texts
from hardmax.text.spans import cut, keep, merged, touched
from hardmax.text.text_model import TextModel


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """Shares of texts by what becomes of their answer when only a part of them is left; "undecided" is an answer of its
    own."""

    texts: int
    leaders_alone: float
    """Same answer, from the tokens that lead alone; a neutral leader is not among them."""
    active_alone: float
    """Same answer, from the active tokens alone."""
    without_active: float
    """Same answer, without the active tokens."""
    changed_without_active: float
    """Another label, without the active tokens."""
    undecided_without_active: float
    """Undecided, without the active tokens."""
    without_others: float
    """Same answer, without as many other words as the active tokens have."""


def measure_erasure(model: TextModel, texts: Any, *, at_most: int = 1000, seed: int = 0) -> Erasure:
    """What texts are answered from their leaders alone, from their active tokens alone, without these, and without as
    many other words. Of more than `at_most` texts so many are drawn; `seed` decides which, and which other words.
    """
    check_instance(model, TextModel, "`model`", "a TextModel")
    at_most, seed = check_int(at_most, "`at_most`", at_least=1), check_int(seed, "`seed`", at_least=0)
    given = read_texts(texts).strings()
    if not given:
        raise InputError("`texts` is empty: expected at least one text.")
    rng = np.random.default_rng(seed)
    whole = [given[row] for row in np.sort(rng.permutation(len(given))[:at_most])]
    parts = [list(_parts(model, text, rng)) for text in whole]
    before = model.analyse(whole).answers
    leaders, active, without, others = (model.analyse(list(few)).answers for few in zip(*parts, strict=True))
    return Erasure(
        texts=len(whole),
        leaders_alone=float((leaders == before).mean()),
        active_alone=float((active == before).mean()),
        without_active=float((without == before).mean()),
        changed_without_active=float(((without != before) & (without != UNDECIDED)).mean()),
        undecided_without_active=float((without == UNDECIDED).mean()),
        without_others=float((others == before).mean()),
    )


def _parts(model: TextModel, text: str, rng: np.random.Generator) -> Iterator[str]:
    """The leaders alone, the active tokens alone, the text without these, and without as many other words."""
    read, found, _ = weigh_text(model, text)
    leads = (found.leader_since >= 0) & (found.ids < len(model.vocabulary))
    leading, active = (
        merged((start, end) for t in np.flatnonzero(own) for start, end in read.places[t].tolist())
        for own in (leads, found.active)
    )
    yield keep(text, leading)
    yield keep(text, active)
    words = [(token.start, token.end) for token in replace(model.tokeniser, longest_phrase=1).tokens(text)]
    is_active = touched(words, active)
    drawn = rng.permutation(np.flatnonzero(~is_active))[: int(is_active.sum())]
    yield cut(text, active)
    yield cut(text, merged(words[n] for n in drawn.tolist()))
