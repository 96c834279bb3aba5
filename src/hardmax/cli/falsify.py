"""Search for a cloud for which a statement is false.

STATEMENT is a name, such as "every token ends at a leader" (an unknown name is refused with a list
of all), or a TOML file with the arguments of `hm.falsify`: the statement, and optionally tries,
seed, max_layers and what is drawn: tokens, dimensions, alphas, metrics, values, masks.

Prints the smallest counterexample that was found and what breaks, or how many cases were tried; the
exit code is 0 in both cases. Ctrl-C prints what has been found so far. `hardmax verify` checks the
proof, which covers all layers."""

from argparse import Namespace
from typing import Any

from hardmax._common.files import shown_name
from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli import output as out

INTERRUPTED = 130
OPTIONS = {
    "STATEMENT": {"help": "A statement in quotes, or a .toml file (- reads stdin)."},
    "--tries": opt.number("How many cases to draw: 1,000 unless a file says otherwise."),
    "--seed": opt.number("Random seed; the same seed draws the same cases."),
    "-o --output": opt.target("Write the proof to a .json file.", ".json"),
    **opt.JSON,
}


def run(args: Namespace) -> int:
    """The command."""
    asked: dict[str, Any] = {"statement": args.STATEMENT}
    if args.STATEMENT == "-" or args.STATEMENT.endswith(".toml"):
        asked = opt.read_toml(args.STATEMENT, "expected a TOML file with a `statement`")
    if not isinstance(asked.get("statement"), str):
        raise InputError(f"{shown_name(args.STATEMENT)} must have a `statement`, the name of one.")
    typed = {"tries": args.tries, "seed": args.seed}
    asked |= {name: number for name, number in typed.items() if number is not None}

    from hardmax._questions.falsify import falsify  # only now: numpy takes a while to import

    found = falsify(**asked)
    if args.output is not None:
        if found.counterexample is None:
            out.notify("no proof written: there is no counterexample")
        else:
            opt.save(found.counterexample.prove(), args.output)
    if args.json:
        out.print_json(found.to_dict())
    else:
        out.print_text(found)
    return INTERRUPTED if found.interrupted else 0
