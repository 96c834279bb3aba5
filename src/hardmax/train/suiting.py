"""The recipe that suits a corpus: what matters is chosen on texts that are held out, and the rest by what there is.

What is tried are bags of words, in a second each: a network starts from one and stays close to it, so that what tells
held-out texts apart for the one does so for the other. (Words alone are not tried: votes of words need their phrases
more than a bag of words does.) One thing is chosen after the other: how long phrases are, how often a token must be
met, how close to stay to the data, whether there is a bias, and last how many words count: half of them, or fewer where
that pays: each halving must spare one error in twenty, since votes suffer more from fewer words than a bag of words
does. One layer is what is not asked but set: words then keep half of what they say themselves, and on seven corpora
that was a fifth of a point better than all but nothing of it, which is what eight layers leave.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from hardmax._format import pluralize
from hardmax._validation import InputError, check_callable
from hardmax.text.tokens.texts import TextBytes, read_texts
from hardmax.train.examples import hold_out, read_labels
from hardmax.train.recipe import Recipe
from hardmax.train.suited import Choice, Suited
from hardmax.train.trials import Folds, Trial

NOTHING: Mapping[str, Any] = MappingProxyType({})
# What is tried, the preferred first: another must be better by more than chance.
PHRASES, FEWEST, STRENGTHS, BIAS = (2, 3), (1, 2), (10.0, 30.0, 100.0, 3.0), (False, True)
SHARES = (0.5, 0.4, 0.25, 0.15, 0.09, 0.05)
_LOOKED_AT, _BYTES = 10_000, 6_000_000  # texts, and what they may have together, that are tried on
_JUDGES = 0.3  # of these
_SPARED = 0.05  # of the errors, by half as many words that count
_FEW, _TURNS = 5_000, 3  # texts that are so few take turns
_LARGE, _HUGE = 12_000_000, 200_000_000  # bytes of text, of which tokens that one text has, or four, are too many
_SOME = 20  # classes; more have a weight each for every token, so that less is tried
_BALANCED = 1.2  # how much larger the larger of two classes may be, if nothing is to be said without a word
_SHORT = 8  # words: of fewer none can be spared in training
_WEIGHTS = 2_000_000  # numbers in a bag of words, so that it fits in memory with many classes, too


class Question(NamedTuple):
    """What is asked: the entry, its values, and which of the trials is to be taken."""

    name: str
    values: tuple[Any, ...]
    take: Callable[[Mapping[Any, Trial]], Any]


def suit(
    texts: Any,
    labels: Any,
    given: Mapping[str, Any] = NOTHING,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Suited:
    """The recipe that suits texts and their labels, of any kind; entries that are `given` are not chosen. `progress` is
    called with (trials done, trials).

    >>> from hardmax.text.data.planted import plant
    >>> corpus = plant(200, seed=1)
    >>> found = suit(corpus.texts, corpus.labels)
    >>> found.recipe.counting < 0.4, [choice.name for choice in found.choices][-1]
    (True, 'counting')
    """
    progress = check_callable(progress, "`progress`", "done", "total")
    unknown = [name for name in given if name not in asdict(Recipe())]
    if unknown:
        raise InputError(f"`{unknown[0]}` is no entry of a recipe.", argument=unknown[0])
    texts = read_texts(texts)
    _, labels = read_labels(labels, len(texts))
    chosen = Suited(replace(by_rule(texts, labels), **given))
    looked_at = _sample(texts, labels, chosen.recipe.seed)
    if min(np.bincount(labels[looked_at], minlength=int(labels.max()) + 1)) < 1 / _JUDGES:
        return chosen  # a class so small that nothing of it can be held out
    here, classes = texts.pick(looked_at), labels[looked_at]
    trials = Folds.of(here, classes, _judges(classes, chosen.recipe.seed))
    questions = [each for each in _questions(len(texts) > len(looked_at), labels) if each.name not in given]
    done, total = count(1), sum(len(each.values) for each in questions)
    for question in questions:
        chosen = _choose(chosen, trials, question, progress and (lambda: progress(next(done), total)))
    if trials.words < _SHORT and "word_dropout" not in given:
        chosen = chosen.and_choose(Choice("word_dropout", 0.0, f"{trials.words:.0f} words a text"))
    return chosen


def by_rule(texts: TextBytes, labels: np.ndarray) -> Recipe:
    """What is tried first, and what is not tried: entries that follow from the number of texts and classes."""
    many, classes, said = len(texts), int(labels.max()) + 1, int(texts.offsets[-1] - texts.offsets[0])
    batch = int(np.clip(2 ** np.round(np.log2(max(many, 1) / 80)), 8, 512))
    return Recipe(
        layers=1,
        neutral=0.2,
        init="bag",
        longest_phrase=2,
        min_df=1 if said <= _LARGE else 2 if said <= _HUGE else 5,
        max_words=10**6,
        max_phrases=10**6,
        max_tokens=max(_WEIGHTS // (1 if classes == 2 else classes), 1000),
        thrift=0.0,
        bag_strength=10.0,
        epochs=6 if many <= 20_000 else 4 if many <= 200_000 else 2,
        bag_of_words_epochs=0.0,
        alpha_warmup_epochs=1.0,
        batch_size=batch,
        word_dropout=0.2,
        refit=many <= 50_000,
    )


def _questions(sampled: bool, labels: np.ndarray) -> list[Question]:
    """What is asked, in this order."""
    sizes = np.bincount(labels)
    if len(sizes) > _SOME:
        # So many weights fit noise: of few words, the right ones lead.
        return [Question("counting", SHARES[::-1], first_as_good)]
    asked = [Question("longest_phrase", PHRASES, first_as_good)]
    if not sampled:
        asked.append(Question("min_df", FEWEST, first_as_good))
    asked.append(Question("bag_strength", STRENGTHS, first_as_good))
    if len(sizes) == 2 and max(sizes) <= _BALANCED * min(sizes):
        asked.append(Question("bias", BIAS, first_as_good))
    return [*asked, Question("counting", SHARES, least_that_pays)]


def first_as_good(tried: Mapping[Any, Trial]) -> Any:
    """The first of the values that is as good as the best, within what chance does."""
    best = max(tried.values(), key=lambda trial: trial.accuracy)
    return next(value for value, trial in tried.items() if trial.is_as_good_as(best))


def least_that_pays(tried: Mapping[float, Trial]) -> float:
    """The least of the shares that makes up for what it leaves out: each halving spares one error in twenty.

    >>> right = np.arange(100)
    >>> least_that_pays({0.5: Trial(right < 80), 0.25: Trial(right < 81), 0.125: Trial(right < 81)})
    0.25
    >>> least_that_pays({0.5: Trial(right < 100), 0.25: Trial(right < 100), 0.125: Trial(right < 99)})
    0.25
    """
    first, usual = next(iter(tried.items()))
    allowed = {share: usual.wrong * (1 - _SPARED * math.log2(first / share)) for share in tried}
    return min(share for share, trial in tried.items() if trial.wrong <= allowed[share])


def _choose(chosen: Suited, trials: Folds, question: Question, tell: Callable[[], None] | None) -> Suited:
    tried = {}
    for value in question.values:
        tried[value] = trials.judge(replace(chosen.recipe, **{question.name: value}))
        if tell is not None:
            tell()
    shown = ", ".join(f"{value}: {trial.accuracy:.4f}" for value, trial in sorted(tried.items()))
    why = f"accuracy as a bag of words on {pluralize(trials.judged, 'text')} held out, by value: {shown}"
    return chosen.and_choose(Choice(question.name, question.take(tried), why))


def _judges(labels: np.ndarray, seed: int) -> list[np.ndarray]:
    """Which texts judge; if there are few, all of them, by turns."""
    if len(labels) > _FEW:
        return [hold_out(labels, _JUDGES, seed)]
    order = np.random.default_rng([seed, len(labels)]).permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    turn = np.empty(len(labels), dtype=np.int64)
    turn[by_class] = np.arange(len(labels)) % _TURNS
    return [turn == n for n in range(_TURNS)]


def _sample(texts: TextBytes, labels: np.ndarray, seed: int) -> np.ndarray:
    """Some of the texts, in order: all, if they are few."""
    order = np.random.default_rng([seed, len(labels)]).permutation(len(labels))[:_LOOKED_AT]
    sizes = np.diff(texts.offsets)[order]
    return np.sort(order[: max(1, int(np.searchsorted(np.cumsum(sizes), _BYTES, side="right")))])
