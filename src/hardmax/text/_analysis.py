"""What a model computes: each text a cloud of tokens, their masses in the mean, leaders, logits."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hardmax._attended import Choices
from hardmax._batch import Rules
from hardmax._cached import cached_property
from hardmax._compile import interpreted
from hardmax._exact.vectors import float_powers
from hardmax._float.bounds import float_metric, kernel_factors
from hardmax._format import pluralize
from hardmax._tokens.batches import Ragged
from hardmax.dynamics import Dynamics
from hardmax.text._kernels_layers import ROWS_AT_MOST, Depth, Said, Vectors, Weights, decode_texts, walk_texts
from hardmax.text._kernels_layers import UNDECIDED as UNPROVED
from hardmax.text.encoding import Encoded, Read, read_one

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel
    from hardmax.trajectory import Trajectory

DEEPEST = 10_000  # layers; of infinitely many, a cloud that has not settled by then is taken as it is there
FEW = 4096  # tokens: so many are weighed without waiting for numba
_LEVELS_PER_OCTAVE, _LEVELS = 8, 128


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What a model finds in texts.

    Made by `TextModel.analyse`. Text t has the tokens `ids[offsets[t]:offsets[t + 1]]`; the last of them is the extra
    token, if there is one.

    Examples
    --------
    >>> import hardmax as hm
    >>> model = hm.load("imdb-2d")
    >>> found = model.analyse(["An awful script.", "Great!"])
    >>> first = slice(*found.offsets[:2])
    >>> [model.vocabulary.surfaces[i] for i in found.ids[first][found.active[first]]]
    ['awful', 'script']
    """

    ids: np.ndarray
    rows: np.ndarray
    """The row of the table where each token starts: its own, unless a gate silences it."""
    counts: np.ndarray
    """How often each token is in its text."""
    offsets: np.ndarray
    masses: np.ndarray
    """Of each token in the mean of the last layer; those of a text add up to 1."""
    leader_since: np.ndarray
    """The layer since which each token leads, or -1."""
    follows: np.ndarray
    """The place in its text of the leader that a token follows at the last layer; -1: none alone."""
    active: np.ndarray
    """Whether each token is active: neither the extra token, nor following it where that is a neutral leader."""
    logits: np.ndarray
    """(texts, rows of the decoder)."""
    probabilities: np.ndarray
    """(texts, classes)."""
    by_integers: int
    """How many texts have a choice that floats could not prove."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        leaders = self.leaders_per_text.mean() if len(self) else 0.0
        size = pluralize(len(self), "text")
        return f"Analysis({size}, {leaders:.1f} leaders per text, {self.by_integers:,} decided by integers)"

    @property
    def leaders_per_text(self) -> np.ndarray:
        """How many leaders each text has."""
        return _count(self, self.leader_since >= 0)

    @property
    def active_per_text(self) -> np.ndarray:
        """How many distinct tokens are active in each text."""
        return _count(self, self.active)

    @property
    def decided(self) -> np.ndarray:
        """Which texts are decided: a token is active, and one class is ahead of all others."""
        top = np.sort(self.probabilities, axis=1)[:, -2:]
        return (self.active_per_text > 0) & (top[:, 0] < top[:, 1])


def _count(found: Analysis, which: np.ndarray) -> np.ndarray:
    """How many of these tokens each text has."""
    return np.bincount(np.searchsorted(found.offsets, np.flatnonzero(which), side="right") - 1, minlength=len(found))


def predicted_classes(model: "TextModel", found: Analysis) -> np.ndarray:
    """The number of the class of each text: the most probable, or, if it is undecided, the most frequent one."""
    usual = int(model.vocabulary.counts.sum(axis=0).argmax()) if len(model.vocabulary) else 0
    return np.where(found.decided, found.probabilities.argmax(axis=1), usual)


class Prepared:
    """A model in the arrays that kernels read; the extra token, if there is one, comes after all others.

    With a gate there is one more, where silent tokens start: halfway to the extra token, whom alone they attend to.
    """

    def __init__(self, model: "TextModel") -> None:
        words, endless, contraction = model.embeddings, math.isinf(model.layers), model.dynamics.contraction
        silent = [] if model.gate is None or model.extra is None else [model.extra / 2]
        table = words if model.extra is None else np.vstack([words, model.extra, *silent])
        table = table.astype(np.float64) + 0.0  # -0.0 becomes 0.0: the same number must have the same bits
        metric = float_metric(model.dynamics)
        matrix = np.empty((0, 0)) if metric.matrix is None else metric.matrix
        walked = ROWS_AT_MOST - 1 if endless else int(model.layers)
        powers = np.zeros(walked + 1) if endless else float_powers(contraction, 0, walked + 1)
        self.vectors = Vectors(table, *_levels(table))
        self.rules = Rules(matrix, float(contraction), walked, np.array(kernel_factors(table.shape[1], metric)))
        self.depth = Depth(powers, endless)
        self.dynamics, self.layers = model.dynamics, model.layers
        self.binary, self.gate, self.neutral_weight = model.binary, model.gate, model.neutral_weight
        self.extra = -1 if model.extra is None else len(words)  # the number of the extra token; -1: there is none
        self.decoder, self.temperature = model.decoder.astype(np.float64), model.temperature
        self.bias = model.bias.astype(np.float64) / model.temperature
        self.scores = self.says(table)  # (tokens, rows)
        strengths = np.abs(words).max(axis=1, initial=0.0).astype(np.float64)
        self.strengths = np.append(strengths, [0.0] * (1 + len(silent)))  # of each row, for the gate

    @property
    def table(self) -> np.ndarray:
        """The vectors of tokens, (tokens, d) float64."""
        return self.vectors.table

    @cached_property
    def has_neutral(self) -> bool:
        """Whether the extra token says the same of every class, so that it makes no difference who follows it."""
        if self.extra < 0:
            return False
        scores = self.scores[self.extra]
        return bool((scores == (scores[0] if len(scores) > 1 else 0.0)).all())

    def says(self, points: np.ndarray) -> np.ndarray:
        """What a text would add to the logits all of whose tokens lie at a point, (points, rows)."""
        return _dots(points, self.decoder) / self.temperature

    def voices(self, found: Encoded | Analysis) -> np.ndarray:
        """How much each token counts in the mean, the extra token included."""
        counts = np.minimum(found.counts, 1) if self.binary else found.counts
        return counts if self.neutral_weight == 1 else np.where(found.ids == self.extra, self.neutral_weight, counts)

    def rows(self, found: Encoded) -> np.ndarray:
        """The row of the table at which each token starts: its own, or, where the gate is closed, that of the silent.

        A token is active if its strength is more than the share `gate` of the largest of its text.
        """
        if self.gate is None or not len(found.ids):
            return found.ids
        strengths = self.strengths[found.ids]
        largest = np.maximum.reduceat(strengths, found.offsets[:-1])  # every text has the extra token
        is_silent = strengths <= self.gate * np.repeat(largest, np.diff(found.offsets))
        return np.where(is_silent & (found.ids != self.extra), self.extra + 1, found.ids).astype(found.ids.dtype)


def weigh(found: Encoded, prepared: Prepared, places: np.ndarray | None = None) -> Analysis:
    """The analysis of texts whose tokens have been found; `places` (tokens, d) get where each token ends."""
    tokens, d = len(found.ids), prepared.table.shape[1]
    places = np.empty((0, d)) if places is None else places
    weights = Weights(np.zeros(tokens), np.full(tokens, -1), np.full(tokens, -1), places)
    voices, rows = prepared.voices(found), prepared.rows(found)
    sizes = np.diff(found.offsets)
    said = Said(rows, voices, found.offsets, int(sizes.max(initial=0)))
    with interpreted(walk_texts, if_small=tokens <= FEW):
        walk_texts(said, prepared.vectors, prepared.rules, prepared.depth, weights)
    left = np.flatnonzero(weights.since == UNPROVED)
    for text in np.searchsorted(found.offsets, left, side="right") - 1:
        here = slice(found.offsets[text], found.offsets[text + 1])
        run = walk_cloud(prepared.table[rows[here]], voices[here], prepared.dynamics, prepared.layers)
        weights.masses[here] = masses(run, voices[here], prepared.layers)
        weights.since[here] = run.leader_since[run.points.of_token]
        weights.follows[here] = follows(run)
        if len(places):
            places[here] = ends(run, prepared.layers)
    if prepared.layers == 0:  # nobody has gone anywhere
        weights.follows[:] = -1
    logits = np.empty((len(found), len(prepared.bias)))
    probabilities = np.empty((len(found), max(2, len(prepared.bias))))
    with interpreted(walk_texts, if_small=tokens <= FEW):
        decode_texts(rows, found.offsets, weights.masses, prepared.scores, prepared.bias, logits, probabilities)
    active = (found.ids != prepared.extra) & (rows == found.ids)
    if prepared.has_neutral:  # it is the last token of every text
        active &= weights.follows != np.repeat(sizes - 1, sizes)
    return Analysis(
        found.ids, rows, found.counts, found.offsets, *weights[:3], active, logits, probabilities, len(left)
    )  # fmt: skip


def weigh_words(model: "TextModel", found: Encoded) -> tuple[Analysis, np.ndarray]:
    """The same, and where each token ends, (tokens, d)."""
    ends = np.empty((len(found.ids), model.dimension))
    return weigh(found, model.prepared, ends), ends


def weigh_text(model: "TextModel", text: str) -> tuple[Read, Analysis, np.ndarray]:
    """The known tokens of one text and where they are in it; its analysis; where each token ends."""
    read = read_one(text, model.vocabulary, model.tokeniser, model.prepared.extra)
    return read, *weigh_words(model, read.encoded)


def walk_cloud(tokens: np.ndarray, counts: np.ndarray, dynamics: Dynamics, layers: float) -> "Trajectory":
    """The run of the distinct tokens of one text, each as often as `counts` says; of infinitely many layers, those
    until it has settled, or the first 10,000 where it has not by then."""
    from hardmax.simulation import simulate
    from hardmax.stops import AfterLayers, Settled

    stop = Settled(DEEPEST) if math.isinf(layers) else AfterLayers(int(layers))
    return simulate(Ragged(tokens, [0, len(tokens)], counts.astype(np.int64)), dynamics, stop=stop)[0]


def masses(run: "Trajectory", counts: np.ndarray, layers: float) -> np.ndarray:
    """The mass of each token in the mean of the last layer; they add up to 1.

    The mean of layer K gives point i the mass m_i / N. A layer backwards, point i keeps the share g = 1 / (1 + alpha)
    of its mass and gives the rest to the points it attends to, by their multiplicities:

        before_j = g mass_j + (1 - g) sum over i with j in C_i of mass_i m_j / (sum of m over C_i).

    Infinitely many layers end with those in which no attended set ever changes again: after them all mass is with
    leaders. The kernel `walk_texts` does the same where all attended sets are single points that floats prove.

    >>> run = walk_cloud(np.array([[2.0], [1.0]]), np.array([1, 1]), Dynamics(1), layers=1)
    >>> masses(run, np.array([1, 1]), layers=1).tolist()
    [0.75, 0.25]
    """
    weights = run.points.multiplicities.astype(np.float64)
    mass, keep = weights, float(run.dynamics.contraction)
    if _is_endless(run, layers):
        mass = _hand_to_leaders(mass, run.attended(run.layers).choices, weights)
    for layer in reversed(range(run.layers)):
        mass = _hand_back(mass, keep, run.attended(layer).choices, weights)
    of_token = run.points.of_token
    return mass[of_token] * (counts / weights[of_token]) / weights.sum()


def ends(run: "Trajectory", layers: float) -> np.ndarray:
    """Where each token is after the last layer, or for ever."""
    return run.float_ends() if _is_endless(run, layers) else run.floats_at(run.layers)


def follows(run: "Trajectory") -> np.ndarray:
    """For each token the place of the leader to whom alone it attends at the last layer; -1 if there is none such.

    Tokens with one vector are one point; the last of them stands for it.

    >>> follows(walk_cloud(np.array([[2.0], [1.0], [-1.0]]), np.ones(3), Dynamics(1), layers=1)).tolist()
    [0, 0, 2]
    """
    choices, of_token = run.attended(run.layers).choices, run.points.of_token
    place = np.empty(run.points.count, dtype=np.int64)
    place[of_token] = np.arange(len(of_token))
    first = choices.firsts(np.arange(len(choices)))
    return np.where(choices.follows_leader, place[first], -1)[of_token]


def _is_endless(run: "Trajectory", layers: float) -> bool:
    return math.isinf(layers) and run.settled_at is not None


def _hand_back(mass: np.ndarray, keep: float, choices: Choices, weights: np.ndarray) -> np.ndarray:
    giver = np.repeat(np.arange(len(choices)), choices.sizes)
    share = weights[choices.indices] / np.add.reduceat(weights[choices.indices], choices.offsets[:-1])[giver]
    before = keep * mass
    np.add.at(before, choices.indices, (1 - keep) * mass[giver] * share)
    return before


def _hand_to_leaders(mass: np.ndarray, choices: Choices, weights: np.ndarray) -> np.ndarray:
    """What `_hand_back` comes to if it is repeated for ever: whatever a point keeps, by keeping or by attending to
    itself among others, it gives to the others in the end.

    Those to whom it attends are longer than itself, so that no mass comes back, and in the end leaders have all of it.
    """
    giver = np.repeat(np.arange(len(choices)), choices.sizes)
    leads = choices.is_leader
    goes = (choices.indices != giver) | leads[giver]
    giver, taker = giver[goes], choices.indices[goes]
    share = weights[taker] / np.bincount(giver, weights[taker], minlength=len(choices))[giver]
    while mass[~leads].any():
        mass = np.bincount(taker, mass[giver] * share, minlength=len(choices))
    return mass


def _dots(table: np.ndarray, decoder: np.ndarray) -> np.ndarray:
    """Dot products added axis by axis: the same bits whatever library multiplies matrices."""
    total = np.zeros((len(table), len(decoder)))
    for axis in range(table.shape[1]):
        total += table[:, axis : axis + 1] * decoder[:, axis]
    return total


def _levels(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    norms = np.sqrt((table**2).sum(axis=1))
    with np.errstate(divide="ignore"):
        octaves = np.log2(norms.max(initial=0.0) or 1.0) - np.log2(norms)
    levels = np.clip(octaves * _LEVELS_PER_OCTAVE, 0, _LEVELS - 1).astype(np.uint8)
    reach = np.zeros(_LEVELS)
    np.maximum.at(reach, levels, norms)
    return levels, np.ascontiguousarray(np.maximum.accumulate(reach[::-1])[::-1])
