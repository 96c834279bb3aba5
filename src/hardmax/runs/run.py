"""The run of one cloud: tokens at any layer, leaders and since when, who attends to whom, and what decided it.

`Trajectory` adds files, tables and pictures, which are made from this.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hardmax.attended_sets import AttendedSets
from hardmax.checking import place, short, whole_number
from hardmax.dynamics import Dynamics
from hardmax.engines.arithmetics import walkers_for
from hardmax.engines.cpu.machine import CPU
from hardmax.engines.exact.stretch import ExactStretch
from hardmax.engines.exact.truth import Exactly
from hardmax.engines.exact.vectors import fractions_table
from hardmax.engines.floats.stretch import FloatStretch
from hardmax.engines.machines import Machine
from hardmax.engines.walker import Walker, walk
from hardmax.errors import InputError
from hardmax.tokens.batches import whole_numbers
from hardmax.tokens.lengths import rounding_of
from hardmax.tokens.points import Points
from hardmax.tokens.tensors import TensorKind
from hardmax.wording import counted


@dataclass(frozen=True, eq=False)
class Known:
    """What the kernel of a batch knows of a cloud; the run itself is made if more is asked for."""

    leader_since: np.ndarray
    """For each token the layer since which it leads, or -1."""
    last: np.ndarray
    """The tokens at the last layer of the run, (n, d)."""
    ends: Callable[[], np.ndarray]
    """Where they go for ever, (n, d)."""
    leader_of: Callable[[], np.ndarray]
    """For each of them the first token at the place of the leader that it follows for ever."""
    make: Callable[[], "Run"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Run:
    """What became of one cloud."""

    points: Points
    dynamics: Dynamics
    walker: Walker
    stretches: tuple[FloatStretch | ExactStretch, ...]
    recorded: tuple[int, ...]
    """The layers in `tokens`."""
    leader_since: np.ndarray
    margin_at: dict[int, float]
    decided_by: dict[int, str]
    """At each layer at which attended sets were worked out, the search that did it, or `integers`."""
    settled_at: int | None
    """The first layer from which no attended set ever changes, as far as the run saw; None if it did not settle."""
    stopped: str
    """Why the run ended, in words."""
    tensor_kind: TensorKind | None = None
    """The kind of tensor in which the tokens came, if they did."""
    known: Known | None = None
    """What is known before the run is made, if a kernel walked the cloud."""

    @classmethod
    def of_known(cls, known: Known, **fields: Any) -> "Run":
        """A run of which these fields are known; the others are worked out when they are asked for."""
        run = cls.__new__(cls)
        (leaders,) = np.nonzero(known.leader_since >= 0)
        vars(run).update(fields, known=known, leaders=leaders, leader_layers=known.leader_since[leaders])
        return run

    def __getattr__(self, name: str) -> Any:
        # Only asked for what is not there: the fields of a run that has not been made yet.
        if self.known is None or name not in Run.__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self).update(vars(self.known.make()) | vars(self))
        return vars(self)[name]

    def __getstate__(self) -> dict[str, Any]:
        # What is known of one cloud holds the whole batch.
        return (vars(self) if self.known is None else vars(self.known.make()) | vars(self)) | {"known": None}

    @property
    def n(self) -> int:
        return self.points.tokens if self.known is None else len(self.known.last)

    @property
    def d(self) -> int:
        return self.points.dimension if self.known is None else self.known.last.shape[1]

    @property
    def layers(self) -> int:
        """The last layer of the run."""
        return self.recorded[-1]

    @property
    def engine(self) -> Machine:
        """What worked: as `engine=` takes it."""
        return self.walker.machine

    @property
    def arithmetic(self) -> str:
        """What decided who attends to whom: `certified` (proved by floats), `exact` (where floats could not, by
        integers) or `float` (nothing is proved)."""
        by_integers = self.known is None and any("integers" in searches for searches in self.decided_by.values())
        return "exact" if by_integers else self.walker.arithmetic

    @property
    def certified(self) -> bool:
        """Whether every choice is that of real arithmetic."""
        return self.walker.arithmetic != "float"

    @cached_property
    def tokens(self) -> Any:
        """The tokens at every recorded layer, (recorded layers, n, d): float64, or a tensor of the kind that came."""
        return self._given_back(self.float_path())

    def at(self, layer: int) -> Any:
        """The tokens at any layer, (n, d): float64, or a tensor of the dtype and on the device on which they came.

        Beyond the layer at which the cloud settled this costs nothing.
        """
        return self._given_back(self.floats_at(layer))

    def ends(self) -> Any:
        """Where every token goes for ever, (n, d), in the kind of numbers of `at`; the run must have settled."""
        return self._given_back(self.float_ends())

    def float_path(self) -> np.ndarray:
        """`tokens` as an array of float64, whatever they came as."""
        path = np.empty((len(self.recorded), self.n, self.d))
        for row, layer in enumerate(self.recorded):
            path[row] = self.floats_at(layer)
        return path

    def floats_at(self, layer: int) -> np.ndarray:
        """`at` as an array of float64, whatever the tokens came as."""
        if self.known is not None and whole_number(layer, "`layer`", at_least=0) == self.layers:
            return self.known.last.copy()
        return self.stretch_at(layer).floats_at(layer)[self.points.of_token]

    def float_ends(self) -> np.ndarray:
        """`ends` as an array of float64, whatever the tokens came as."""
        if self.known is not None and self.settled_at is not None:
            return self.known.ends().copy()
        targets = self._settled_stretch().targets
        return (targets if isinstance(targets, np.ndarray) else targets.floats())[self.points.of_token]

    def leader_of(self) -> np.ndarray | None:
        """For each token the first one at the place of the leader that it follows, if all follow leaders for ever."""
        if self.settled_at is None:
            return None
        if self.known is not None:
            return self.known.leader_of()
        choices, of_token = self.stretches[-1].choices, self.points.of_token
        if not choices.all_single or self.leader_since[choices.indices].min() < 0:
            return None
        return np.unique(of_token, return_index=True)[1][choices.indices[of_token]]

    def exact_at(self, layer: int, tokens: Sequence[int] | None = None) -> np.ndarray:
        """The tokens at any layer as Fractions, shape (n, d), where every choice is proved; or some of them, in order.

        Layers so deep that the fractions would have more than 100,000 digits are refused, unless nobody moves.
        """
        stretch = self.stretch_at(layer)
        points = range(self.points.count) if tokens is None else self._points_of(tokens)
        if not len(points):
            return np.empty((0, self.d), dtype=object)
        places = fractions_table(self.exactly(stretch).later(points, layer - stretch.layer))
        return places[self.points.of_token] if tokens is None else places

    def _points_of(self, tokens: Any) -> list[int]:
        asked = whole_numbers(tokens, "`tokens`")
        if asked.ndim != 1:
            raise InputError(f"`tokens` must be a list of numbers of tokens, not {short(tokens)}.")
        return self.points.of_token[[place(token, self.n, "`tokens`") for token in asked.tolist()]].tolist()

    def exactly(self, stretch: FloatStretch | ExactStretch) -> Exactly:
        """The exact positions of a stretch; of one that came without them, from a file or a GPU, by walking again."""
        if not self.certified:
            raise InputError(f"Exact positions need a proof, which {self.arithmetic!r} has none: use 'certified'.")
        if stretch.exactly is not None:
            return stretch.exactly
        again = next(each for each in self.walk_again() if each.layer == stretch.layer)
        assert again.exactly is not None, "the processor keeps the truth"
        return again.exactly

    def attended(self, layer: int) -> AttendedSets:
        """Who attends to whom at a layer."""
        stretch = self.stretch_at(layer)
        if layer == stretch.until:
            # The positions at the end of a stretch are known, but the choices made there belong to the next one.
            stretch = self._walk_to(layer)
        return AttendedSets(stretch.choices, self.points)

    @cached_property
    def leaders(self) -> np.ndarray:
        """Tokens that at some layer attended to themselves alone. Once a leader, always a leader."""
        return np.flatnonzero(self.leader_since[self.points.of_token] >= 0)

    @cached_property
    def leader_layers(self) -> np.ndarray:
        """For each of the `leaders` the layer at which it became one."""
        return self.leader_since[self.points.of_token][self.leaders]

    @property
    def decided_at(self) -> tuple[int, ...]:
        """The layers at which attended sets had to be worked out; between them nothing changes."""
        return tuple(self.margin_at)

    @property
    def margins(self) -> np.ndarray:
        """At each of the layers `decided_at`, a lead that every attended token has over those not attended, relative to
        |A| R^2 with R the largest norm (|A| the Frobenius norm, 1 for the identity). At the first layer the processor
        tells the smallest one, or 0 where tokens are of such different sizes that nobody compared them; later, and on
        a GPU, it may be less than the smallest, since points well inside are not looked at. Tokens that follow a leader
        have chosen for ever and count no more."""
        return np.array(list(self.margin_at.values()))

    @property
    def smallest_margin(self) -> float:
        return float(self.margins.min())

    @cached_property
    def error(self) -> float:
        """No token at a recorded layer is further than this from the truth; nan where nothing is promised."""
        last = self.stretches[-1]
        if isinstance(last, FloatStretch):
            return last.error
        # The hull shrinks: no token is ever longer than the longest at the start.
        return rounding_of(self.points.floats)

    def stretch_at(self, layer: int) -> Any:
        """A stretch that covers the layer: a recorded one, or one walked to again."""
        layer = whole_number(layer, "`layer`", at_least=0)
        for stretch in reversed(self.stretches):
            if stretch.covers(layer):
                return stretch
        if layer > self.layers:
            raise InputError(
                f"`layer` {short(layer)} lies beyond the {self.layers} layers of this run, which has not settled. "
                f"Simulate with layers={short(layer)}."
            )
        return self._walk_to(layer)

    def walk_again(self) -> Iterator[FloatStretch | ExactStretch]:
        """The stretches from layer 0 on, made anew; by the processor, which knows exact positions, where they exist."""
        walker = walkers_for("certified", CPU)[0] if self.certified else self.walker
        return walk(walker, self.points, self.dynamics)

    def __repr__(self) -> str:
        settled = f"settled at layer {self.settled_at}" if self.settled_at is not None else "not settled"
        return (
            f"Trajectory({counted(self.n, 'token')} in {counted(self.d, 'dimension')}, "
            f"{counted(self.layers, 'layer')}, {counted(len(self.leaders), 'leader')}, {settled}, {self.arithmetic})"
        )

    def _given_back(self, floats: np.ndarray) -> Any:
        return floats if self.tensor_kind is None else self.tensor_kind.tensor(floats)

    def _settled_stretch(self) -> Any:
        """The stretch that lasts for ever."""
        if self.settled_at is None:
            raise InputError("The run has not settled: where its tokens end is not known. Simulate more layers.")
        return self.stretches[-1]

    def _walk_to(self, layer: int) -> Any:
        stretches = walk(self.walker, self.points, self.dynamics)
        return next(stretch for stretch in stretches if stretch.until is None or layer < stretch.until)
