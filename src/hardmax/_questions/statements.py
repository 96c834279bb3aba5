"""Statements about all clouds that have names, each with what `falsify` draws to break it. Some are
theorems: of those it finds no counterexample.

A statement says of a proved limit True, False or `Broken`, or None where it does not apply or is
not decided."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

from hardmax._layer.attention import Softmax
from hardmax._limits.clusters import Vertex
from hardmax._tokens.rationals import dot, to_fractions
from hardmax.dynamics import Dynamics
from hardmax.geometry.projection import project_exact
from hardmax.infinite_depth import Limit, limit
from hardmax.simulation import simulate
from hardmax.theorem import CLAIMS, FAILS, UNDECIDED, check_theorem

Holds = Callable[[Limit], Any]
Row = tuple[Fraction, ...]

FLAT = {"tokens": (2, 5), "dimensions": (1, 2)}
_BETA, _NEAR, _DEPTH = 100, Fraction(1, 10), 100


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
    compared: tuple[Limit, ...] = ()
    """Limits of other layers that the statement compares with."""

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
    about: str
    """A line for those who look for one."""
    holds: Holds
    drawn: dict[str, Any]
    """What is drawn if nothing is said."""


STATEMENTS: dict[str, Named] = {}


def _name(
    name: str, about: str, *, theorem: bool = False, **drawn: Any
) -> Callable[[Holds], Holds]:
    """Give a statement a name; some are only about what Theorem 1.1 is about."""

    def register(holds: Holds) -> Holds:
        asked = partial(_within_theorem, holds) if theorem else holds
        STATEMENTS[name] = Named(name, about, asked, drawn)
        return holds

    return register


def _within_theorem(holds: Holds, lim: Limit) -> Any:
    """What is said of tokens that are distinct and nonzero, a symmetric positive definite metric
    and the paper's layer; else None."""
    tokens, dynamics = _places(lim, 0), lim.run.dynamics
    is_simple = len({*tokens}) == lim.n and all(map(any, tokens))
    return holds(lim) if is_simple and dynamics.traits.plain and dynamics.is_definite else None


def _theorem(claim: str | None, lim: Limit) -> Any:
    """What `check_theorem` says, of one claim or of all."""
    for statement in check_theorem(lim):
        if claim not in (None, statement.claim):
            continue
        if statement.verdict == FAILS:
            return Broken(f"{statement.claim}: {statement.detail}")
        if statement.verdict == UNDECIDED:
            return None
    return True


_name("Theorem 1.1", "all that check_theorem checks; proved in the paper", theorem=True)(
    partial(_theorem, None)
)
for _claim in CLAIMS:
    _name(_claim, "part of Theorem 1.1, or Figure 5", theorem=True)(partial(_theorem, _claim))


@_name(
    "leaders are never lost",
    "who attends to itself alone does so for ever; proved without a value matrix",
    **FLAT,
    values=["any"],
)
def _leaders_stay(lim: Limit) -> Any:
    for layer in range(_last(lim)):
        lost = {*_alone(lim, layer)} - {*_alone(lim, layer + 1)}
        if lost:
            return Broken("a leader until then", layer + 1, min(lost))
    return True


@_name(
    "the settling lemma",
    "if all tokens follow leaders, they do so for ever; proved without a mask",
    tokens=(3, 6),
    dimensions=(1, 2),
    masks=["causal"],
)
def _settling(lim: Limit) -> Any:
    settled: Any = None
    for layer in range(_last(lim) + 1):
        sets = _sets(lim, layer)
        leads = {i for i, chosen in enumerate(sets) if chosen == [i]}
        if settled is None and all(len(c) == 1 and leads.issuperset(c) for c in sets):
            settled, first = sets, layer
        for token, chosen in enumerate(sets):
            if settled is not None and chosen != settled[token]:
                detail = (
                    f"all follow leaders at layer {first}, and it turns from {settled[token][0]} to"
                )
                return Broken(f"{detail} {', '.join(map(str, chosen))}", layer, token)
    return True


