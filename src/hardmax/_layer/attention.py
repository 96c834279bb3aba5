"""Who counts, and how much: kinds of attention."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hardmax._common.validation import InputError, check_choice, check_int, shorten
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.rationals import Number, read_number


class Attention:
    """A kind of attention: one that says no more than what it chooses is taken layer by layer, in
    integers."""

    known_to: ClassVar[tuple[str, ...]] = ()
    """Who takes it besides: "certificates", "enclosures", "plain floats", "the page"."""
    tells_copies_apart: ClassVar[bool] = True
    """Whether one of equal tokens may be attended to without the others: they are not merged."""

    def chosen(self, scores: Mapping[int, Any], counts: np.ndarray, unit: int) -> list[int]:
        """The tokens that count, of those with these scores, in 1 / units; `counts` says how often
        each token is there."""
        raise NotImplementedError


class Threshold(Attention):
    """Attend to every token from a score up: that of the k-th token, less a slack. With 1 and 0 it
    is hardmax."""

    known_to = "certificates", "enclosures", "plain floats", "the page"
    tells_copies_apart = False
    k: int = 1
    slack: Number = 0

    def chosen(self, scores: Mapping[int, Any], counts: np.ndarray, unit: int) -> list[int]:
        """The tokens that count."""
        least = max(scores.values()) if self.k == 1 else self._kth(scores, counts)
        if self.slack:
            least -= Fraction(self.slack) * unit
        return [j for j, score in scores.items() if score >= least]

    def _kth(self, scores: Mapping[int, Any], counts: np.ndarray) -> Any:
        """The score of the k-th token, or of the last."""
        missing = self.k
        for j, score in sorted(scores.items(), key=lambda item: -item[1]):
            missing -= int(counts[j])
            if missing <= 0:
                return score
        return min(scores.values())


HARDMAX = Threshold()


@dataclass(frozen=True)
class Localmax(Threshold):
    """Attend to every token whose score is within a slack of the largest: ``C_i = {j : s_ij >= max
    s_i - slack}``.

    Parameters
    ----------
    slack : number or str
        From 0 up; with 0 it is hardmax.

    Examples
    --------
    >>> from hardmax import Dynamics, attended
    >>> attended([[3], [2], [-1]], Dynamics(1, attention=Localmax(3)))
    AttendedSets([[0, 1], [0, 1], [1, 2]])
    """

    slack: Number = field()

    def __post_init__(self) -> None:
        slack = read_number(self.slack, "`slack`")
        if slack < 0:
            raise InputError(f"`slack` must be from 0 up, not {slack}.")
        vars(self).update(slack=slack)


@dataclass(frozen=True)
class TopK(Threshold):
    """Attend to the k tokens with the largest scores, and to all that are tied with the last of
    them.

    Parameters
    ----------
    k : int
        From 1 up; with 1 it is hardmax. Copies of a token count one by one.

    Examples
    --------
    >>> from hardmax import Dynamics, attended
    >>> attended([[3], [2], [-1]], Dynamics(1, attention=TopK(2)))
    AttendedSets([[0, 1], [0, 1], [1, 2]])
    """

    k: int = field()

    def __post_init__(self) -> None:
        vars(self).update(k=check_int(self.k, "`k`", at_least=1))


@dataclass(frozen=True)
class Softmax(Attention):
    """Attend to all tokens, with weights ``exp(beta s_ij) / sum over l of exp(beta s_il)``.

    Layers are irrational: `simulate` and `limit` enclose them. What needs attended sets or exact
    positions, such as `attended`, `step` and certificates, does not take softmax.

    Parameters
    ----------
    beta : number or str
        Inverse temperature, positive.

    Examples
    --------
    >>> from hardmax import Dynamics, simulate
    >>> run = simulate([[1.0], [2.0]], Dynamics(1, attention=Softmax(10)), layers=1)
    >>> run.at(1).ravel().round(6).tolist(), run.error <= 1e-12
    ([1.499977, 2.0], True)
    """

    known_to = "enclosures", "plain floats", "the page"
    tells_copies_apart = False
    beta: Number

    def __post_init__(self) -> None:
        beta = read_number(self.beta, "`beta`")
        if beta <= 0:
            raise InputError(f"`beta` must be positive, not {beta}.")
        vars(self).update(beta=beta)


@dataclass(frozen=True)
class Ties(Attention):
    """Attend to one of the tokens with the largest score alone: the first or the last of them, in
    the order in which tokens are given. `Dynamics` and `Head` take it as `ties`.

    Parameters
    ----------
    which : {"leftmost", "rightmost"}
        The first, or the last.

    Examples
    --------
    >>> from hardmax import Dynamics, attended
    >>> attended([[1, 1], [1, -1], [0.5, 0]], Dynamics(1, ties="rightmost"))
    AttendedSets([[0], [1], [1]])
    """

    which: str

    def __post_init__(self) -> None:
        check_choice(self.which, ("leftmost", "rightmost"), "`ties`", also=" or 'average'")

    def chosen(self, scores: Mapping[int, Any], counts: np.ndarray, unit: int) -> list[int]:
        """The token that counts."""
        best = max(scores.values())
        tied = (j for j, score in scores.items() if score == best)
        return [min(tied) if self.which == "leftmost" else max(tied)]

    def of_each(self, tied: AttendedIndices) -> np.ndarray:
        """The point that counts of each set of points that tie."""
        offsets = tied.offsets
        return tied.indices[offsets[:-1] if self.which == "leftmost" else offsets[1:] - 1]


KINDS = (Localmax, TopK, Softmax, Ties)


def read_attention(attention: Any) -> Attention:
    """A kind of attention, one as `plain_attention` wrote it, or in words: "topk:2"."""
    if isinstance(attention, Attention):
        return attention
    by_name: Any = {kind.__name__.lower(): kind for kind in KINDS}
    with suppress(KeyError, TypeError):  # no such kind, or other parts than its own
        if isinstance(attention, str):
            name, *numbers = (part.strip() for part in attention.split(":"))
            return _in_words(by_name[name.lower()], numbers, attention)
        parts = {**attention}
        return by_name[str(parts.pop("kind")).lower()](**parts)
    shown = (kind for kind in KINDS if kind is not Ties)  # they have their own parameter
    *kinds, last = map(_signature, shown)
    wish = f"{', '.join(kinds)} or {last}, also in words, such as 'topk:2'"
    raise InputError(f"`attention` must be {wish}, not {shorten(attention)}.")


def _in_words(kind: Any, numbers: list[str], attention: str) -> Attention:
    """A kind of attention, typed as its name and its numbers."""
    try:
        # An int as it is: what is no number is refused by the kind.
        return kind(*(int(number) if number.isdecimal() else number for number in numbers))
    except InputError as error:
        problem = f"`attention` is {shorten(attention)}"
        raise InputError(f"{problem}: {error}") from None


def _signature(kind: type) -> str:
    return f"{kind.__name__}({', '.join(part.name for part in fields(kind))})"


def plain_attention(attention: Attention) -> dict[str, Any]:
    """A kind of attention as plain data."""
    parts = {"kind": type(attention).__name__} | vars(attention)
    return {name: str(part) if isinstance(part, Fraction) else part for name, part in parts.items()}
