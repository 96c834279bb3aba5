"""Search for a cloud of which a statement is not true.

SPEC has the arguments of `hm.falsify`: the statement, and maybe tries, seed, max_layers and what is
drawn: tokens, dimensions, alphas, metrics, values, masks. Prints the smallest counterexample that
was found and what breaks, or how many cases were tried, and ends with 0 in both cases. Ctrl-C
prints what there is by then. `hardmax verify` checks the proof of what happens for ever."""

from argparse import Namespace

from hardmax._common.files import shown_name
from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli import output as out

INTERRUPTED = 130
OPTIONS = {
    "SPEC": {"help": "TOML file with a `statement`, and maybe what is drawn."},
    "-o --output": opt.target("Write the proof to a .json file.", ".json"),
    **opt.JSON,
}


def run(args: Namespace) -> int:
    """The command."""
    document = opt.read_toml(args.SPEC, "expected a TOML file with a `statement`")
    if not isinstance(document.get("statement"), str):
        raise InputError(f"{shown_name(args.SPEC)} must have a `statement`, the name of one.")

    from hardmax._questions.falsify import falsify  # only now: numpy takes a while to import

    with out.progress_bar("cases") as progress:
        found = falsify(**document, progress=progress)
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
