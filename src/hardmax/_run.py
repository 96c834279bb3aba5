"""A simulation's data: phases, and any layer computed from them.

The run of one cloud: tokens at any layer, leaders and since when, who attends to whom, and what decided it.

`Trajectory` adds files, tables and pictures, which are made from this.

How clouds are to be walked: all that a run needs besides its tokens.

From points to a run: the first solver that decides everything does it, and what the record asks for is kept.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hardmax._attended import AttendedSets
from hardmax._exact.positions import ExactPhase, ExactView
from hardmax._exact.vectors import MOST_DIGITS, TooLong, fractions_table
from hardmax._float.search import CPU
from hardmax._float.solver import FloatPhase, Undecided
from hardmax._format import pluralize
from hardmax._tokens.batches import Cloud, whole_numbers
from hardmax._tokens.points import Points, merge
from hardmax._tokens.rationals import rounding_of
from hardmax._tokens.tensors import TensorKind, is_tensor
from hardmax._validation import InputError, check_int, normalize_index, shorten
from hardmax.dynamics import Dynamics
from hardmax.engines import Engine, Solver, interpreted_if_small, solvers_for, walk
from hardmax.stops import Record, Stop, check_memory


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
    solver: Solver
    phases: tuple[FloatPhase | ExactPhase, ...]
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
    def engine(self) -> Engine:
        """What worked: as `engine=` takes it."""
        return self.solver.machine

    @property
    def arithmetic(self) -> str:
        """What decided who attends to whom: `certified` (proved by floats), `exact` (where floats could not, by
        integers) or `float` (nothing is proved)."""
        by_integers = self.known is None and any("integers" in searches for searches in self.decided_by.values())
        return "exact" if by_integers else self.solver.arithmetic

    @property
    def certified(self) -> bool:
        """Whether every choice is that of real arithmetic."""
        return self.solver.arithmetic != "float"

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
        if self.known is not None and check_int(layer, "`layer`", at_least=0) == self.layers:
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
        choices, of_token = self.phases[-1].choices, self.points.of_token
        if not choices.all_single or self.leader_since[choices.indices].min() < 0:
            return None
        return np.unique(of_token, return_index=True)[1][choices.indices[of_token]]

    def exact_at(self, layer: int, tokens: Sequence[int] | None = None) -> np.ndarray:
        """The tokens at any layer as Fractions, shape (n, d), where every choice is proved; or some of them, in order.

        Layers so deep that the fractions would have more than 100,000 digits are refused, unless nobody moves.
        """
        phase = self.stretch_at(layer)
        points = range(self.points.count) if tokens is None else self._points_of(tokens)
        if not len(points):
            return np.empty((0, self.d), dtype=object)
        places = fractions_table(self.exactly(phase).later(points, layer - phase.layer))
        return places[self.points.of_token] if tokens is None else places

    def _points_of(self, tokens: Any) -> list[int]:
        asked = whole_numbers(tokens, "`tokens`")
        if asked.ndim != 1:
            raise InputError(f"`tokens` must be a list of numbers of tokens, not {shorten(tokens)}.")
        return self.points.of_token[[normalize_index(token, self.n, "`tokens`") for token in asked.tolist()]].tolist()

    def exactly(self, phase: FloatPhase | ExactPhase) -> ExactView:
        """The exact positions of a phase; of one that came without them, from a file or a GPU, by walking again."""
        if not self.certified:
            raise InputError(f"Exact positions need a proof, which {self.arithmetic!r} has none: use 'certified'.")
        if phase.exactly is not None:
            return phase.exactly
        again = next(each for each in self.walk_again() if each.layer == phase.layer)
        assert again.exactly is not None, "the processor keeps the truth"
        return again.exactly

    def attended(self, layer: int) -> AttendedSets:
        """Who attends to whom at a layer."""
        phase = self.stretch_at(layer)
        if layer == phase.until:
            # The positions at the end of a phase are known, but the choices made there belong to the next one.
            phase = self._walk_to(layer)
        return AttendedSets(phase.choices, self.points)

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
        last = self.phases[-1]
        if isinstance(last, FloatPhase):
            return last.error
        # The hull shrinks: no token is ever longer than the longest at the start.
        return rounding_of(self.points.floats)

    def stretch_at(self, layer: int) -> Any:
        """A phase that covers the layer: a recorded one, or one walked to again."""
        layer = check_int(layer, "`layer`", at_least=0)
        for phase in reversed(self.phases):
            if phase.covers(layer):
                return phase
        if layer > self.layers:
            raise InputError(
                f"`layer` {shorten(layer)} lies beyond the {self.layers} layers of this run, which has not settled. "
                f"Simulate with layers={shorten(layer)}."
            )
        return self._walk_to(layer)

    def walk_again(self) -> Iterator[FloatPhase | ExactPhase]:
        """The phases from layer 0 on, made anew; by the processor, which knows exact positions, where they exist."""
        solver = solvers_for("certified", CPU)[0] if self.certified else self.solver
        return walk(solver, self.points, self.dynamics)

    def __repr__(self) -> str:
        settled = f"settled at layer {self.settled_at}" if self.settled_at is not None else "not settled"
        return (
            f"Trajectory({pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}, "
            f"{pluralize(self.layers, 'layer')}, {pluralize(len(self.leaders), 'leader')}, "
            f"{settled}, {self.arithmetic})"
        )

    def _given_back(self, floats: np.ndarray) -> Any:
        return floats if self.tensor_kind is None else self.tensor_kind.tensor(floats)

    def _settled_stretch(self) -> Any:
        """The phase that lasts for ever."""
        if self.settled_at is None:
            raise InputError("The run has not settled: where its tokens end is not known. Simulate more layers.")
        return self.phases[-1]

    def _walk_to(self, layer: int) -> Any:
        phases = walk(self.solver, self.points, self.dynamics)
        return next(phase for phase in phases if phase.until is None or layer < phase.until)


DEEPEST_KERNEL = 100_000  # layers that one kernel walks a batch through


@dataclass(frozen=True)
class Plan:
    """The dynamics, who walks, when to stop and what to keep."""

    dynamics: Dynamics
    solvers: tuple[Solver, ...]  # tried in turn; the last one decides everything
    stop: Stop
    record: Record


# Products of digits of exact positions, some 5 ns each, after which a cloud that has not settled is given up.
_MOST_WORK = 10**9


def run_cloud(cloud: Cloud, plan: Plan, machine: Engine, kind: TensorKind | None = None) -> Run:
    """The run of one cloud, whose tokens are given back as tensors of a kind; repeated tokens are one point."""
    if is_tensor(cloud.tokens):
        from hardmax._gpu.simulation import run_there

        return run_there(cloud, plan, kind)
    with machine.limited(), interpreted_if_small(*cloud.tokens.shape):
        run = run_points(merge(cloud), plan)
    return run if kind is None else replace(run, tensor_kind=kind)


def run_points(points: Points, plan: Plan) -> Run:
    """The run of one cloud by the first of the solvers that can decide everything."""
    for solver in plan.solvers:
        try:
            return _walk(points, plan, solver)
        except Undecided:
            continue
    raise AssertionError("the last solver of an arithmetic decides everything")


def _walk(points: Points, plan: Plan, solver: Solver) -> Run:
    since = np.full(points.count, -1)

    def marked() -> Iterable[FloatPhase | ExactPhase]:
        for phase in walk(solver, points, plan.dynamics):
            since[(since < 0) & phase.is_leader] = phase.layer
            yield phase

    kept = keep(marked(), points, plan)
    return Run(points=points, dynamics=plan.dynamics, solver=solver, leader_since=since, **vars(kept))


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a walk: fields of a `Run`."""

    phases: tuple[Any, ...]
    recorded: tuple[int, ...]
    margin_at: dict[int, float]
    decided_by: dict[int, str]
    settled_at: int | None
    stopped: str