@_name("all tokens meet", "all end at the same point", **FLAT)
def _meet(lim: Limit) -> Any:
    first, *others = _ends(lim)
    for token, end in enumerate(others, 1):
        if end != first:
            return Broken(f"ends at {_shown(end)}, and token 0 at {_shown(first)}", None, token)
    return True


@_name(
    "vertices of the initial hull stay",
    "said of 2508.09628 without its hypothesis that all of them lead at layer 0",
    theorem=True,
    **FLAT,
)
def _vertices_stay(lim: Limit) -> Any:
    tokens = _places(lim, 0)
    for layer in range(_last(lim) + 1):
        after = _places(lim, layer + 1)
        for token in _vertices(tokens):
            if after[token] != tokens[token]:
                return Broken(f"moves to {_shown(after[token])}", layer, token)
    return True


@_name(
    "vertices of the initial hull stay if all of them lead at layer 0",
    "the same with the hypothesis; leaders stay",
    theorem=True,
    **FLAT,
)
def _leading_vertices_stay(lim: Limit) -> Any:
    leads = {*_alone(lim, 0)}
    return _vertices_stay(lim) if leads.issuperset(_vertices(_places(lim, 0))) else None


@_name(
    "every token ends at a leader", "within Theorem 1.1; ties end on faces", theorem=True, **FLAT
)
def _ends_at_leaders(lim: Limit) -> Any:
    for token, end in enumerate(_ends(lim)):
        if not isinstance(lim.clusters.kind_of(token), Vertex):
            return Broken(f"ends at {_shown(end)}, {lim.clusters.kind_of(token)}", None, token)
    return True


@_name("limits are vertices of the initial hull", "within Theorem 1.1", theorem=True, **FLAT)
def _ends_at_vertices(lim: Limit) -> Any:
    tokens = _places(lim, 0)
    corners = {tokens[token] for token in _vertices(tokens)}
    for token, end in enumerate(_ends(lim)):
        if end not in corners:
            return Broken(f"ends at {_shown(end)}", None, token)
    return True


@_name(
    "leaders at layer 0 are the vertices of the initial hull",
    "within Theorem 1.1",
    theorem=True,
    **FLAT,
)
def _vertices_lead(lim: Limit) -> Any:
    leaders, vertices = {*_alone(lim, 0)}, {*_vertices(_places(lim, 0))}
    for token in sorted(leaders ^ vertices):
        is_what = "a leader and no vertex" if token in leaders else "a vertex and no leader"
        return Broken(is_what, 0, token)
    return True


@_name(
    "settled at layer n at the latest",
    "n tokens, within Theorem 1.1; small steps take long",
    theorem=True,
    tokens=(3, 4),
    dimensions=2,
    alphas=["1/10", "1/20"],
)
def _settles_early(lim: Limit) -> Any:
    return _last(lim) <= lim.n or Broken("the last change", _last(lim))


@_name("the number of leaders never grows", "within Theorem 1.1", theorem=True, **FLAT)
def _leaders_never_grow(lim: Limit) -> Any:
    since = zip(lim.run.leader_layers.tolist(), lim.leaders.tolist(), strict=True)
    late = [pair for pair in since if pair[0]]
    return Broken("becomes a leader", *min(late)) if late else True


@_name(
    "norms strictly grow until the limit",
    "the norm <A x, x> of every token that is not at its limit, within Theorem 1.1",
    theorem=True,
    **FLAT,
)
def _norms_grow(lim: Limit) -> Any:
    given = lim.run.dynamics.metric
    metric = None if given is None else to_fractions(given, "`metric`")
    for layer in range(_last(lim) + 1):
        steps = zip(_places(lim, layer), _places(lim, layer + 1), _ends(lim), strict=True)
        for token, (x, y, end) in enumerate(steps):
            if x != end and _norm(metric, y) <= _norm(metric, x):
                return Broken("its norm does not grow, and it is not at its limit", layer, token)
    return True


