"""Statements about all clouds that have names, each with the family in which `falsify` looks for a
counterexample. Some are theorems: of those it finds none.

A statement says True, False or `Broken`, or None where it does not apply or is not decided."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from hardmax._layer.attention import Softmax
from hardmax._layer.parts import FULL
from hardmax._limits.clusters import Vertex
from hardmax._questions.cases import Broken, Case, Row
from hardmax._questions.families import Family, coefficients, is_negative
from hardmax._tokens.rationals import dot
from hardmax.dynamics import Dynamics
from hardmax.geometry.projection import project_exact
from hardmax.simulation import simulate
from hardmax.theorem import CLAIMS, FAILS, UNDECIDED, check_theorem

Holds = Callable[[Case], Any]

PAPER = Family()
"""What the paper's Theorem 1.1 is about, with ties."""
FLAT = Family(tokens=(2, 5), dimensions=(1, 2), size=4)
TIED = Family(tokens=(3, 6), dimensions=(2, 2), size=2, metrics=("identity",), ties=0.4)
_FRANK_WOLFE = (FULL, *(Fraction(2, t) for t in range(1, 61)))
"""2/(t + 2) of the way at layer t."""
_BETA, _NEAR, _DEPTH = 100, Fraction(1, 10), 100


@dataclass(frozen=True)
class Named:
    """A statement with a name."""

    name: str
    about: str
    """A line for those who look for one."""
    holds: Holds
    family: Family
    """Where to look if nothing is said."""


STATEMENTS: dict[str, Named] = {}


def _name(
    name: str, about: str, family: Family = FLAT, *, theorem: bool = False
) -> Callable[[Holds], Holds]:
    """Give a statement a name; some are only about what Theorem 1.1 is about."""

    def register(holds: Holds) -> Holds:
        asked = partial(_within_theorem, holds) if theorem else holds
        STATEMENTS[name] = Named(name, about, asked, family)
        return holds

    return register


def _within_theorem(holds: Holds, case: Case) -> Any:
    return holds(case) if case.in_theorem else None


def _theorem(claim: str | None, case: Case) -> Any:
    """What `check_theorem` says, of one claim or of all."""
    for statement in check_theorem(case.limit):
        if claim not in (None, statement.claim):
            continue
        if statement.verdict == FAILS:
            return Broken(f"{statement.claim}: {statement.detail}")
        if statement.verdict == UNDECIDED:
            return None
    return True


_name("Theorem 1.1", "all that check_theorem checks; proved in the paper", PAPER, theorem=True)(
    partial(_theorem, None)
)
for _claim in CLAIMS:
    _name(_claim, "part of Theorem 1.1, or Figure 5", PAPER, theorem=True)(
        partial(_theorem, _claim)
    )


@_name(
    "leaders are never lost",
    "who attends to itself alone does so for ever; proved without a value matrix",
    replace(FLAT, values=("rank one", "any"), alphas=("1",)),
)
def _leaders_stay(case: Case) -> Any:
    for layer in range(case.last):
        lost = {*case.alone(layer)} - {*case.alone(layer + 1)}
        if lost:
            return Broken("a leader until then", layer + 1, min(lost))
    return True


@_name(
    "the settling lemma",
    "if all tokens follow leaders, they do so for ever; proved without a mask",
    replace(FLAT, tokens=(3, 6), masks=("causal",), size=6, denominators=(1,), alphas=("1",)),
)
def _settling(case: Case) -> Any:
    for layer in range(case.last):
        sets = case.attended(layer)
        leads = {i for i, chosen in enumerate(sets) if chosen == (i,)}
        if all(len(chosen) == 1 and leads.issuperset(chosen) for chosen in sets):
            break
    else:
        return True
    for later in range(layer + 1, case.last + 1):
        for token, (before, now) in enumerate(zip(sets, case.attended(later), strict=True)):
            if before != now:
                detail = f"all follow leaders at layer {layer}, and it turns from {before[0]} to"
                return Broken(f"{detail} {', '.join(map(str, now))}", later, token)
    return True


@_name("all tokens meet", "all end at the same point")
def _meet(case: Case) -> Any:
    first = case.ends[0]
    for token, end in enumerate(case.ends):
        if end != first:
            return Broken(f"ends at {_shown(end)}, and token 0 at {_shown(first)}", None, token)
    return True