def keep(walk: Iterable[Any], points: Points, plan: Plan) -> Kept:
    """Follow the phases of a walk to its stop, and keep those that the record asks for and the last."""
    kept, stop, record = [], plan.stop, plan.record
    margins: dict[int, float] = {}
    decided_by: dict[int, str] = {}
    last, settled_at, work, why, phase = stop.last_layer, None, 0, "", None
    try:
        for phase in walk:
            margins[phase.layer], decided_by[phase.layer] = phase.margin, phase.decided_by
            if phase.until is None:
                settled_at = phase.layer
                last = min(last, settled_at) if stop.when_settled else last
            ends = phase.until is None or phase.until > last
            if ends or record.keeps(phase.layer, phase.until or last):
                kept.append(phase)
                check_memory(record, len(kept), points.count, points.dimension)
            if ends:
                break
            work += 0 if phase.exactly is None else phase.exactly.work
            if stop.when_settled and work > _MOST_WORK:
                raise TooLong(f"exact positions have {_digits(phase):,} digits by now, and more with every layer")
    except TooLong as error:
        if phase is None or not stop.when_settled:
            raise
        assert phase.until is not None, "what lasts for ever ends the walk"
        last = phase.until - 1  # up to there everything is known
        kept += [] if kept and kept[-1] is phase else [phase]
        too_long = f"exact positions would have more than {MOST_DIGITS:,} digits"
        why = f"gave up at layer {last:,}: {error if work > _MOST_WORK else too_long}{_ties(phase, points)}"
    return Kept(
        tuple(kept),
        tuple(record.layers(last)),
        margins,
        decided_by,
        settled_at,
        why or why_stopped(stop, last, settled_at),
    )


def _digits(phase: Any) -> int:
    """How long exact positions are by now, if one of the numbers is as long as g^layer."""
    return int(phase.layer * math.log10(phase.keep.denominator))


def _ties(phase: Any, points: Points) -> str:
    """Who attends to several points that are no leaders, and so may still move."""
    choices = phase.choices
    tied = [i for i in np.flatnonzero(choices.sizes > 1).tolist() if not choices.is_leader[choices[i]].all()]
    if not tied:
        return ""
    first, others = int(points.members[tied[0]][0]), len(tied) - 1
    told = f"token {first}" + (f" and {pluralize(others, 'other')}" if others else "")
    return f"; {told} {'tie' if others else 'ties'} tokens that still move"


def why_stopped(stop: Stop, last: int, settled_at: int | None) -> str:
    """Why a run that ends at layer `last` does so, in words."""
    if not stop.when_settled:
        settled = "not settled yet" if settled_at is None else f"settled at layer {settled_at}"
        return f"all {last:,} layers asked for are done; {settled}"
    if settled_at == last:
        return f"settled at layer {last}: no attended set ever changes again"
    return f"gave up at layer {last:,}: not settled yet"