@_name(
    "leaders do not depend on alpha",
    "alpha against 1/4, 1 and 4, within Theorem 1.1",
    theorem=True,
    **FLAT,
)
def _leaders_whatever_alpha(lim: Limit) -> Any:
    for alpha in ("1/4", 1, 4):
        other = _beside(lim, Dynamics(alpha, lim.run.dynamics.metric))
        if other.leaders.tolist() != lim.leaders.tolist():
            detail = (
                f"leaders {lim.leaders.tolist()}, and {other.leaders.tolist()} with alpha {alpha}"
            )
            return Broken(detail, compared=(other,))
    return True


@_name(
    "a mask removes leaders, never adds one",
    "the leaders with a mask against those without",
    masks=["causal", "random"],
    **FLAT,
)
def _masks_add_no_leaders(lim: Limit) -> Any:
    parts = lim.run.dynamics.to_dict()
    if parts.pop("mask", None) is None:
        return None
    without = _beside(lim, Dynamics(**parts))
    for token in lim.leaders.tolist():
        if token not in without.leaders:
            detail = f"leads only with the mask; without it {without.leaders.tolist()} do"
            return Broken(detail, None, token, (without,))
    return True


@_name(
    "softmax with β = 100 ends within 1/10 of hardmax",
    "after 100 layers, tokens of softmax are in a hull that they never leave",
    theorem=True,
    numbers=[Fraction(k, 20) for k in range(-20, 21)],
    **FLAT,
)
def _softmax_is_near(lim: Limit) -> Any:
    dynamics = lim.run.dynamics
    soft = Dynamics(dynamics.alpha, dynamics.metric, attention=Softmax(_BETA))
    run: Any = simulate(lim.run.at(0, exact=True), soft, layers=_DEPTH, error=1e-6)
    error = Fraction(run.error)
    columns = [[*map(Fraction, column)] for column in run.at(_DEPTH).T.tolist()]
    box = [(min(column) - error, max(column) + error) for column in columns]
    is_near = True
    for token, end in enumerate(_ends(lim)):
        sides = [(low - x, x - high) for x, (low, high) in zip(end, box, strict=True)]
        square = sum(max(*gaps, 0) ** 2 for gaps in sides)
        if square > _NEAR**2:
            gap = f"all tokens of softmax at least {float(square) ** 0.5:.3g} away"
            return Broken(f"hardmax ends at {_shown(end)}, {gap}", _DEPTH, token)
        is_near &= sum(min(gaps) ** 2 for gaps in sides) <= _NEAR**2
    return True if is_near else None


@_name(
    "two tokens never end at the same limit unless they follow one leader",
    "within Theorem 1.1",
    theorem=True,
    **FLAT,
)
def _meet_at_leaders(lim: Limit) -> Any:
    kinds, ends = lim.clusters.kind_of, _ends(lim)
    for first, second in combinations(range(lim.n), 2):
        if ends[first] == ends[second] and not isinstance(kinds(first), Vertex):
            end = f"{_shown(ends[first])}, {kinds(first)}"
            return Broken(f"ends at {end}, and so does token {second}", None, first)
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


def _beside(lim: Limit, dynamics: Dynamics) -> Limit:
    """The limit of the same cloud with another layer."""
    return limit(lim.run.at(0, exact=True), dynamics, arithmetic="exact")


def _vertices(tokens: list[Row]) -> list[int]:
    """The tokens that are vertices of the hull: those outside the hull of the tokens elsewhere."""
    vertices = []
    for i, token in enumerate(tokens):
        others = [other for other in tokens if other != token]
        if not others or project_exact(others, target=token)[0] != token:
            vertices.append(i)
    return vertices


def _norm(metric: Any, x: Row) -> Any:
    """<A x, x>."""
    return dot(x if metric is None else [dot(row, x) for row in metric], x)


def _shown(x: Row) -> str:
    """A point: exactly if it is short."""
    shown = [str(c) if len(str(c)) <= 12 else f"{float(c):.6g}…" for c in x]
    return shown[0] if len(x) == 1 else f"({', '.join(shown)})"
