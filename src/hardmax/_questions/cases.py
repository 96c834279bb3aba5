"""A cloud and its layers, of which a statement is true or not: `Case`; and where one breaks:
`Broken`."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError, check_int
from hardmax._limits.certify import Certificate
from hardmax._runs.trajectory import Trajectory
from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import to_fractions
from hardmax.dynamics import Dynamics
from hardmax.limits import Limit, limit, verify
from hardmax.simulation import simulate
from hardmax.stops import Every, Settled

Parts = dict[str, Any]
"""The tokens of a case, and the arguments of `Dynamics`."""
Row = tuple[Fraction, ...]

USUAL = {"metric": None, "value": None, "mask": None, "attention": None}


class Undecided(Exception):
    """A statement asks for what is not known of a case."""


@dataclass(frozen=True)
class Broken:
    """Where a statement breaks: what a statement may return in place of False.

    Parameters
    ----------
    detail : str
        What is seen there.
    layer, token : int, optional
        Where.

    Examples
    --------
    >>> bool(Broken("it moves", layer=3, token=0))
    False
    """

    detail: str
    layer: int | None = None
    token: int | None = None

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        places = {"layer": self.layer, "token": self.token}
        where = [f"{name} {place}" for name, place in places.items() if place is not None]
        return ", ".join(where) + ": " * bool(where) + self.detail


class Batch:
    """Clouds with the same layers, of which one kernel finds all limits when the first is asked
    for."""

    def __init__(self, clouds: Sequence[Sequence[Row]], dynamics: Dynamics, most: int) -> None:
        self.clouds, self.dynamics, self.most = clouds, dynamics, most

    @cached_property
    def limits(self) -> Sequence[Limit]:
        with without_warnings():
            clouds: Any = [np.array(cloud, dtype=object) for cloud in self.clouds]
            return limit(clouds, self.dynamics, max_layers=self.most)


class Case:
    """A cloud and its layers, exactly: what a statement of `falsify` is asked about.

    What a case does not know, such as the limit of a run that does not settle, ends the statement:
    the case counts as undecided.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud.
    max_layers : int, default 200
        The run is given up if it has not settled by then.
    arithmetic : {"certified", "exact"}, default "certified"
        As in `simulate`.
    **parts
        Arguments of `Dynamics`.

    Examples
    --------
    >>> case = Case([[3], [-1], [1]], alpha=1)
    >>> case
    Case([[3], [-1], [1]], alpha=1)
    >>> case.attended(0), case.at(1)[2]
    (((0,), (1,), (0,)), (Fraction(2, 1),))
    >>> case.limit.leaders.tolist(), case.variant(alpha=2).at(1)[2]
    ([0, 1], (Fraction(7, 3),))
    """

    def __init__(
        self,
        tokens: Any,
        *,
        max_layers: int = 200,
        arithmetic: str = "certified",
        **parts: Any,
    ) -> None:
        if not isinstance(tokens, tuple):
            tokens = to_fractions(read_table(tokens, "`tokens`"), "`tokens`").tolist()
        self.tokens: tuple[Row, ...] = tuple(map(tuple, tokens))
        self.max_layers = check_int(max_layers, "`max_layers`", at_least=0)
        self.arithmetic = arithmetic
        self.parts: Parts = {"alpha": 1} | USUAL | parts
        self.variants: list[Case] = []
        self._place: tuple[Batch, int] | None = None

    @classmethod
    def _of_batch(cls, batch: Batch, number: int, parts: Parts) -> "Case":
        """A case of which the limit comes from a batch."""
        case = cls(batch.clouds[number], max_layers=batch.most, **parts)
        case.dynamics, case._place = batch.dynamics, (batch, number)
        return case

    @property
    def n(self) -> int:
        """Number of tokens."""
        return len(self.tokens)

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return len(self.tokens[0])

    @cached_property
    def dynamics(self) -> Dynamics:
        """The layer."""
        return Dynamics(**self.parts)

    @property
    def array(self) -> Any:
        """The tokens as an array of Fractions, (n, d)."""
        return np.array(self.tokens, dtype=object)

    @cached_property
    def run(self) -> Trajectory:
        """The layers until the run settles, or is given up."""
        with without_warnings():
            return simulate(
                self.array,
                self.dynamics,
                stop=Settled(self.max_layers),
                record=Every(1),
                arithmetic=self.arithmetic,
            )

    @cached_property
    def limit(self) -> Limit:
        """The limit, proved."""
        found = self._place[0].limits[self._place[1]] if self._place else Limit(self.run)
        if not found.certified or len(found.run._moving):
            raise Undecided(found.stop_reason)
        return found

    @cached_property
    def ends(self) -> tuple[Row, ...]:
        """Where the tokens end."""
        return tuple(map(tuple, self.limit.exact_limit_points.tolist()))

    @property
    def last(self) -> int:
        """The layer from which on no attended set changes."""
        if self.run.settled_at is None:
            raise Undecided(self.run.stop_reason)
        return self.run.settled_at

    @cached_property
    def in_theorem(self) -> bool:
        """Whether the paper's Theorem 1.1 is about this case: tokens distinct and nonzero, a
        symmetric positive definite metric, the paper's layer."""
        is_simple = len({*self.tokens}) == self.n and all(map(any, self.tokens))
        return is_simple and self.dynamics.is_plain and self.dynamics.is_definite

    def at(self, layer: int) -> tuple[Row, ...]:
        """The tokens at a layer.

        Parameters
        ----------
        layer : int
            From 0 up; to `max_layers`, if the run does not settle.
        """
        return tuple(map(tuple, self.run.at(layer, exact=True).tolist()))

    def attended(self, layer: int) -> tuple[tuple[int, ...], ...]:
        """For each token those that it attends to at a layer.

        Parameters
        ----------
        layer : int
            From 0 up; to `max_layers`, if the run does not settle.
        """
        return tuple(map(tuple, self.run.attended(layer).tolist()))

    def alone(self, layer: int) -> list[int]:
        """The tokens that attend to their own place alone at a layer.

        Parameters
        ----------
        layer : int
            From 0 up; to `max_layers`, if the run does not settle.
        """
        sets, places = enumerate(self.attended(layer)), self.at(layer)
        return [i for i, chosen in sets if all(places[j] == places[i] for j in chosen)]

    def variant(self, **changes: Any) -> "Case":
        """The same with other tokens or other parts of the layer, to be compared with.

        Parameters
        ----------
        **changes
            `tokens`, or arguments of `Dynamics`.
        """
        how: Any = {"max_layers": self.max_layers, "arithmetic": self.arithmetic}
        other = Case(**{"tokens": self.tokens} | self.parts | how | changes)
        self.variants.append(other)
        return other

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """The proofs of its limit and those of its variants, as far as there are any that `verify`
        accepts."""
        proofs = []
        for case in (self, *self.variants):
            try:
                proofs.append(Limit(case.run).certificate)
            except InputError:  # there is none, or none that can be written down
                continue
        return tuple(proof for proof in proofs if verify(proof))

    def to_dict(self) -> dict[str, Any]:
        """Return the tokens and the layer as plain data, exactly."""
        rows = [[*map(str, row)] for row in self.tokens]
        return {"tokens": rows, "dynamics": self.dynamics.to_dict()}

    @property
    def code(self) -> str:
        """Python that makes the cloud and the layer, to paste."""
        return f"cloud = {_written(self.tokens)}\ndynamics = hm.Dynamics({self._arguments})"

    def __repr__(self) -> str:
        return f"Case({_written(self.tokens)}, {self._arguments})"

    @property
    def _arguments(self) -> str:
        named = [(name, part) for name, part in self.parts.items() if part is not None]
        return ", ".join(f"{name}={_written(part)}" for name, part in named)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Statements are also asked about metrics to which the theorem does not apply."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the theorem does not apply")
        yield


def _written(part: Any) -> str:
    """Numbers as Python reads them: whole ones as they are, others as text."""
    if isinstance(part, list | tuple):
        return f"[{', '.join(map(_written, part))}]"
    if isinstance(part, Fraction) and part.denominator == 1:
        return str(part)
    return repr(str(part) if isinstance(part, Fraction | float) else part)
