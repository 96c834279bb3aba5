"""`falsify`: a search for a cloud of which a statement about all clouds is not true."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.progress import Search
from hardmax._common.validation import (
    InputError,
    check_choice,
    check_int,
    check_list,
    shorten,
)
from hardmax._questions.draws import MASKS, MATRICES, Case, draw_case, smaller
from hardmax._questions.statements import STATEMENTS, Broken, Named
from hardmax.dynamics import Dynamics
from hardmax.infinite_depth import Limit, limit

_LARGEST = 1000  # tokens and dimensions of what is drawn
_USUAL: dict[str, Any] = {
    "tokens": (2, 6),
    "dimensions": (1, 3),
    "alphas": [1, "1/2", 2],
    "metrics": ["identity", "definite"],
    "values": ["identity"],
    "masks": ["none"],
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
     = [[-1], [1]]
    dynamics = hm.Dynamics(alpha='2')
    """

    statement: str
    """Its name."""
    tried: int
    """How many cases were drawn."""
    undecided: int
    """Those to which the statement does not apply, or that have not settled."""
    counterexample: Limit | None = None
    """The smallest that was found; `prove` proves what happens for ever."""
    broken: Broken | None = None
    """Where the statement breaks."""
    interrupted: bool = False
    """Whether the search ended by Ctrl-C."""

    def __bool__(self) -> bool:
        return self.counterexample is not None

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the counterexample, as `Limit.plot` does (extra `figures`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure with a title and a legend.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        if self.counterexample is None:
            raise InputError(f"`plot`: there is no counterexample in {self._tries}.")
        return self.counterexample.plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, exactly; the certificate is separate."""
        plain = {name: getattr(self, name) for name in ("statement", "tried", "undecided")}
        plain |= {"false": bool(self), "interrupted": self.interrupted}
        if self.counterexample is None or self.broken is None:
            return plain
        run = self.counterexample.run
        rows = [[*map(str, row)] for row in run.at(0, exact=True).tolist()]
        where = {name: getattr(self.broken, name) for name in ("detail", "layer", "token")}
        return plain | {"tokens": rows, "dynamics": run.dynamics.to_dict(), "broken": where}

    @property
    def _tries(self) -> str:
        undecided = f", {self.undecided:,} undecided" if self.undecided else ""
        return pluralize(self.tried, "case") + undecided + ", interrupted" * self.interrupted

    def __repr__(self) -> str:
        if self.counterexample is None:
            return f"Falsification(none in {self._tries})"
        size = pluralize(self.counterexample.n, "token")
        dimensions = pluralize(self.counterexample.d, "dimension")
        return f"Falsification(false: {size} in {dimensions}, found in {self._tries})"

    def __str__(self) -> str:
        """The statement, what breaks, and Python that makes the counterexample."""
        if self.counterexample is None:
            return f"{self.statement}\nno counterexample in {self._tries}: this proves nothing"
        run = self.counterexample.run
        rows = []
        for row in run.at(0, exact=True).tolist():
            numbers = [str(x) if x.denominator == 1 else repr(str(x)) for x in row]
            rows.append(f"[{', '.join(numbers)}]")
        given = [(name, part) for name, part in run.dynamics.to_dict().items() if part is not None]
        arguments = ", ".join(f"{name}={part!r}" for name, part in given)
        code = f"cloud = [{', '.join(rows)}]\ndynamics = hm.Dynamics({arguments})"
        return f"{self.statement}\nfalse, found in {self._tries}: {self.broken}\n\n{code}"


def falsify(
    statement: str | Callable[[Limit], Any],
    *,
    tries: int = 1000,
    seed: int = 0,
    max_layers: int = 50,
    **drawn: Any,
) -> Falsification:
    """Search for a counterexample to a statement about all clouds, exactly.

    Parameters
    ----------
    statement : str or callable
        The name of a statement (an unknown name is refused with a list of all), or a function of a
        proved `Limit`: True where the statement holds, False or `Broken` where it does not, None
        where it does not apply.
    tries : int, default 1000
        How many cases to draw.
    seed : int, default 0
        Random seed; the same seed draws the same cases.
    max_layers : int, default 50
        Runs that have not settled by then are given up as undecided.
    **drawn
        What is drawn; by default what fits the named statement. `tokens` and `dimensions`: how
        many, or the least and the most. `alphas`: as `Dynamics` takes them. `metrics` and `values`:
        of "identity", "definite", "symmetric" and "any". `masks`: of "none", "causal" and "random".
        Tokens are distinct and not 0, and their coordinates whole numbers up to 10, or halves.

    Returns
    -------
    Falsification
        The counterexample, made smaller as long as it breaks the statement, with what breaks; or
        how many cases were tried. After Ctrl-C, what was found so far.

    Notes
    -----
    Every attended set is decided in integers, and `Limit.prove` proves what happens for ever. Of
    what is made smaller, tokens and coordinates may be fewer than what is drawn, and matrices the
    identity; step size and mask stay.

    Examples
    --------
    >>> found = falsify("every token ends at a leader")
    >>> found.counterexample.n, str(found.broken)
    (3, 'token 0: ends at (-1, 0), face 1, 2')
    >>> falsify(lambda lim: len(lim.clusters) == 1, dimensions=1)
    Falsification(false: 2 tokens in 1 dimension, found in 1 case)
    >>> falsify("Theorem 1.1", tries=20)
    Falsification(none in 20 cases)
    """
    named = _read_statement(statement)
    tries = check_int(tries, "`tries`", at_least=1)
    rng = np.random.default_rng(check_int(seed, "`seed`", at_least=0))
    max_layers = check_int(max_layers, "`max_layers`", at_least=1)
    search = Search("cases")
    drawn = _read_drawn(named.drawn | drawn)
    tried = undecided = 0
    found = broken = None
    cases: Iterator[Case] = iter(())
    with warnings.catch_warnings(), search:
        warnings.filterwarnings("ignore", "the theorem does not apply")
        while tried < tries and found is None:
            case = draw_case(rng, **drawn)
            says, lim = _ask(named, case, max_layers)
            tried += 1
            undecided += says is None
            if isinstance(says, Broken):
                found, broken, cases = lim, says, smaller(case)
            search(tried, tries)
        while (nearer := next(cases, None)) is not None:
            says, lim = _ask(named, nearer, max_layers)
            if isinstance(says, Broken):
                found, broken, cases = lim, says, smaller(nearer)
    return Falsification(named.name, tried, undecided, found, broken, search.interrupted)


def _ask(statement: Named, case: Case, max_layers: int) -> tuple[bool | Broken | None, Limit]:
    """Whether the statement holds; None: it does not apply, or is not decided."""
    cloud, parts = case
    lim = limit(cloud, Dynamics(**parts), max_layers=max_layers, arithmetic="exact")
    says = statement.holds(lim) if lim.settled_at is not None else None
    if says is None or isinstance(says, Broken):
        return says, lim
    if isinstance(says, bool | np.bool_):
        return bool(says) or Broken("it is false of this case"), lim
    wish = "`statement` must return True, False, Broken(…) or None"
    raise InputError(f"{wish}, not {shorten(says)}.")


def _read_statement(statement: Any) -> Named:
    if isinstance(statement, str) and statement in STATEMENTS:
        return STATEMENTS[statement]
    if callable(statement):
        name = getattr(statement, "__name__", None) or shorten(statement)
        return Named(name, statement, {})
    wish = f"a function of a Limit, or one of {', '.join(map(repr, STATEMENTS))}"
    raise InputError(f"`statement` must be {wish}, not {shorten(statement)}.")


def _read_drawn(drawn: dict[str, Any]) -> dict[str, Any]:
    """What is drawn, checked and complete."""
    unknown = [*drawn.keys() - _USUAL.keys()]
    if unknown:
        raise InputError(f"`falsify` draws {', '.join(_USUAL)}, not {shorten(unknown[0])}.")
    read = _USUAL | drawn
    for name in ("tokens", "dimensions"):
        given = read[name] if isinstance(read[name], list | tuple) else [read[name]] * 2
        if len(given) != 2:
            raise InputError(f"`{name}` must be a number, or the least and the most.")
        least = check_int(given[0], f"`{name}` (the least)", at_least=1, at_most=_LARGEST)
        most = check_int(given[1], f"`{name}` (the most)", at_least=least, at_most=_LARGEST)
        read[name] = least, most
    kinds = {"metrics": MATRICES, "values": MATRICES, "masks": MASKS}
    for name in ("alphas", *kinds):
        read[name] = check_list(read[name], f"`{name}`", "a list of at least one")
        if not read[name]:
            raise InputError(f"`{name}` must be a list of at least one.")
        for word in read[name]:
            if name == "alphas":
                Dynamics(word)  # refused if it is not valid
            else:
                check_choice(word, kinds[name], f"`{name}` (each)")
    return read
