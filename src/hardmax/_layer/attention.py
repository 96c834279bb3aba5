"""Who counts, and how much: kinds of attention other than hardmax."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._common.validation import InputError, check_int, shorten
from hardmax._tokens.rationals import Number, read_number


@dataclass(frozen=True)
class Localmax:
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

    slack: Number

    def __post_init__(self) -> None:
        slack = read_number(self.slack, "`slack`")
        if slack < 0:
            raise InputError(f"`slack` must be from 0 up, not {slack}.")
        vars(self).update(slack=slack)

    def _least(self, scores: Mapping[int, int], counts: np.ndarray, unit: int) -> Fraction:
        """The score that is still attended to, if scores are given in 1 / units."""
        return max(scores.values()) - Fraction(self.slack) * unit


@dataclass(frozen=True)
class TopK:
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

    k: int

    def __post_init__(self) -> None:
        vars(self).update(k=check_int(self.k, "`k`", at_least=1))

    def _least(self, scores: Mapping[int, int], counts: np.ndarray, unit: int) -> int:
        """The score that is still attended to."""
        missing = self.k
        for j, score in sorted(scores.items(), key=lambda item: -item[1]):
            missing -= int(counts[j])
            if missing <= 0:
                return score
        return min(scores.values())


@dataclass(frozen=True)
class Softmax:
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

    beta: Number

    def __post_init__(self) -> None:
        beta = read_number(self.beta, "`beta`")
        if beta <= 0:
            raise InputError(f"`beta` must be positive, not {beta}.")
        vars(self).update(beta=beta)


Attention = Localmax | TopK | Softmax
_KINDS: dict[Any, type[Attention]] = {kind.__name__: kind for kind in (Localmax, TopK, Softmax)}


def read_attention(attention: Any) -> Attention | None:
    """A kind of attention, one as `to_plain` wrote it, or in words: "topk:2"; None for hardmax."""
    if attention is None or isinstance(attention, Localmax | TopK | Softmax):
        return attention
    with suppress(KeyError, TypeError):  # no such kind, or other parts than its own
        if isinstance(attention, str):
            return _in_words(attention)
        parts = {**attention}
        return _KINDS[parts.pop("kind")](**parts)
    wish = "Localmax(slack), TopK(k) or Softmax(beta), or 'localmax:1/2', 'topk:2' or 'softmax:10'"
    raise InputError(f"`attention` must be {wish}, not {shorten(attention)}.")


def _in_words(attention: str) -> Attention:
    """A kind of attention, typed as its name and its number."""
    name, colon, number = attention.partition(":")
    kind: Any = {f"{kind.lower()}:": _KINDS[kind] for kind in _KINDS}[name.strip().lower() + colon]
    try:
        # An int as it is: what is no number is refused by the kind.
        return kind(int(number) if number.strip().isdecimal() else number.strip())
    except InputError as error:
        problem = f"`attention` is {shorten(attention)}"
        raise InputError(f"{problem}: {error}") from None


def to_plain(attention: Attention) -> dict[str, Any]:
    """A kind of attention as plain data."""
    parts = {"kind": type(attention).__name__} | vars(attention)
    return {name: str(part) if isinstance(part, Fraction) else part for name, part in parts.items()}
