"""A text with ⋯, a word that no model knows, in the place of some of its words."""

from collections.abc import Sequence

from hardmax.text.tokeniser import JOINT, Span


def cut(text: str, spans: Sequence[Span]) -> str:
    """The text without these places, which are in order and do not overlap."""
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    return JOINT.join(text[start:end] for start, end in zip(starts, ends, strict=True))