@_name(
    "J(t + 1) <= 2 λ diam² / (t + 1)",
    "Theorem 3.1 of 2508.09628, as transcribed: J(x) = <Bx, x> / 2 is largest at a token",
    Family(
        tokens=(2, 3),
        dimensions=(1, 2),
        size=20,
        denominators=(1,),
        metrics=("negative",),
        alphas=(_FRANK_WOLFE,),
        ties=0,
    ),
)
def _frank_wolfe(case: Case) -> Any:
    dynamics, metric = case.dynamics, case.dynamics.metric
    steps: Any = dynamics.steps
    is_theirs = isinstance(steps, tuple) and steps == _FRANK_WOLFE[: len(steps)]
    others = (dynamics.value, dynamics.mask, dynamics.attention, dynamics.heads)
    if not is_theirs or metric is None or any(part is not None for part in others):
        return None
    table = [[*row] for row in metric]
    gaps = [np.subtract(*pair) for pair in combinations_with_replacement(case.array, 2)]
    diameter = max(gap @ gap for gap in gaps)
    if not diameter or not is_negative(table) or any(project_exact(case.tokens)[0]):
        return None
    for t in range(len(steps)):
        energies = [-_form(table, x) / 2 for x in case.at(t + 1)]
        energy = max(energies)
        # The bound is this number times the largest eigenvalue of B = -A.
        per_eigenvalue = Fraction(2, t + 1) * diameter
        if _eigenvalues_below(table, energy / per_eigenvalue):
            detail = f"J = {_shown((energy,))} at the layer after it, above the bound"
            return Broken(detail, t, energies.index(energy))
    return True


def _eigenvalues_below(metric: list[list[Fraction]], bound: Fraction) -> bool:
    """Whether all eigenvalues of B = -A are below a bound: those of B - bound are negative."""
    numbered = enumerate(metric)
    shifted = [[-x - bound * (i == j) for j, x in enumerate(row)] for i, row in numbered]
    return min(coefficients(shifted)) > 0


@_name(
    "vertices of the initial hull stay",
    "said of 2508.09628 without its hypothesis that all of them lead at layer 0",
    theorem=True,
)
def _vertices_stay(case: Case) -> Any:
    vertices = _vertices(case.tokens)
    for layer in range(case.last + 1):
        after = case.at(layer + 1)
        for token in vertices:
            if after[token] != case.tokens[token]:
                return Broken(f"moves to {_shown(after[token])}", layer, token)
    return True


@_name(
    "vertices of the initial hull stay if all of them lead at layer 0",
    "the same with the hypothesis; leaders stay",
    theorem=True,
)
def _leading_vertices_stay(case: Case) -> Any:
    leads = {*case.alone(0)}
    return _vertices_stay(case) if leads.issuperset(_vertices(case.tokens)) else None


@_name("every token ends at a leader", "within Theorem 1.1; ties end on faces", FLAT, theorem=True)
def _ends_at_leaders(case: Case) -> Any:
    clusters = case.limit.clusters
    for token in range(case.n):
        if not isinstance(clusters.kind_of(token), Vertex):
            end = _shown(case.ends[token])
            return Broken(f"ends at {end}, {clusters.kind_of(token)}", None, token)
    return True


@_name("limits are vertices of the initial hull", "within Theorem 1.1", TIED, theorem=True)
def _ends_at_vertices(case: Case) -> Any:
    corners = {case.tokens[token] for token in _vertices(case.tokens)}
    for token, end in enumerate(case.ends):
        if end not in corners:
            return Broken(f"ends at {_shown(end)}", None, token)
    return True


@_name(
    "leaders at layer 0 are the vertices of the initial hull", "within Theorem 1.1", theorem=True
)
def _vertices_lead(case: Case) -> Any:
    leaders, vertices = {*case.alone(0)}, {*_vertices(case.tokens)}
    for token in sorted(leaders ^ vertices):
        is_what = "a leader and no vertex" if token in leaders else "a vertex and no leader"
        return Broken(is_what, 0, token)
    return True


@_name(
    "settled at layer n at the latest",
    "n tokens, within Theorem 1.1; small steps take long",
    replace(
        FLAT, tokens=(3, 4), dimensions=(2, 2), size=9, denominators=(1,), alphas=("1/20", "1/10")
    ),
    theorem=True,
)
def _settles_early(case: Case) -> Any:
    return case.last <= case.n or Broken("the last change", case.last)


