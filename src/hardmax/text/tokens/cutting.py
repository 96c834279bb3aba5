"""Parts of a text: some of its places kept, or cut out.

What is left is joined by a full stop, where a sentence ends, so that no phrase arises that nobody wrote (unless a
tokeniser's phrases go across sentences).
"""

from collections.abc import Sequence

Span = tuple[int, int]
"""A place: text[start:end]."""
JOINT = " . "


def merged(spans: Sequence[Span]) -> list[Span]:
    """The same places in order, those that overlap as one.

    >>> merged([(5, 9), (0, 3), (2, 4)])
    [(0, 4), (5, 9)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            start, end = found[-1][0], max(end, found.pop()[1])
        found.append((start, end))
    return found


def keep(text: str, spans: Sequence[Span]) -> str:
    """The places alone; they are in order and do not overlap.

    >>> keep("a good film", [(0, 1), (7, 11)])
    'a . film'
    """
    return JOINT.join(text[start:end] for start, end in spans)


def cut(text: str, spans: Sequence[Span]) -> str:
    """The text without the places; they are in order and do not overlap.

    >>> cut("a good film", [(2, 6)])
    'a  .  film'
    """
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return JOINT.join(text[start:end] for start, end in zip(starts, ends, strict=True))
