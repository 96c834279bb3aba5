"""How a classifier is trained."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.validation import (
    InputError,
    check_bool,
    check_instance,
    check_int,
    check_real,
    shorten,
)
from hardmax.text._characters import fold
from hardmax.text._texts import read_words
from hardmax.text.reading import VotingRule
from hardmax.text.tokeniser import LONGEST_PHRASE, Tokeniser

SCALINGS = ("rarity", "contrast", "evidence")  # of which the first two are tried
_SILENT = Path(__file__).with_name("silent.txt")
GATES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a classifier is trained; settings that are None are chosen by three-fold
    cross-validation.

    Parameters
    ----------
    ngram_range : (int, int), default (1, 2)
        Tokens are words, and phrases of up to as many words as the second number; the first is 1.
    overlapping : bool, default False
        Whether to count every token that occurs in a text. By default every word belongs to one
        token at most: words vote, and a phrase takes its words if it says more than they do.
    min_df : int, optional
        Leave out tokens that occur in fewer texts (or groups, if there are groups); by default the
        largest of 1, 2 and 3 that hardly makes predictions of held-out texts worse.
    max_features : int, optional
        Keep the most influential tokens; by default all.
    exclude : sequence of str, default ()
        Words that no token may contain, such as names.
    stop_words : sequence of str or "english", optional
        Silent words: no token consists of them; if tokens do not overlap, none begins or ends with
        one, either. "english" are some 350 function words. By default, given more than 1,000 texts,
        no token consists of these or of other frequent words that all classes use about equally
        often, unless predictions of held-out texts get clearly worse.
    C : float, optional
        Inverse of the regularisation strength of the logistic regression: larger fits more closely.
    gate : float, optional
        A token is active if it is stronger than this share of the strongest in its text.
    alpha : number or str, optional
        How far tokens move towards their leaders: 0 (not at all) or the alpha of one layer. Kept
        as a text, exactly.
    neutral_weight : int, optional
        The number of silent words that are added to each text: the more, the less confident the
        model is of short texts.
    scaling : {"rarity", "contrast", "evidence"}, optional
        How much tokens may weigh. "rarity": the rarer, the more. "contrast": with two classes, also
        the more unevenly they are spread, the more. "evidence": by this alone, and little if they
        are rare. The first two are tried.
    fit_intercept : bool, default True
        Whether a text in which nothing votes gets the shares of the classes among the training
        texts as its probabilities; if False, all classes are equally probable.
    consistent : bool, default False
        Whether, with two classes, every token must speak for the class in which it is more
        frequent. Training may take three times as long.
    reading : bool, default True
        Whether to look for modifiers, words that change the votes of those after them.
    vectors : "auto", "english", path, mapping or None, default "auto"
        Word vectors, from which words get weights that few training texts contain, or none.
        "english" are those that ship with the package; a file is in GloVe's text format, the most
        frequent words first; a mapping is from words to vectors. "auto" takes the English ones if
        there are at most 12,000 texts, which are in English, and held-out texts do not speak
        against them. Without `max_features`, up to 20,000 words that only the table of vectors has
        become tokens. Cannot be combined with `consistent`.
    random_state : int, default 0
        Random seed of the cross-validation.

    Examples
    --------
    >>> from hardmax.train import fit
    >>> texts = ["a good film", "so good", "a bad film", "so bad"] * 5
    >>> model = fit(texts, [1, 1, 0, 0] * 5, Settings(gate=0.2))
    >>> model.metrics["settings"]["gate"]
    0.2
    """

    ngram_range: tuple[int, int] = (1, 2)
    overlapping: bool = False
    min_df: int | None = None
    max_features: int | None = None
    exclude: Iterable[str] = ()
    stop_words: Iterable[str] | str | None = None
    C: float | None = None
    gate: float | None = None
    alpha: Any = None
    neutral_weight: int | None = None
    scaling: str | None = None
    fit_intercept: bool = True
    consistent: bool = False
    reading: bool = True
    vectors: Any = "auto"
    random_state: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngram_range", _read_ngram_range(self.ngram_range))
        for name, least in (
            ("min_df", 0),
            ("random_state", 0),
            ("max_features", 1),
        ):
            self._check(name, check_int, at_least=least, at_most=2**31 - 1)
        self._check("C", check_real, above=0)
        if self.stop_words == "english":
            object.__setattr__(self, "stop_words", english_silent_words())
        for name in ("exclude", "stop_words"):
            if getattr(self, name) is not None:
                words = _read_words(getattr(self, name), f"`{name}`")
                object.__setattr__(self, name, words)
        if self.scaling not in (None, *SCALINGS):
            wish = " or ".join(map(repr, SCALINGS))
            raise InputError(f"`scaling` must be {wish}, not {shorten(self.scaling)}.")
        for name in ("fit_intercept", "reading", "consistent"):
            check_bool(getattr(self, name), f"`{name}`")
        if self.vectors is not None:
            expected = '"auto", "english", a file, a mapping from words to vectors, or None'
            check_instance(self.vectors, (str, PathLike, Mapping), "`vectors`", expected)
        if self.consistent and self.vectors not in (None, "auto"):
            problem = (
                "`vectors` may turn words against their counts: leave it out, or `consistent`."
            )
            raise InputError(problem)
        for name in ("gate", "alpha", "neutral_weight"):
            if getattr(self, name) is not None:
                rule = VotingRule(**{name: getattr(self, name)})
                object.__setattr__(self, name, getattr(rule, name))

    def _check(self, name: str, check: Callable[..., float], **bounds: float) -> None:
        """Keep a number as Python's own, which JSON can hold; None only where it is the default."""
        value = getattr(self, name)
        if value is not None or getattr(type(self), name) is not None:
            object.__setattr__(self, name, check(value, f"`{name}`", **bounds))

    @property
    def recorded(self) -> dict[str, Any]:
        """The settings as a model keeps them: instead of lists of words, which may be names, only
        their lengths."""
        plain = {part.name: getattr(self, part.name) for part in fields(self)}
        for name in ("exclude", "stop_words"):
            if plain[name] and isinstance(plain[name], tuple):
                plain[name] = len(plain[name])
        return plain

    @property
    def tokeniser(self) -> Tokeniser:
        """How texts are cut into tokens."""
        return Tokeniser(longest_phrase=self.ngram_range[1], overlapping=self.overlapping)


@cache
def english_silent_words() -> tuple[str, ...]:
    """English words of grammar."""
    lines = _SILENT.read_text(encoding="utf-8").splitlines()
    return tuple(" ".join(line for line in lines if not line.startswith("#")).split())


def _read_words(words: Any, name: str) -> tuple[str, ...]:
    """The words of a list, or of a set in order, as models know them."""
    is_set = isinstance(words, set | frozenset)
    return tuple(map(fold, read_words(sorted(words, key=str) if is_set else words, name)))


def _read_ngram_range(ngram_range: Any) -> tuple[int, int]:
    """From single words to phrases of this many, checked."""
    allowed = [(1, last) for last in range(1, LONGEST_PHRASE + 1)]
    is_pair = isinstance(ngram_range, list | tuple) or np.ndim(ngram_range) == 1
    if not is_pair or tuple(ngram_range) not in allowed:
        expected = f"(1, n), n at most {LONGEST_PHRASE}: words, and phrases of up to n words"
        raise InputError(f"`ngram_range` must be {expected}, not {shorten(ngram_range)}.")
    return allowed[int(ngram_range[1]) - 1]
