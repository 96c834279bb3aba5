"""Statements about all clouds that have names, each with what `falsify` draws to break it.
`Theorem 1.1` is proved: of that it finds no counterexample.

A statement says of a proved limit True, False or `Broken`, or None where it does not apply or is
not decided."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hardmax._limits.clusters import Vertex
from hardmax._tokens.rationals import dot
from hardmax.dynamics import Dynamics
from hardmax.geometry.projection import project_exact
from hardmax.infinite_depth import Limit, limit
from hardmax.theorem import FAILS, UNDECIDED, check_theorem

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Broken:
    """Where a statement breaks: what a statement may return in place of False.

    Examples
    --------
    >>> bool(Broken("it moves", layer=3, token=0)), str(Broken("it moves", layer=3))
    (False, 'layer 3: it moves')
    """

    detail: str
    """What is seen there."""
    layer: int | None = None
    token: int | None = None

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        places = {"layer": self.layer, "token": self.token}
        where = [f"{name} {place}" for name, place in places.items() if place is not None]
        return ", ".join(where) + ": " * bool(where) + self.detail


@dataclass(frozen=True)
class Named:
    """A statement with a name."""

    name: str
    holds: Callable[[Limit], Any]
    drawn: dict[str, Any]
    """What is drawn if nothing is said."""


STATEMENTS: dict[str, Named] = {}


def _name(name: str, **drawn: Any) -> Callable[[Any], Any]:
    """Give a statement a name."""

    def register(holds: Callable[[Limit], Any]) -> Callable[[Limit], Any]:
        flat = {"tokens": (2, 5), "dimensions": (1, 2)}
        STATEMENTS[name] = Named(name, holds, flat | drawn)
        return holds

    return register


@_name("Theorem 1.1", dimensions=(1, 3))
def _theorem(lim: Limit) -> Any:
    """All that check_theorem checks; proved in the paper."""
    for statement in check_theorem(lim):
        if statement.verdict == FAILS:
            return Broken(f"{statement.claim}: {statement.detail}")
        if statement.verdict == UNDECIDED:
            return None
    return True


@_name("leaders are never lost", values=["any"])
def _leaders_stay(lim: Limit) -> Any:
    """Who attends to itself alone does so for ever; proved without a value matrix."""
    for layer in range(_last(lim)):
        lost = {*_alone(lim, layer)} - {*_alone(lim, layer + 1)}
        if lost:
            return Broken("a leader until then", layer + 1, min(lost))
    return True


@_name("the settling lemma", tokens=(3, 6), masks=["causal"])
def _settling(lim: Limit) -> Any:
    """If all tokens follow leaders, they do so for ever; proved without a mask."""
    for layer in range(_last(lim)):
        before, after = _sets(lim, layer), _sets(lim, layer + 1)
        leads = [i for i, chosen in enumerate(before) if chosen == [i]]
        if all(len(chosen) == 1 and chosen[0] in leads for chosen in before):
            for token, (old, new) in enumerate(zip(before, after, strict=True)):
                if old != new:
                    turns = f"it turns from {old[0]} to {', '.join(map(str, new))}"
                    return Broken(f"all followed leaders, and {turns}", layer + 1, token)
    return True


@_name("all tokens meet")
def _meet(lim: Limit) -> Any:
    """All end at the same point."""
    first, *others = _ends(lim)
    for token, end in enumerate(others, 1):
        if end != first:
            return Broken(f"ends at {_shown(end)}, and token 0 at {_shown(first)}", None, token)
    return True


@_name("vertices of the initial hull stay")
def _vertices_stay(lim: Limit) -> Any:
    """Said of 2508.09628 without its hypothesis that all of them lead at layer 0."""
    tokens = _places(lim, 0)
    for token, place in enumerate(tokens):
        others = [other for other in tokens if other != place]
        is_vertex = not others or project_exact(others, target=place)[0] != place
        for layer in range(_last(lim) + 2):
            after = _places(lim, layer)[token]
            if is_vertex and after != place:
                return Broken(f"is at {_shown(after)}", layer, token)
    return True


@_name("every token ends at a leader")
def _ends_at_leaders(lim: Limit) -> Any:
    """Ties end on faces."""
    for token, end in enumerate(_ends(lim)):
        kind = lim.clusters.kind_of(token)
        if not isinstance(kind, Vertex):
            return Broken(f"ends at {_shown(end)}, {kind}", None, token)
    return True


@_name("the number of leaders never grows")
def _leaders_never_grow(lim: Limit) -> Any:
    """Leaders stay, and others may join them."""
    since = zip(lim.run.leader_layers.tolist(), lim.leaders.tolist(), strict=True)
    late = [pair for pair in since if pair[0]]
    return Broken("becomes a leader", *min(late)) if late else True


@_name("norms strictly grow until the limit")
def _norms_grow(lim: Limit) -> Any:
    """The norm <A x, x> of every token that is not at its limit."""
    metric = lim.run.dynamics.metric_integers
    for layer in range(_last(lim) + 1):
        steps = zip(_places(lim, layer), _places(lim, layer + 1), _ends(lim), strict=True)
        for token, (x, y, end) in enumerate(steps):
            if x != end and _norm(metric, y) <= _norm(metric, x):
                return Broken("its norm does not grow, and it is not at its limit", layer, token)
    return True


@_name("leaders do not depend on alpha")
def _leaders_whatever_alpha(lim: Limit) -> Any:
    """Alpha against 1/4, 1 and 4."""
    leaders, tokens = lim.leaders.tolist(), lim.run.at(0, exact=True)
    for alpha in ("1/4", 1, 4):
        dynamics = Dynamics(alpha, lim.run.dynamics.metric)
        others = limit(tokens, dynamics, arithmetic="exact").leaders.tolist()
        if others != leaders:
            return Broken(f"leaders {leaders}, and {others} with alpha {alpha}")
    return True


def _last(lim: Limit) -> int:
    """The layer from which on no attended set changes."""
    assert lim.settled_at is not None
    return lim.settled_at


def _places(lim: Limit, layer: int) -> list[Row]:
    return [*map(tuple, lim.run.at(layer, exact=True).tolist())]


def _ends(lim: Limit) -> list[Row]:
    return [*map(tuple, lim.exact_limit_points().tolist())]


def _sets(lim: Limit, layer: int) -> list[list[int]]:
    return [list(chosen) for chosen in lim.run.attended(layer).tolist()]


def _alone(lim: Limit, layer: int) -> list[int]:
    """The tokens that attend to their own place alone."""
    sets, places = enumerate(_sets(lim, layer)), _places(lim, layer)
    return [i for i, chosen in sets if all(places[j] == places[i] for j in chosen)]


def _norm(metric: Any, x: Row) -> Any:
    """<A x, x>."""
    return dot(x if metric is None else [dot(row, x) for row in metric], x)


def _shown(x: Row) -> str:
    """A point: exactly if it is short."""
    shown = [str(c) if len(str(c)) <= 12 else f"{float(c):.6g}…" for c in x]
    return shown[0] if len(x) == 1 else f"({', '.join(shown)})"
