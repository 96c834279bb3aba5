"""The three arithmetics by name, each with the engines it tries in turn."""

from hardmax.engines.choosing import by_all_scores, by_contenders
from hardmax.engines.exact import ExactEngine
from hardmax.engines.floating import FloatEngine, Proof, TieSlack
from hardmax.engines.stretch import Engine
from hardmax.errors import InputError
from hardmax.tokens.rationals import short

# What floats cannot prove is handed, the whole cloud from its first layer on, to integers; floats then only say whom to
# compare. `exact` does without floats altogether, so that it can judge the others.
ARITHMETICS: dict[str, tuple[Engine, ...]] = {
    "certified": (FloatEngine("certified", Proof()), ExactEngine(by_contenders)),
    "exact": (ExactEngine(by_all_scores),),
    "float": (FloatEngine("float", TieSlack()),),
}


def engines_for(arithmetic: "str | TieSlack") -> tuple[Engine, ...]:
    """The engines for a name, or for a tie slack of one's own."""
    if isinstance(arithmetic, TieSlack):
        return (FloatEngine("float", arithmetic),)
    if arithmetic not in ARITHMETICS:
        names = ", ".join(repr(name) for name in ARITHMETICS)
        raise InputError(f"`arithmetic` must be one of {names}, not {short(arithmetic)}.")
    return ARITHMETICS[arithmetic]
