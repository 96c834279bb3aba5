"""`falsify`: a search for a cloud of which a statement about all clouds is not true."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    Progress,
    check_int,
    check_progress,
    shorten,
)
from hardmax._limits.certify import Certificate
from hardmax._questions.cases import Broken, Case, Parts, Undecided, without_warnings
from hardmax._questions.families import Family
from hardmax._questions.shrinking import simplify
from hardmax._questions.statements import STATEMENTS, Named

_ATTEMPTS = 3000  # to make a counterexample simpler


@dataclass(frozen=True, eq=False)
class Falsification:
    """A counterexample to a statement, or how many cases were tried. Made by `falsify`.

    It is true if there is a counterexample. That none was found proves nothing.

    Examples
    --------
    >>> from hardmax import falsify
    >>> found = falsify("all tokens meet", seed=1)
    >>> found, bool(found)
    (Falsification(false: 2 tokens in 1 dimension, found in 1 case), True)
    >>> print(found)
    all tokens meet
    false, found in 1 case: token 1: ends at 1, and token 0 at -1
    <BLANKLINE>
    cloud = [[-1], [1]]
    dynamics = hm.Dynamics(alpha=1)
    """

    statement: str
    """Its name."""
    tried: int
    """How many cases were drawn."""
    undecided: int
    """Of how many of those it is not known whether the statement holds, or it is not about them."""
    counterexample: Case | None = None
    """The smallest that was found."""
    broken: Broken | None = None
    """Where the statement breaks."""
    drawn: Case | None = None
    """The counterexample as it was drawn."""
    interrupted: bool = False
    """Whether the search ended by Ctrl-C."""

    def __bool__(self) -> bool:
        return self.counterexample is not None

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What happens for ever, proved: for `verify`, which has accepted them. That of the
        counterexample, and those of other layers that it was compared with."""
        return () if self.counterexample is None else self.counterexample.certificates

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, exactly; certificates are separate."""
        return {
            "statement": self.statement,
            "false": bool(self),
            "tried": self.tried,
            "undecided": self.undecided,
            "interrupted": self.interrupted,
            "broken": None if self.broken is None else vars(self.broken),
            "counterexample": self.counterexample and self.counterexample.to_dict(),
            "drawn": self.drawn and self.drawn.to_dict(),
        }

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
        heading = f"{self.statement}\nfalse, found in {self._tries}: {self.broken}"
        return f"{heading}\n\n{self.counterexample.code}"


def falsify(
    statement: str | Callable[[Case], Any],
    family: Family | Mapping[str, Any] | None = None,
    *,
    tries: int = 1000,
    seed: int = 0,
    max_layers: int = 200,
    progress: Progress | None = None,
) -> Falsification:
    """Search for a counterexample to a statement about all clouds, exactly.

    Parameters
    ----------
    statement : str or callable
        The name of a statement (`hardmax falsify --list` has them), or a function of a `Case`: True
        where it holds, False or `Broken` where it does not, None where it does not apply.
    family : Family or mapping, optional
        What is drawn; by default, what fits the named statement, or `Family()`.
    tries : int, default 1000
        How many cases to draw.
    seed : int, default 0
        Of the random numbers: the same seed, the same cases.
    max_layers : int, default 200
        Runs that have not settled by then are given up; what is not known of them is undecided.
    progress : callable, optional
        Called with (cases tried, cases).

    Returns
    -------
    Falsification
        The counterexample, made as small and simple as it can be, with what breaks and proofs; or
        how many cases were tried. After Ctrl-C, what there was by then.

    Notes
    -----
    A case that breaks the statement is made smaller as long as it stays in the family and the
    statement stays broken: tokens, dimensions and parts of the layer are left out, numbers become
    simpler. All this is decided by rational arithmetic, and `Falsification.certificates` proves
    what happens for ever.

    Examples
    --------
    >>> found = falsify("every token ends at a leader", tries=20_000)
    >>> found.counterexample, found.broken.token
    (Case([[1, -1], [1, 0], [1, 1]], alpha=1), 1)
    >>> falsify(lambda case: len(case.limit.clusters) == 1, {"dimensions": 1}).counterexample
    Case([[1], [-1]], alpha=1)
    >>> falsify("Theorem 1.1", tries=20)
    Falsification(none in 20 cases)
    """
    named = _read_statement(statement)
    family = named.family if family is None else _read_family(family)
    tries = check_int(tries, "`tries`", at_least=1)
    seed = check_int(seed, "`seed`", at_least=0)
    max_layers = check_int(max_layers, "`max_layers`", at_least=1)
    check_progress(progress)
    search = _Search(named, family, max_layers)
    try:
        search.run(seed, tries, progress)
    except KeyboardInterrupt:
        search.interrupted = True
    return Falsification(
        named.name,
        search.tried,
        search.undecided,
        search.found,
        search.broken,
        search.drawn,
        search.interrupted,
    )


class _Search:
    """What was tried, and the counterexample so far."""

    def __init__(self, statement: Named, family: Family, max_layers: int) -> None:
        self.statement, self.family, self.max_layers = statement, family, max_layers
        self.tried = self.undecided = 0
        self.interrupted = False
        self.drawn: Case | None = None
        self.found: Case | None = None
        self.broken: Broken | None = None

    def run(self, seed: int, tries: int, progress: Progress | None) -> None:
        cases = self.family._draw(seed, self.max_layers)
        for _, case in zip(range(tries), cases, strict=False):
            self.tried += 1
            says = self.ask(case)
            if says is None:
                self.undecided += 1
            # Whatever decided it, integers have to say the same.
            elif not says and self.breaks(case.parts | {"tokens": case.tokens}):
                self.drawn = case
                simplify(case.parts | {"tokens": case.tokens}, self.breaks, _ATTEMPTS)
                return
            if progress is not None:
                progress(self.tried, tries)

    def ask(self, case: Case) -> bool | Broken | None:
        """Whether the statement holds; None: it does not apply, or is not decided."""
        try:
            with without_warnings():
                says = self.statement.holds(case)
        except (Undecided, InputError):
            return None
        if says is None or isinstance(says, Broken):
            return says
        if type(says).__name__ in ("bool", "bool_"):
            return bool(says)
        wish = "`statement` must return True, False, Broken(…) or None"
        raise InputError(f"{wish}, not {shorten(says)}.", argument="statement")

    def breaks(self, parts: Parts) -> bool:
        """Whether a case of the family breaks the statement, by integers; the last one that did is
        kept."""
        case = Case(**parts, max_layers=self.max_layers, arithmetic="exact")
        says = self.ask(case) if self._allows(case) else None
        if says is None or says:
            return False
        self.found = case
        self.broken = says if isinstance(says, Broken) else Broken("it is false of this case")
        return True

    def _allows(self, case: Case) -> bool:
        try:
            return self.family._allows(case)
        except InputError:  # there is no such layer
            return False


def _read_statement(statement: Any) -> Named:
    if isinstance(statement, str) and statement in STATEMENTS:
        return STATEMENTS[statement]
    if callable(statement):
        name = getattr(statement, "__name__", None) or shorten(statement)
        return Named(name, "", statement, Family())
    wish = "a function of a Case, or a name that `hardmax falsify --list` has"
    raise InputError(f"`statement` must be {wish}, not {shorten(statement)}.", argument="statement")


def _read_family(family: Any) -> Family:
    if isinstance(family, Family):
        return family
    if not isinstance(family, Mapping):
        wish = "`family` must be a Family, or map its parts to values"
        raise InputError(f"{wish}, not {shorten(family)}.", argument="family")
    known = Family.__dataclass_fields__
    for name in family:
        if name not in known:
            wish = f"`family` knows {', '.join(known)}"
            raise InputError(f"{wish}, not {shorten(name)}.", argument="family")
    return Family(**family)
