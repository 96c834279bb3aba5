"""Corpora whose answer is known: sentences in which a few planted words alone carry the class."""

from dataclasses import dataclass

import numpy as np

from hardmax._format import pluralize
from hardmax._validation import InputError, check_instance, check_int, check_real, shorten

_FILLERS = (
    *("the", "a", "this", "that", "film", "movie", "plot", "story", "scene", "actor", "actress", "director", "camera"),
    *("music", "script", "ending", "cast", "dialogue", "was", "is", "felt", "looked", "seemed", "with", "and", "from"),
    *("about", "during", "after", "before", "where", "while", "they", "we", "it", "people", "evening", "cinema"),
    *("every", "some", "many", "first", "second", "minute", "hour", "screen", "audience", "character", "version"),
)
_SENTIMENT = {
    "negative": ("awful", "dreadful", "boring", "clumsy", "stale", "lifeless", "dire", "shoddy"),
    "positive": ("superb", "delightful", "gripping", "charming", "witty", "radiant", "moving", "masterly"),
}
_SYLLABLES = ("ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pa", "ro", "si", "tu", "va", "zo")


@dataclass(frozen=True, eq=False, repr=False)
class Planted:
    """Texts, the class of each, and the words that carry the classes."""

    texts: list[str]
    labels: list[str]
    words: dict[str, tuple[str, ...]]

    def __repr__(self) -> str:
        named = ", ".join(list(self.words)[:4]) + (", …" if len(self.words) > 4 else "")
        return f"Planted({pluralize(len(self.texts), 'text')}, classes {named})"


MOST_TEXTS, MOST_WORDS = 10**7, 10**5  # more would not fit into memory


def plant(
    texts: int = 1000,
    *,
    classes: tuple[str, ...] = ("negative", "positive"),
    words: int = 4,
    length: int = 20,
    disturbed: float = 0.2,
    seed: int = 0,
) -> Planted:
    """Make texts of about `length` filler words with two or three planted words of their class among them.

    Each class has `words` planted words. A share `disturbed` of the texts also has one word of another class. The
    classes "negative" and "positive" have words that people know; others have words that nobody does.

    >>> corpus = plant(2, words=2, length=6, seed=1)
    >>> corpus.labels, sorted(corpus.words)
    (['negative', 'positive'], ['negative', 'positive'])
    >>> all(any(word in text for word in corpus.words[label]) for text, label in zip(corpus.texts, corpus.labels))
    True
    """
    texts = check_int(texts, "`texts`", at_least=1, at_most=MOST_TEXTS)
    classes = tuple(check_instance(classes, (tuple, list), "`classes`", "a list of texts"))
    if not all(isinstance(name, str) for name in classes) or len(classes) < 2 or len(set(classes)) != len(classes):
        raise InputError(f"`classes` must be at least two texts, all different, not {shorten(classes)}.")
    if check_real(disturbed, "`disturbed`", at_least=0) > 1:
        raise InputError(f"`disturbed` must be a share from 0 to 1, not {shorten(disturbed)}.")
    rng = np.random.default_rng(check_int(seed, "`seed`", at_least=0))
    planted = _plant_words(classes, check_int(words, "`words`", at_least=1, at_most=MOST_WORDS), rng)
    labels = [classes[number % len(classes)] for number in range(texts)]
    size = check_int(length, "`length`", at_least=1, at_most=MOST_WORDS)
    return Planted([_write(label, planted, size, disturbed, rng) for label in labels], labels, planted)


def _plant_words(classes: tuple[str, ...], words: int, rng: np.random.Generator) -> dict[str, tuple[str, ...]]:
    taken = {*_FILLERS, *_SENTIMENT["negative"], *_SENTIMENT["positive"]}
    planted = {}
    for name in classes:
        known = list(_SENTIMENT.get(name, ()))[:words]
        while len(known) < words:
            invented = "".join(rng.choice(_SYLLABLES, size=4))
            if invented not in taken:
                taken.add(invented)
                known.append(invented)
        planted[name] = tuple(known)
    return planted


def _write(
    label: str, planted: dict[str, tuple[str, ...]], length: int, disturbed: float, rng: np.random.Generator
) -> str:
    words = list(rng.choice(_FILLERS, size=length))
    carriers = list(rng.choice(planted[label], size=int(rng.integers(2, 4))))
    if rng.random() < disturbed:
        others = [name for name in planted if name != label]
        carriers.append(rng.choice(planted[others[rng.integers(len(others))]]))
    for word in carriers:
        words.insert(int(rng.integers(len(words) + 1)), word)
    half = len(words) // 2
    sentences = (words[:half], words[half:]) if half else (words,)
    return " ".join(" ".join(map(str, sentence)).capitalize() + "." for sentence in sentences)
