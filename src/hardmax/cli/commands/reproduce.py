"""`hardmax reproduce`: the figures and the table of the paper, beside the authors' numbers."""

from pathlib import Path
from typing import Annotated

import typer

from hardmax import __version__
from hardmax._validation import InputError, require_extra
from hardmax.cli.options import AsJson
from hardmax.cli.output import narrate, print_json, print_table, progress_bar


def reproduce_command(
    what: Annotated[
        str,
        typer.Argument(
            help="fig1 to fig5, reviews, accuracy, losses, orders, histogram, table1; or beyond the paper: leaders, "
            "settling, faces, basins, temperature, floats; or all."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for all files.")] = Path("reproduced"),
    full: Annotated[
        bool, typer.Option("--full/--quick", help="Everything as in the paper, for hours; or within minutes.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(help="A folder with train.parquet and test.parquet of IMDb; else what ships is used.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make the figures and the table of the paper, and what our tools add to them.

    Writes for each a PDF, a PNG, its numbers (JSON, CSV), a moving picture where things move, and report.html, which
    sets them beside the authors' numbers and names every difference. What was computed is kept: a run that was cut
    short goes on, and another one in the same folder only draws.
    """
    from hardmax.paper.pieces import find_piece, names_of

    names = names_of(what)
    require_extra("`hardmax reproduce`", "figures", "matplotlib")
    if seed < 0:
        raise InputError(f"`--seed` must be a whole number from 0 up, not {seed}.")
    if data is not None:
        check_data(data)
    make_folder(output)

    from hardmax._files import write_whole
    from hardmax.paper.piece import Setting
    from hardmax.paper.report import NAME, write_report
    from hardmax.paper.reproducing import make

    setting = Setting(full=full, data=data, seed=seed, progress=narrate)
    made = []
    with progress_bar("reproducing") as update:
        for done, name in enumerate(names):
            if update:
                update(done, len(names))
            made.append(make(find_piece(name), output, setting))
            narrate(f"{name}: {'drawn again' if made[-1].was_there else f'made in {made[-1].seconds:.1f} s'}")
    told = {
        "hardmax": __version__,
        "setting": "full" if full else "quick",
        "seed": seed,
        "data:": "IMDb" if data else "what ships with the package",
    }
    report = output / NAME
    write_whole(report, write_report(made, told).encode())
    narrate(f"wrote {report}")
    if as_json:
        print_json({one.piece.name: {"seconds": one.seconds, "numbers": one.numbers} for one in made})
        return
    rows = [[one.piece.name, one.piece.title, f"{one.seconds:.1f}", ", ".join(one.pictures)] for one in made]
    print_table(["piece", "what", "seconds", "pictures"], rows, right=["seconds"])


def make_folder(output: Path) -> None:
    """Makes the folder, if it is not there."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise InputError(f"`--output` {str(output)!r} cannot be made a folder: {why}.") from None


def check_data(folder: Path) -> None:
    """Refuses before the work data that are not there."""
    missing = [name for name in ("train.parquet", "test.parquet") if not (folder / name).is_file()]
    if missing:
        raise InputError(f"`--data` {str(folder)!r} has no {missing[0]}: expected a folder with both parts of IMDb.")
    require_extra("`--data`", "tables", "pyarrow", "pandas")
