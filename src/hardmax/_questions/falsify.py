"""`falsify`: a search for a cloud of which a statement about all clouds is not true."""

import warnings
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    Progress,
    check_bool,
    check_choice,
    check_int,
    check_list,
    check_progress,
    require_extra,
    shorten,
)
from hardmax._limits.certify import Certificate
from hardmax._questions.statements import STATEMENTS, Broken, Named
from hardmax._tokens.rationals import read_number
from hardmax.dynamics import Dynamics
from hardmax.infinite_depth import Limit, limit, verify

_USUAL: dict[str, Any] = {
    "tokens": (2, 6),
    "dimensions": (1, 3),
    "numbers": [Fraction(k, 2) for k in range(-10, 11)],
    "alphas": [1, "1/2", 2],
    "metrics": ["identity", "definite"],
    "values": ["identity"],
    "masks": ["none"],
    "attentions": [None],
    "distinct": True,
}
_KINDS = {
    "metrics": ("identity", "definite", "symmetric", "negative", "any"),
    "values": ("identity", "any"),
    "masks": ("none", "causal", "random"),
}


@dataclass(frozen=True, eq=False)
class Falsification:
    """A counterexample to a statement, or how many cases were tried. Made by `falsify`.

    It is true if there is a counterexample. That none was found proves nothing.

    Examples
    --------
    >>> from hardmax import falsify
    >>> found = falsify("all tokens meet")
    >>> bool(found), found.counterexample
    (True, Limit(2 tokens in 1 dimension: 2 leaders, 2 clusters, settled at layer 0, exact))
    >>> print(str(found).partition("cloud")[2])
     = [[1], [-1]]
    dynamics = hm.Dynamics(alpha='1')
    """

    statement: str
    """Its name."""
    tried: int
    """How many cases were drawn."""
    undecided: int
    """Those to which the statement does not apply, or that have not settled."""
    counterexample: Limit | None = None
    """The smallest that was found."""
    broken: Broken | None = None
    """Where the statement breaks."""
    interrupted: bool = False
    """Whether the search ended by Ctrl-C."""

    def __bool__(self) -> bool:
        return self.counterexample is not None

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What happens for ever, proved: for `verify`, which has accepted them. That of the
        counterexample, and those of the limits that it was compared with."""
        limits = () if self.broken is None else (self.counterexample, *self.broken.compared)
        proofs = []
        for lim in limits:
            with suppress(InputError):  # there is no format for what was proved
                proofs.append(lim.prove())
        return tuple(proof for proof in proofs if verify(proof))

    @property
    def code(self) -> str:
        """Python that makes the counterexample, to paste."""
        if self.counterexample is None:
            return ""
        run = self.counterexample.run
        cloud = ", ".join(map(_written, run.at(0, exact=True).tolist()))
        parts = [(name, part) for name, part in run.dynamics.to_dict().items() if part is not None]
        arguments = ", ".join(f"{name}={part!r}" for name, part in parts)
        return f"cloud = [{cloud}]\ndynamics = hm.Dynamics({arguments})"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, exactly; certificates are separate."""
        plain = {name: getattr(self, name) for name in ("statement", "tried", "undecided")}
        plain |= {"false": bool(self), "interrupted": self.interrupted}
        if self.counterexample is None or self.broken is None:
            return plain
        run = self.counterexample.run
        rows = [[*map(str, row)] for row in run.at(0, exact=True).tolist()]
        where = {name: getattr(self.broken, name) for name in ("detail", "layer", "token")}
        return plain | {"tokens": rows, "dynamics": run.dynamics.to_dict(), "broken": where}

    def __repr__(self) -> str:
        if self.counterexample is None:
            return f"Falsification(none in {self._tries})"
        size = pluralize(self.counterexample.n, "token")
        dimensions = pluralize(self.counterexample.d, "dimension")
        return f"Falsification(false: {size} in {dimensions}, found in {self._tries})"

    @property
    def _tries(self) -> str:
        cases = pluralize(self.tried, "case")
        undecided = f", {self.undecided:,} undecided" if self.undecided else ""
        return cases + undecided + ", interrupted" * self.interrupted

    def __str__(self) -> str:
        """The statement, what breaks, and Python that makes the counterexample."""
        if self.counterexample is None:
            return f"{self.statement}\nno counterexample in {self._tries}: this proves nothing"
        return f"{self.statement}\nfalse, found in {self._tries}: {self.broken}\n\n{self.code}"


