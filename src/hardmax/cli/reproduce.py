"""`hardmax reproduce`: the figures and the table of the paper, beside the authors' numbers."""

from pathlib import Path
from typing import Annotated

import typer

from hardmax import __version__
from hardmax._validation import InputError, require_extra
from hardmax.cli.options import AsJson, make_folder
from hardmax.cli.output import notify, print_json, progress_bar


def reproduce_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="fig1 to fig5, reviews, accuracy, losses, orders, histogram, table1; beyond the paper: leaders, "
            "settling, faces, basins, temperature, floats; or all.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for all files.")] = Path("reproduced"),
    full: Annotated[
        bool, typer.Option("--full/--quick", help="As in the paper (hours), or smaller (minutes).")
    ] = False,
    data: Annotated[Path | None, typer.Option(help="Folder with train.parquet and test.parquet of IMDb.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Reproduce the figures and the table of the paper.

    Writes for each a PDF, a PNG, its numbers (JSON, CSV) and maybe an animation, and report.html, which compares them
    with the authors' numbers. An interrupted run continues where it stopped.
    """
    from hardmax.paper.pieces import find_piece, names_of

    names = names_of(what)
    require_extra("`hardmax reproduce`", "figures", "matplotlib")
    if data is not None:
        for name in ("train.parquet", "test.parquet"):
            if not (data / name).is_file():
                raise InputError(f"`--data` {str(data)!r} has no {name}: expected a folder with both parts of IMDb.")
        require_extra("`--data`", "tables", "pyarrow", "pandas")
    make_folder(output, "--output")

    from hardmax._files import write_whole
    from hardmax.paper.piece import Setting
    from hardmax.paper.report import NAME, write_report
    from hardmax.paper.reproducing import make

    setting = Setting(full=full, data=data, seed=seed, progress=notify)
    made = []
    with progress_bar("reproducing") as update:
        for done, name in enumerate(names):
            if update:
                update(done, len(names))
            made.append(make(find_piece(name), output, setting))
            notify(f"{name}: {'drawn again' if made[-1].was_there else f'computed in {made[-1].seconds:.1f} s'}")
    about = {"hardmax": __version__, "setting": "full" if full else "quick", "seed": seed}
    about["data"] = "IMDb" if data else "what ships with the package"
    report = output / NAME
    write_whole(report, write_report(made, about).encode())
    notify(f"wrote {report}")
    if as_json:
        print_json({one.piece.name: {"seconds": one.seconds, "numbers": one.numbers} for one in made})