@_name("the number of leaders never grows", "within Theorem 1.1", theorem=True)
def _leaders_never_grow(case: Case) -> Any:
    since = case.limit.run.leader_layers.tolist()
    late = [pair for pair in zip(since, case.limit.leaders.tolist(), strict=True) if pair[0]]
    return Broken("becomes a leader", *min(late)) if late else True


@_name(
    "norms strictly grow until the limit",
    "the norm <A x, x> of every token that is not at its limit, within Theorem 1.1",
    TIED,
    theorem=True,
)
def _norms_grow(case: Case) -> Any:
    metric, ends = case.dynamics.metric, case.ends
    for layer in range(case.last + 1):
        here, after = case.at(layer), case.at(layer + 1)
        for token, (x, y, end) in enumerate(zip(here, after, ends, strict=True)):
            if x != end and _form(metric, y) <= _form(metric, x):
                return Broken("its norm does not grow, and it is not at its limit", layer, token)
    return True


@_name(
    "leaders do not depend on alpha", "alpha against 1/4, 1 and 4, within Theorem 1.1", theorem=True
)
def _leaders_whatever_alpha(case: Case) -> Any:
    leaders = case.limit.leaders.tolist()
    for alpha in map(Fraction, ("1/4", "1", "4")):
        other = case.variant(alpha=alpha)
        if (others := other.limit.leaders.tolist()) != leaders:
            case.variants = [other]
            return Broken(f"leaders {leaders}, and {others} with alpha {alpha}")
    return True


@_name(
    "a mask removes leaders, never adds one",
    "the leaders with a mask against those without",
    replace(FLAT, masks=("causal", "random")),
)
def _masks_add_no_leaders(case: Case) -> Any:
    if case.dynamics.mask is None:
        return None
    without = case.variant(mask=None).limit.leaders.tolist()
    for token in case.limit.leaders.tolist():
        if token not in without:
            return Broken(f"leads only with the mask; without it {without} do", None, token)
    return True


@_name(
    "softmax with β = 100 ends within 1/10 of hardmax",
    "after 100 layers, tokens of softmax are in a hull that they never leave",
    replace(FLAT, denominators=(5, 10, 20)),
    theorem=True,
)
def _softmax_is_near(case: Case) -> Any:
    ends = case.ends
    parts: Any = case.parts | {"attention": Softmax(_BETA, error=1e-6)}
    soft: Any = simulate(case.array, Dynamics(**parts), layers=_DEPTH)
    error = Fraction(soft.error)
    columns = [[*map(Fraction, column)] for column in soft.at(_DEPTH).T.tolist()]
    box = [(min(column) - error, max(column) + error) for column in columns]
    for token, end in enumerate(ends):
        square = sum(
            max(low - x, x - high, 0) ** 2 for x, (low, high) in zip(end, box, strict=True)
        )
        if square > _NEAR**2:
            gap = float(square) ** 0.5
            detail = f"hardmax ends at {_shown(end)}, all tokens of softmax at least {gap:.3g} away"
            return Broken(detail, _DEPTH, token)
    furthest = [
        sum(max(abs(low - x), abs(high - x)) ** 2 for x, (low, high) in zip(end, box, strict=True))
        for end in ends
    ]
    return True if max(furthest) <= _NEAR**2 else None


@_name(
    "two tokens never end at the same limit unless they follow one leader",
    "within Theorem 1.1",
    TIED,
    theorem=True,
)
def _meet_at_leaders(case: Case) -> Any:
    kinds, ends = case.limit.clusters.kind_of, case.ends
    for first, second in combinations(range(case.n), 2):
        if ends[first] == ends[second] and not isinstance(kinds(first), Vertex):
            end = f"{_shown(ends[first])}, {kinds(first)}"
            return Broken(f"ends at {end}, and so does token {second}", None, first)
    return True


def _vertices(tokens: tuple[Row, ...]) -> list[int]:
    """The tokens that are vertices of the hull: those outside the hull of the tokens elsewhere."""
    vertices = []
    for i, token in enumerate(tokens):
        others = [other for other in tokens if other != token]
        if not others or project_exact(others, target=token)[0] != token:
            vertices.append(i)
    return vertices


def _form(metric: Any, x: Row) -> Any:
    """<A x, x>."""
    return dot(x if metric is None else [dot(row, x) for row in metric], x)


def _shown(x: Row) -> str:
    """A point: exactly if it is short."""
    shown = [str(c) if len(str(c)) <= 12 else f"{float(c):.6g}…" for c in x]
    return shown[0] if len(x) == 1 else f"({', '.join(shown)})"
