"""`hardmax falsify`: a search for a counterexample to a statement about all clouds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Exit, Option

from hardmax._common.files import shown_name
from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli import output as out

if TYPE_CHECKING:
    from hardmax._questions.falsify import Falsification

_INTERRUPTED = 130


def falsify_command(
    spec: Annotated[
        str | None,
        Argument(metavar="SPEC", help="TOML file with a `statement`, and maybe a table [family]."),
    ] = None,
    list_names: Annotated[
        bool, Option("--list", help="List the statements that have names.")
    ] = False,
    tries: Annotated[int | None, Option(help="Number of cases to draw: 1,000.")] = None,
    seed: Annotated[int | None, Option(help="Seed of the random cases: 0.")] = None,
    output: Annotated[
        str | None,
        Option("--output", "-o", metavar="FILE", help="Write the proof to a .json file."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Search for a cloud of which a statement is not true.

    SPEC names the statement and may have tries, seed, max_layers and a table [family] of what is
    drawn: tokens, dimensions, size, denominators, alphas, metrics, values, masks, attentions, ties,
    distinct. Prints the smallest counterexample that was found and what breaks, or how many cases
    were tried, and ends with 0 in both cases. Ctrl-C prints what there is by then.

    `hardmax verify` checks the proof of what happens for ever. Counterexamples that compare two
    layers have two proofs: FILE.json and FILE-2.json."""
    opt.check_target(output, "--output", ".json")
    if list_names == (spec is not None):
        raise InputError("Give a file with a `statement`, or `--list`.")

    # Only now: numpy takes a while to import.
    from hardmax._questions.falsify import falsify
    from hardmax._questions.statements import STATEMENTS

    if spec is None:
        rows = [[named.name, named.about] for named in STATEMENTS.values()]
        if as_json:
            out.print_json({"statements": dict(rows)})
        else:
            out.print_table(["statement", "about"], rows)
        return
    document = _read(spec)
    given = {"tries": tries, "seed": seed}
    document |= {name: number for name, number in given.items() if number is not None}
    with out.progress_bar("cases") as progress:
        found = falsify(**document, progress=progress)
    if output is not None:
        _write(found, Path(output))
    if as_json:
        out.print_json(found.to_dict())
    else:
        out.print_text(found)
    if found.interrupted:
        raise Exit(_INTERRUPTED)


def _write(found: "Falsification", path: Path) -> None:
    """Write each certificate to a file of its own."""
    for number, proof in enumerate(found.certificates, 1):
        file = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        proof.save(file)
        out.notify(f"wrote {file}")
    if found and not found.certificates:
        out.notify("no proof written: the layers that break it are all there is")
    elif not found:
        out.notify("no proof written: there is no counterexample")


def _read(spec: str) -> dict[str, Any]:
    document = opt.read_toml(spec, "expected a TOML file with a `statement`")
    known = {"statement", "tries", "seed", "max_layers", "family"}
    if not isinstance(document.get("statement"), str) or document.keys() - known:
        also = "may have `tries`, `seed`, `max_layers` and a table [family]"
        raise InputError(
            f"{shown_name(spec)} must have a `statement`, a name, and {also}: nothing else."
        )
    return document