def falsify(
    statement: str | Callable[[Limit], Any],
    strategy: Any = None,
    *,
    tries: int = 1000,
    seed: int = 0,
    max_layers: int = 200,
    progress: Progress | None = None,
    **drawn: Any,
) -> Falsification:
    """Search for a counterexample to a statement about all clouds, exactly (extra `falsify`).

    Parameters
    ----------
    statement : str or callable
        The name of a statement (`hardmax falsify --list` has them), or a function of a proved
        `Limit`: True where the statement holds, False or `Broken` where it does not, None where it
        does not apply.
    strategy : hypothesis.strategies.SearchStrategy, optional
        What is drawn: pairs of a cloud and a `Dynamics`. By default `drawn` says it.
    tries : int, default 1000
        How many cases to draw.
    seed : int, default 0
        Of the random numbers: the same seed, the same cases.
    max_layers : int, default 200
        Runs that have not settled by then are given up, and undecided.
    progress : callable, optional
        Called with (cases tried, cases).
    **drawn
        Instead of `strategy`; by default what fits the named statement. `tokens` and `dimensions`:
        how many, or the least and the most. `numbers`: coordinates. `alphas`
        and `attentions`: as `Dynamics` takes them. `metrics`: of "identity", "definite",
        "symmetric", "negative" (semidefinite) and "any". `values`: of "identity" and "any".
        `masks`: of "none", "causal" and "random". `distinct`: whether tokens are distinct and
        nonzero. What is listed first counts as simpler.

    Returns
    -------
    Falsification
        The counterexample, made as small as Hypothesis can, with what breaks and proofs; or how
        many cases were tried. After Ctrl-C, what there was by then.

    Notes
    -----
    Every attended set is decided in integers, and `Falsification.certificates` proves what happens
    for ever.

    Examples
    --------
    >>> found = falsify("every token ends at a leader")
    >>> found.counterexample.n, str(found.broken)
    (3, 'token 0: ends at (1, 0), face 1, 2')
    >>> falsify(lambda lim: len(lim.clusters) == 1, dimensions=1)
    Falsification(false: 2 tokens in 1 dimension, found in 2 cases)
    >>> falsify("Theorem 1.1", tries=20)
    Falsification(none in 20 cases)
    """
    require_extra("`falsify`", "falsify", "hypothesis")
    # Only now: Hypothesis takes a while to import.
    from hypothesis import find, settings
    from hypothesis.errors import NoSuchExample, Unsatisfiable
    from hypothesis.strategies import SearchStrategy

    from hardmax._questions.draws import QUIET, by_seed_alone, clouds_and_dynamics

    named = _read_statement(statement)
    tries = check_int(tries, "`tries`", at_least=1)
    seed = check_int(seed, "`seed`", at_least=0)
    max_layers = check_int(max_layers, "`max_layers`", at_least=1)
    check_progress(progress)
    if strategy is None:
        strategy = clouds_and_dynamics(**_read_drawn(named.drawn | drawn))
    elif not isinstance(strategy, SearchStrategy) or drawn:
        wish = "`strategy` must be one of Hypothesis, with nothing else to draw"
        raise InputError(f"{wish}, not {shorten(strategy)}.")
    tried = undecided = 0
    found, broken, interrupted = None, None, False

    def breaks(case: Any) -> bool:
        nonlocal tried, undecided, found, broken
        lim = limit(*case, max_layers=max_layers, arithmetic="exact")
        says = _ask(named, lim)
        if found is None:
            tried += 1
            undecided += says is None
            if progress is not None:
                progress(tried, tries)
        if says is None or says:
            return False
        found, broken = (
            lim,
            says if isinstance(says, Broken) else Broken("it is false of this case"),
        )
        return True

    how: Any = {"settings": settings(QUIET, max_examples=tries), "random": Random(seed)}
    with warnings.catch_warnings(), by_seed_alone(), suppress(NoSuchExample, Unsatisfiable):
        warnings.filterwarnings("ignore", "the theorem does not apply")
        try:
            find(strategy, breaks, **how)
        except KeyboardInterrupt:
            interrupted = True
    return Falsification(named.name, tried, undecided, found, broken, interrupted)


def _ask(statement: Named, lim: Limit) -> Any:
    """Whether the statement holds; None: it does not apply, or is not decided."""
    if not lim.certified:
        return None
    try:
        says = statement.holds(lim)
    except InputError:  # it asks for what this limit does not have
        return None
    if says is None or isinstance(says, Broken) or type(says).__name__ in ("bool", "bool_"):
        return says
    wish = "`statement` must return True, False, Broken(…) or None"
    raise InputError(f"{wish}, not {shorten(says)}.")


def _read_statement(statement: Any) -> Named:
    if isinstance(statement, str) and statement in STATEMENTS:
        return STATEMENTS[statement]
    if callable(statement):
        name = getattr(statement, "__name__", None) or shorten(statement)
        return Named(name, "", statement, {})
    wish = f"a function of a Limit, or one of {', '.join(map(repr, STATEMENTS))}"
    raise InputError(f"`statement` must be {wish}, not {shorten(statement)}.")


def _read_drawn(drawn: dict[str, Any]) -> dict[str, Any]:
    """What is drawn, checked and complete."""
    unknown = [*drawn.keys() - _USUAL.keys()]
    if unknown:
        raise InputError(f"`falsify` draws {', '.join(_USUAL)}, not {shorten(unknown[0])}.")
    read = _USUAL | drawn
    for name in ("tokens", "dimensions"):
        read[name] = _read_range(read[name], f"`{name}`")
    for name in ("numbers", "alphas", "attentions", *_KINDS):
        read[name] = check_list(read[name], f"`{name}`", "a list of at least one")
        if not read[name]:
            raise InputError(f"`{name}` must be a list of at least one.")
    for name, kinds in _KINDS.items():
        for word in read[name]:
            check_choice(word, kinds, f"`{name}` (each)")
    for name, keyword in (("alphas", "alpha"), ("attentions", "attention")):
        for part in read[name]:
            Dynamics(**{"alpha": 1, keyword: part})  # refused if it is none
    numbers = {read_number(number, "`numbers`") for number in read["numbers"]}
    read["numbers"] = sorted(numbers, key=lambda x: (x.denominator, abs(x), x < 0))
    check_bool(read["distinct"], "`distinct`")
    return read


def _read_range(given: Any, name: str) -> tuple[int, int]:
    least, most = given if isinstance(given, list | tuple) and len(given) == 2 else (given, given)
    least = check_int(least, f"{name} (the least)", at_least=1)
    return least, check_int(most, f"{name} (the most)", at_least=least)


def _written(row: Collection[Fraction]) -> str:
    """A token as Python reads it: whole numbers as they are, others as text."""
    return f"[{', '.join(str(x) if x.denominator == 1 else repr(str(x)) for x in row)}]"
