"""Options that several commands share, as argparse takes them, and readers of what is typed."""

import argparse
import csv
import io
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardmax._common.files import decode, read_bytes, shown_name, write_whole
from hardmax._common.validation import InputError, require_extra
from hardmax.cli.output import notify

if TYPE_CHECKING:
    from hardmax.dynamics import Dynamics
    from hardmax.engines import Engine
    from hardmax.text.text_model import TextModel

DEFAULT_MODEL = "sentiment-en"
PICTURES = (".png", ".svg", ".pdf")
LONGEST_NAME = 255  # of a file; what is longer was typed
Options = dict[str, dict[str, Any]]


def flag(help: str) -> dict[str, Any]:
    """An option without a value."""
    return {"action": "store_true", "help": help}


def number(help: str, kind: Callable[[str], float] = int, **more: Any) -> dict[str, Any]:
    """An option with a number."""
    return {"type": kind, "metavar": "NUMBER", "help": help} | more


def value(metavar: str, help: str, **more: Any) -> dict[str, Any]:
    """An option with a text."""
    return {"metavar": metavar, "help": help} | more


def target(help: str, *suffixes: str, **more: Any) -> dict[str, Any]:
    """An option with a file to write; refused before the work if it could not be written then."""

    def check(path: str) -> str:
        if Path(path).suffix not in suffixes:
            raise argparse.ArgumentTypeError(f"{path!r} must end in {' or '.join(suffixes)}")
        if not Path(path).parent.is_dir():
            raise argparse.ArgumentTypeError(f"the folder of {path!r} does not exist")
        if Path(path).suffix in PICTURES:
            require_extra("A picture", "figures", "matplotlib")
        return path

    return value("FILE", help, type=check) | more


JSON = {"--json": flag("Print one JSON document.")}
PICTURE = {"--picture": target("Draw it to a .png, .svg or .pdf file.", *PICTURES)}
COLUMNS = {"--columns": value("NAME,…", "Columns that are coordinates, such as x,y; or all.")}
CLOUD: Options = {
    "FILE": {"help": "CSV, JSON, npy, npz or Parquet file, one token per row; - reads stdin."},
    **COLUMNS,
}
LAYER: Options = {
    "--alpha": value("NUMBER", "Step size: 1/2; or 2,1,1/2, of which the last one stays."),
    "--metric": value("MATRIX", "Matrix A: 2,1;1,1 or a file; the identity by default."),
    "--value": value("MATRIX", "Value matrix: 1,0;0,0 or a file."),
    "--mask": value("MASK", "causal, strict, or a file of 0 and 1: what each may attend to."),
    "--attention": value("KIND", "topk:2, localmax:1/2, softmax:100 or ties:leftmost."),
}
PARTS = tuple(name.removeprefix("--") for name in LAYER)
ENGINE: Options = {
    "--arithmetic": value("NAME", "certified, exact, or float to simulate.", default="certified"),
    "--gpu": flag("Run on a GPU (needs the extra gpu)."),
}
EXACT: Options = {"--exact": flag("Write coordinates as fractions, not as decimals.")}
MODEL: Options = {
    "--model": {"default": DEFAULT_MODEL, "help": "Name of a shipped model, or a model folder."}
}
TEXT: Options = {
    "TEXT": {"nargs": "?", "help": "The text; - reads stdin."},
    "-f --file": value("FILE", "Read the text from a file."),
    **MODEL,
}
COLUMN_OF_TEXTS: Options = {
    "--text": value("COLUMN", "Column of the texts; guessed if omitted."),
}
MAP = {"--map": value("LABEL=CLASS", "The class of a label; repeatable.", action="append")}
DATA: Options = {
    "--data": value("FILE", "CSV, TSV, JSON lines or Parquet file, or a folder of Parquet files."),
    **COLUMN_OF_TEXTS,
    "--label": value("COLUMN", "Column of the labels, if there is one."),
    **MAP,
}
TEXTS: Options = {
    "FILE": {"help": "CSV, TSV, JSON lines or Parquet file, a folder of Parquet files or classes."},
    **COLUMN_OF_TEXTS,
    "--label": value("COLUMN", "Column of the labels; guessed if omitted."),
    "--on-bad-rows": {
        "choices": ("skip", "refuse"),
        "default": "skip",
        "help": "What to do with rows that cannot be used.",
    },
}


def read_map(args: argparse.Namespace) -> dict[str, str]:
    """The classes that labels stand for."""
    pairs = [pair.split("=", 1) for pair in args.map or ()]
    if any(len(pair) < 2 for pair in pairs):
        raise InputError("`--map` must be a label and its class, such as 1=positive.")
    return dict(pairs)


