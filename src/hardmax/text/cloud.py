"""A text as a cloud: its attention to modifiers as layers of hardmax attention."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.validation import check_str
from hardmax.dynamics import Dynamics
from hardmax.simulation import simulate
from hardmax.text.encoding import find_known
from hardmax.text.reading import STEPS

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel


@dataclass(frozen=True, eq=False)
class Reading:
    """A text as a cloud of hardmax attention: what `make_reading` returns.

    A point is (vote of each class, 1, key, shift, channels). Modifiers have a key, how strong they
    are and where they stand, and a shift, and lie at vote 0. Each point may attend to itself and to
    the modifiers in its scope; in the first layer with several factors it learns which modifier is
    the strongest (`channels`), and then in one layer for each factor its votes are multiplied, and
    moved by the shift.

    Examples
    --------
    >>> import hardmax as hm
    >>> from hardmax.text import Modifier, TextModel, Vocabulary, make_reading
    >>> model = TextModel(vocabulary=Vocabulary(["boring"], [[9, 1]]), weights=[[-2.0]], bias=[0.0],
    ...                   classes=["negative", "positive"], modifiers=[Modifier("never", -0.5)])
    >>> reading = make_reading(model, "It never gets boring.")
    >>> reading.tokens, reading.votes.tolist()
    (('boring', 'never'), [[1.0], [0.0]])
    >>> [layer] = reading.layers
    >>> hm.simulate(reading.cloud, layer, layers=1).at(1)[:, :1].tolist()
    [[1.0], [0.0]]
    """

    tokens: tuple[str, ...]
    """The known tokens at each place in the text, and after them its modifiers."""
    attends: tuple[int, ...]
    """The point that each attends to, itself if it is not modified."""
    cloud: np.ndarray
    """Where the points begin, (points, classes + 3 + channels)."""
    layers: tuple[Dynamics, ...]
    """The layers, one after the other."""

    @property
    def votes(self) -> np.ndarray:
        """The votes after the layers, exactly as `hardmax.simulate` gives them."""
        points, channels = self.cloud, max(len(self.layers) - 1, 0)
        rows = points.shape[1] - 3 - channels
        for layer in self.layers:
            points = simulate(points, layer, layers=1).at(1)
        return points[:, :rows].astype(float)


def make_reading(model: "TextModel", text: str) -> Reading:
    """Make the cloud of a text, with the layers that multiply votes.

    Parameters
    ----------
    model : TextModel
        The model that reads the text.
    text : str
        The text.

    Returns
    -------
    Reading
        Its votes, before they are divided by the size of the text, are those that
        `hardmax.simulate` gives.

    Examples
    --------
    >>> import hardmax as hm
    >>> model = hm.load_model("sentiment-en")
    >>> reading = make_reading(model, "It never gets boring.")
    >>> reading.tokens[reading.attends[reading.tokens.index("boring")]]
    'never'
    """
    words, known = find_known(check_str(text, "`text`"), model.vocabulary, model.tokeniser)
    reader, weights = model._reader, model._voting.weights[[number for number, _, _ in known]]
    numbers, attended = reader.attend(words)
    places = [place for place, number in enumerate(numbers) if number >= 0]
    point_of = {place: len(known) + n for n, place in enumerate(places)}
    count, rows = len(known) + len(places), weights.shape[1]
    factors = sorted({reader.modifiers[numbers[place]].factor for place in places})
    channels = len(factors) if len(factors) > 1 else 0
    cloud, mask = np.zeros((count, rows + 3 + channels)), np.eye(count, dtype=bool)
    cloud[: len(known), :rows], cloud[:, rows] = weights, 1
    # Keys of equally strong modifiers differ by less than those of others; powers of two are exact.
    finest = Fraction(1, STEPS << len(words).bit_length())
    for place, point in point_of.items():
        modifier = reader.modifiers[numbers[place]]
        key = Fraction(modifier.strength) + Fraction(1, STEPS) + place * finest
        cloud[point, rows + 1 : rows + 3] = float(key), modifier.shift
        if channels:
            cloud[point, rows + 3 + factors.index(modifier.factor)] = 1
    attends = list(range(count))
    for point, (_, first, last) in enumerate(known):
        near = reader.in_scope(words, numbers, first)
        if near and max(numbers[first : last + 1]) < 0:
            mask[point, [point_of[place] for place in near]] = True
            attends[point] = point_of[attended[first]]
    surfaces = [model.vocabulary.surfaces[number] for number, _, _ in known]
    return Reading(
        tokens=(*surfaces, *(words[place].surface for place in places)),
        attends=tuple(attends),
        cloud=cloud,
        layers=tuple(Dynamics(1, mask=mask, **parts) for parts in _layers(factors, rows, channels)),
    )


def _layers(factors: list[float], rows: int, channels: int) -> list[dict[str, Any]]:
    """Metric and value of each layer. With value V and step 1 a point that attends to another goes
    to (I + V)^-1 (z + V other): V = 1/g - 1 multiplies votes by g if those of the other are 0, and
    1/g from the other's shift to the vote adds that."""
    width, one, key, shift = rows + 3 + channels, rows, rows + 1, rows + 2

    def matrix(entries: dict[tuple[int, int], Any]) -> list[list[Any]]:
        return [[entries.get((row, column), 0) for column in range(width)] for row in range(width)]

    votes = []
    for factor in factors:
        inverse = 1 / Fraction(factor)
        votes.append({(row, row): inverse - 1 for row in range(rows)})
        if rows == 1:
            votes[-1][0, shift] = inverse
    by_key = matrix({(key, one): 1})
    if not channels:
        return [{"metric": by_key, "value": matrix(value)} for value in votes]
    # The first layer brings half of the channel of the modifier; then the score of a modifier is
    # its key for those who have the channel of the layer's factor, and less than their own for all
    # others.
    chosen = {(shift + 1 + c, shift + 1 + c): 1 for c in range(channels)}
    layers = [{"metric": by_key, "value": matrix(chosen)}]
    for c, value in enumerate(votes):
        metric = matrix({(key, one): -1, (key, shift + 1 + c): 4})
        layers.append({"metric": metric, "value": matrix(value)})
    return layers
