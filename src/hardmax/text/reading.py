"""Reading: one layer of hardmax attention between the words of a text.

A place of a token may attend to a modifier that stands a few words before it in the same clause, or
to itself. It attends to the strongest modifier there, of equals the nearest, and its vote is
multiplied by the modifier's factor."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.validation import InputError, check_int, check_real, check_str, shorten
from hardmax.text._characters import fold
from hardmax.text.tokeniser import Word, cut_surface

if TYPE_CHECKING:
    from hardmax.dynamics import Dynamics

STEPS = 8  # factors are multiples of 1/8, so that products with weights are exact
LARGEST = 16
ANY = "*"


@dataclass(frozen=True)
class Modifier:
    """A word that changes the votes of the words after it.

    Parameters
    ----------
    word : str
        A word; "*n't" stands for all words that end in "n't", "n'*" for those that begin with "n'".
    factor : float
        What votes are multiplied by, rounded to a multiple of 1/8: negative turns them, more than 1
        strengthens them.
    texts : int, default 0
        How many training texts have it.

    Examples
    --------
    >>> Modifier("never", -0.5).matches("never"), Modifier("*n't", -0.5).matches("wouldn't")
    (True, True)
    """

    word: str
    factor: float
    texts: int = 0

    def __post_init__(self) -> None:
        word = fold(check_str(self.word, "`word`"))
        object.__setattr__(self, "word", word)
        example = word.replace(ANY, "a", 1) if self.is_form else word
        if cut_surface(example) != [example]:
            raise InputError(
                f'`word` must be one word, or a form such as "*n\'t", not {shorten(self.word)}.'
            )
        factor = check_real(self.factor, "`factor`", at_least=-LARGEST, at_most=LARGEST)
        if factor == 0:  # the layer divides by it
            raise InputError("`factor` must not be 0: give a small one, such as 1/8.")
        object.__setattr__(self, "factor", round(factor * STEPS) / STEPS or 1 / STEPS)
        object.__setattr__(self, "texts", check_int(self.texts, "`texts`", at_least=0))

    @property
    def is_form(self) -> bool:
        """Whether it stands for all words with an ending or a beginning."""
        return self.word.startswith(ANY) != self.word.endswith(ANY)

    @property
    def strength(self) -> float:
        """How far its factor is from 1: words attend to the strongest."""
        return abs(self.factor - 1)

    def matches(self, word: str) -> bool:
        """Whether a word is this modifier.

        Parameters
        ----------
        word : str
            In lower case.

        Returns
        -------
        bool
            True if it is the word, or has the form.
        """
        if not self.is_form:
            return word == self.word
        return (
            word.endswith(self._letters)
            if self.word.startswith(ANY)
            else word.startswith(self._letters)
        )

    @property
    def _letters(self) -> str:
        return self.word.strip(ANY)


@dataclass(frozen=True)
class Reader:
    """The modifiers of a model, and how many words before it a token may attend to one.

    A word that several modifiers match is the first of them that names it, else the first whose
    form it has."""

    modifiers: tuple[Modifier, ...] = ()
    scope: int = 4

    def __post_init__(self) -> None:
        if not isinstance(self.modifiers, Sequence) or not all(
            isinstance(m, Modifier) for m in self.modifiers
        ):
            expected = 'a list such as [Modifier("never", -0.5)]'
            raise InputError(f"`modifiers` must be {expected}, not {shorten(self.modifiers)}.")
        object.__setattr__(self, "modifiers", tuple(self.modifiers))
        if len({modifier.word for modifier in self.modifiers}) < len(self.modifiers):
            raise InputError("`modifiers` has a word twice: expected each once.")
        object.__setattr__(self, "scope", check_int(self.scope, "`scope`", at_least=1, at_most=100))

    def number_of(self, word: str) -> int:
        """The number of the modifier that a word is, or -1."""
        return _number(self, word)

    def turns(self, word: str) -> bool:
        """Whether a word is a modifier with a negative factor: it has no vote of its own."""
        number = self.number_of(word)
        return number >= 0 and self.modifiers[number].factor < 0

    def attend(self, words: Sequence[Word]) -> tuple[list[int], list[int]]:
        """For each word of a text the number of the modifier that it is, or -1, and the place of
        the modifier that a token which begins with it attends to, or -1 if to itself."""
        numbers = (
            [self.number_of(word.surface) for word in words]
            if self.modifiers
            else [-1] * len(words)
        )
        attended = []
        for place, word in enumerate(words):
            near = [
                before
                for before in range(place - 1, max(place - self.scope, 0) - 1, -1)
                if numbers[before] >= 0 and words[before].clause == word.clause
            ]
            attended.append(
                max(near, key=lambda before: self.modifiers[numbers[before]].strength, default=-1)
            )
        return numbers, attended


@lru_cache(maxsize=1 << 16)
def _number(reader: Reader, word: str) -> int:
    exact = [
        number for number, m in enumerate(reader.modifiers) if not m.is_form and m.matches(word)
    ]
    forms = [number for number, m in enumerate(reader.modifiers) if m.is_form and m.matches(word)]
    return [*exact, *forms, -1][0]


@dataclass(frozen=True, eq=False)
class Reading:
    """A text as a cloud of hardmax attention: what `TextModel.reading` returns.

    A point is (vote of each class, 1, key, channels). Modifiers have a key, how strong they are and
    where they stand, and lie at vote 0. Each point may attend to itself and to the modifiers in its
    scope; in the first layer with several factors it learns which modifier is the strongest
    (`channels`), and then in one layer for each factor its votes are multiplied.

    Examples
    --------
    >>> import hardmax as hm
    >>> from hardmax.text import Modifier, TextModel, Vocabulary
    >>> model = TextModel(vocabulary=Vocabulary(["boring"], [[9, 1]]), weights=[[-2.0]], bias=[0.0],
    ...                   classes=["negative", "positive"], modifiers=[Modifier("never", -0.5)])
    >>> reading = model.reading("It never gets boring.")
    >>> reading.tokens, reading.votes.tolist()
    (('boring', 'never'), [[1.0], [0.0]])
    >>> [layer] = reading.layers
    >>> hm.simulate(reading.cloud, layer, layers=1).at(1)[:, :1].tolist()
    [[1.0], [0.0]]
    """

    tokens: tuple[str, ...]
    """The known tokens at each place in the text, and after them its modifiers."""
    spans: tuple[tuple[int, int], ...]
    """Where each is: `text[start:end]`."""
    attends: tuple[int, ...]
    """The point that each attends to, itself if it is not modified."""
    cloud: np.ndarray
    """Where the points begin, (points, classes + 2 + channels)."""
    layers: "tuple[Dynamics, ...]"
    """The layers, one after the other."""

    @property
    def votes(self) -> np.ndarray:
        """The votes after the layers, exactly as `hardmax.simulate` gives them."""
        from hardmax.simulation import simulate

        points, rows = self.cloud, self.cloud.shape[1] - 2 - max(len(self.layers) - 1, 0)
        for layer in self.layers:
            points = simulate(points, layer, layers=1).at(1)
        return points[:, :rows].astype(np.float64)


def make_reading(
    tokens: Sequence[tuple[str, int, int]],
    weights: np.ndarray,
    words: Sequence[Word],
    reader: Reader,
) -> Reading:
    """The cloud of a text: its known tokens, each with its first and last word, their weights, and
    its words."""
    from hardmax.dynamics import Dynamics

    numbers, attended = reader.attend(words)
    places = [place for place, number in enumerate(numbers) if number >= 0]
    point_of = {place: len(tokens) + n for n, place in enumerate(places)}
    count, rows = len(tokens) + len(places), weights.shape[1]
    factors = sorted({reader.modifiers[numbers[place]].factor for place in places})
    channels = len(factors) if len(factors) > 1 else 0
    cloud, mask = np.zeros((count, rows + 2 + channels)), np.eye(count, dtype=bool)
    cloud[: len(tokens), :rows], cloud[:, rows] = weights, 1
    # Keys of equally strong modifiers differ by less than those of others; powers of two are exact.
    finest = Fraction(1, STEPS << len(words).bit_length())
    for place, point in point_of.items():
        modifier = reader.modifiers[numbers[place]]
        cloud[point, rows + 1] = float(
            Fraction(modifier.strength) + Fraction(1, STEPS) + place * finest
        )
        if channels:
            cloud[point, rows + 2 + factors.index(modifier.factor)] = 1
    attends = list(range(count))
    for point, (_, first, last) in enumerate(tokens):
        if all(numbers[place] < 0 for place in range(first, last + 1)):
            scope = range(max(first - reader.scope, 0), first)
            near = [
                place
                for place in scope
                if place in point_of and words[place].clause == words[first].clause
            ]
            mask[point, [point_of[place] for place in near]] = True
            attends[point] = point_of[attended[first]] if near else point
    return Reading(
        tokens=(
            *(surface for surface, _, _ in tokens),
            *(words[place].surface for place in places),
        ),
        spans=tuple(
            (words[first].start, words[last].end) for first, last in _all_places(tokens, places)
        ),
        attends=tuple(attends),
        cloud=cloud,
        layers=tuple(Dynamics(1, mask=mask, **parts) for parts in _layers(factors, rows, channels)),
    )


def _all_places(
    tokens: Sequence[tuple[str, int, int]], places: Sequence[int]
) -> list[tuple[int, int]]:
    return [*((first, last) for _, first, last in tokens), *((place, place) for place in places)]


def _layers(factors: list[float], rows: int, channels: int) -> list[dict[str, Any]]:
    """Metric and value of each layer. With value V and step 1 a point that attends to another goes
    to (I + V)^-1 (z + V other): V = 1/g - 1 multiplies votes by g if those of the other are 0."""
    width, one, key = rows + 2 + channels, rows, rows + 1

    def matrix(entries: dict[tuple[int, int], Any]) -> list[list[Any]]:
        return [[entries.get((row, column), 0) for column in range(width)] for row in range(width)]

    votes = [{(row, row): 1 / Fraction(factor) - 1 for row in range(rows)} for factor in factors]
    by_key = matrix({(key, one): 1})
    if not channels:
        return [{"metric": by_key, "value": matrix(value)} for value in votes]
    # The first layer brings half of the channel of the modifier; then the score of a modifier is
    # its key for those who have the channel of the layer's factor, and less than their own for all
    # others.
    chosen = {(one + 2 + c, one + 2 + c): 1 for c in range(channels)}
    found = [{"metric": by_key, "value": matrix(chosen)}]
    for c, value in enumerate(votes):
        found.append(
            {"metric": matrix({(key, one): -1, (key, one + 2 + c): 4}), "value": matrix(value)}
        )
    return found