def read_data(args: argparse.Namespace) -> Any:
    """The table of `--data`, with classes as its labels."""
    if args.data is None:
        return None
    from hardmax.text.overview import read_frame

    frame, classes = read_frame(args.data), read_map(args)
    if args.label in frame:
        frame[args.label] = frame[args.label].astype(str).replace(classes)
    return frame


def texts_of(args: argparse.Namespace) -> dict[str, Any]:
    """How the labelled texts are read."""
    names = ("text", "label", "on_bad_rows")
    return {name: getattr(args, name) for name in names}


def read_dynamics(args: argparse.Namespace) -> "Dynamics":
    """The layer that was typed."""
    from hardmax.dynamics import Dynamics

    if args.alpha is None:
        raise InputError("`alpha` is missing, the step size of the layer, such as `alpha=1/2`.")
    matrices = {name: _read_matrix(getattr(args, name)) for name in ("metric", "value", "mask")}
    mask = matrices["mask"]
    if hasattr(mask, "ndim") and ((mask == 0) | (mask == 1)).all():
        matrices["mask"] = mask == 1
    return Dynamics(args.alpha, attention=args.attention, **matrices)


def _read_matrix(text: str | None) -> Any:
    """A matrix in a file; what is typed, such as 2,1;1,1, is read by whoever takes it."""
    if text is None or len(text) > LONGEST_NAME or not Path(text).is_file():
        return text
    from hardmax.io import read_cloud

    return read_cloud(text, columns="all")


def read_tokens(args: argparse.Namespace) -> tuple[Any, bool]:
    """The tokens in the file that was named, and whether they are many clouds."""
    from hardmax.io import read_cloud

    tokens = read_cloud(args.FILE, columns=args.columns)
    return tokens, getattr(tokens, "ndim", None) != 2


def coordinates(dimension: int) -> list[str]:
    """The names of the coordinates in tables."""
    return [f"z{axis}" for axis in range(dimension)]


def rows_of(table: Any, exact: bool) -> list[list[Any]]:
    """Rows of numbers, or of fractions as texts."""
    return [[str(value) for value in row] if exact else row for row in table.tolist()]


def choose_engine(args: argparse.Namespace) -> "Engine | None":
    """The GPU, if it was asked for and is there."""
    if not args.gpu:
        return None
    from hardmax.engines import Gpu

    Gpu().check()
    return Gpu()


def read_text(text: str | None, file: str | None) -> str:
    """The text that was typed, or is in the file, or comes from stdin."""
    if (text is None) == (file is None):
        given = "neither was" if text is None else "both were"
        raise InputError(f"Give either a text (or - to read stdin) or `--file`: {given} given.")
    if text not in (None, "-"):
        return str(text)
    path = file or "-"
    wish = "expected a text in UTF-8"
    return decode(read_bytes(path, wish), shown_name(path), wish)


def read_toml(path: str, wish: str) -> dict[str, Any]:
    """The tables of a TOML file, or of stdin."""
    name = shown_name(path)
    try:
        return tomllib.loads(decode(read_bytes(path, wish), name, wish))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{name} is not TOML ({error}): {wish}.") from None


def describe(model: "TextModel") -> dict[str, Any]:
    """Size and settings of a model, for JSON."""
    size = {"tokens": len(model.vocabulary), "modifiers": len(model.modifiers)}
    rule = {"gate": model.rule.gate, "alpha": model.rule.alpha}
    return {"classes": list(model.classes)} | size | rule


def save(result: Any, path: str, places: list[list[Any]] | None = None) -> None:
    """Write a run or a limit, or many, as a table, maybe with these coordinates; or anything that
    can save itself."""
    if path.endswith(".csv"):
        columns = result._columns()
        for axis, name in enumerate(coordinates(len(places[0]) if places else 0)):
            columns[name] = [row[axis] for row in places or ()]
        # Of a masked array `tolist` says None where there is nothing.
        lists = (each if isinstance(each, list) else each.tolist() for each in columns.values())
        rows = zip(*lists, strict=True)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([columns, *rows])
        write_text(path, text.getvalue())
        return
    result.save(path)
    notify(f"wrote {path}")


def write_text(path: str, text: str) -> None:
    """Write a text to a file."""
    write_whole(path, text.encode())
    notify(f"wrote {path}")


def write_picture(path: str, figure: Any) -> None:
    """Write a figure to a file."""
    from hardmax.figures import save_figure

    save_figure(figure, path)
    notify(f"wrote {path}")
