"""Options that several commands share, and readers of values that are more than a number or a
word."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from hardmax._common.files import decode, read_bytes, shown_name, write_whole
from hardmax._common.validation import InputError, require_extra
from hardmax.cli.output import notify

if TYPE_CHECKING:
    from hardmax.dynamics import Dynamics
    from hardmax.engines import Engine
    from hardmax.text.corpora import Corpus
    from hardmax.text.text_model import TextModel

DEFAULT_MODEL = "sentiment-en"
PICTURES = (".png", ".svg", ".pdf")
LAYER = ("alpha", "value", "mask", "attention")  # what is printed of a layer

AsJson = Annotated[bool, Option("--json", help="Print one JSON document.")]
Force = Annotated[bool, Option("--force", help="Overwrite existing files.")]
ResultFile = Annotated[
    str | None, Option("--output", "-o", metavar="FILE", help="Write a .csv file.")
]
Picture = Annotated[
    str | None, Option(metavar="FILE", help="Draw it to a .png, .svg or .pdf file.")
]
Card = Annotated[
    str | None, Option(metavar="FILE", help="Write a page about the model to a .html file.")
]

# Clouds.
TokenFile = Annotated[
    str,
    Argument(
        metavar="FILE",
        help="CSV, JSON, npy, npz or Parquet file, one token per row; - reads stdin.",
    ),
]
Columns = Annotated[
    str | None,
    Option(metavar="NAME,…", help="Columns that are coordinates: x,y; all for every one."),
]
Alpha = Annotated[str | None, Option(metavar="NUMBER", help="Step size, positive: 1/2 or 0.5.")]
Steps = Annotated[
    str | None,
    Option(
        metavar="NUMBERS", help="Steps of the first layers instead of --alpha; the last one stays."
    ),
]
Value = Annotated[str | None, Option(metavar="MATRIX", help="Value matrix, 1,0;0,0 or a file.")]
Mask = Annotated[
    str | None,
    Option(metavar="MASK", help="causal, or a file of 0 and 1: who may attend to whom."),
]
Attention = Annotated[
    str | None,
    Option(metavar="KIND", help="topk:2, localmax:1/2 or softmax:100 instead of hardmax."),
]
Metric = Annotated[
    str | None,
    Option(metavar="MATRIX", help="Matrix A, 2,1;1,1 or a file; usually the identity."),
]
Arithmetic = Annotated[
    Literal["certified", "exact", "float"],
    Option(
        help="certified: floats with a proof, integers where that fails; exact: integers; "
        "float: no proof."
    ),
]
Threads = Annotated[
    int | None, Option(min=1, help="Number of threads; the result does not depend on it.")
]
UseGpu = Annotated[bool, Option("--gpu", help="Run on a GPU (needs the extra gpu).")]

# Texts and models.
Text = Annotated[str | None, Argument(metavar="TEXT", help="The text; - reads stdin.")]
TextFile = Annotated[
    str | None, Option("--file", "-f", metavar="FILE", help="Read the text from a file.")
]
ModelName = Annotated[
    str, Argument(metavar="MODEL", help="Name of a shipped model, or a model folder.")
]
ModelOption = Annotated[
    str, Option(metavar="MODEL", help="Name of a shipped model, or a model folder.")
]
ModelFolder = Annotated[
    str, Option("--output", "-o", metavar="FOLDER", help="Folder to write the model to.")
]

# Labelled texts.
CorpusFile = Annotated[
    str,
    Argument(
        metavar="FILE",
        help="CSV, TSV, JSON lines or Parquet file, a folder of Parquet files, or one per class.",
    ),
]
TextColumn = Annotated[
    str | None, Option(metavar="COLUMN", help="Column of the texts; guessed if omitted.")
]
LabelColumn = Annotated[
    str | None, Option(metavar="COLUMN", help="Column of the labels; guessed if omitted.")
]
OnBadRows = Annotated[
    Literal["skip", "refuse"], Option(help="What to do with rows that cannot be used.")
]

Encoding = Annotated[
    str | None,
    Option(metavar="NAME", help="Encoding of CSV, JSON lines or .txt files: cp1252."),
]


def check_either(first: Any, second: Any, wish: str) -> None:
    """Refuse two options of which one must be given if both are or none is."""
    if (first is None) == (second is None):
        given = "neither was" if first is None else "both were"
        raise InputError(f"Give either {wish}: {given} given.")


def read_dynamics(
    alpha: str | None,
    metric: str | None,
    *,
    steps: str | None = None,
    value: str | None = None,
    mask: str | None = None,
    attention: str | None = None,
) -> "Dynamics":
    """The layer, as typed."""
    from hardmax.dynamics import Dynamics

    check_either(alpha, steps, "`--alpha` (such as --alpha 1/2) or `--steps` (such as 2,1,1/2)")
    parts = {"metric": read_matrix(metric), "value": read_matrix(value), "mask": read_mask(mask)}
    return Dynamics(alpha or steps or "", **parts, attention=attention)


def choose_engine(gpu: bool, threads: int | None) -> "Engine | None":
    """The engine that the options ask for, if they do."""
    from hardmax.engines import Cpu, Gpu

    if not gpu:
        return None if threads is None else Cpu(threads=threads)
    if threads is not None:
        raise InputError("`--gpu` cannot be combined with `--threads`, which is for the CPU.")
    Gpu().check()
    return Gpu()


def read_matrix(text: str | None) -> Any:
    """A matrix, typed as `2,1;1,1` or stored in a file; what is typed is read by whoever takes
    it."""
    if text is None or len(text) >= 256 or not Path(text).is_file():
        return text
    from hardmax.io import read_cloud

    return read_cloud(text, columns="all")


def read_mask(text: str | None) -> Any:
    """Who may attend to whom: a word, or a file of 0 and 1."""
    table = read_matrix(text)
    has_bits = hasattr(table, "ndim") and ((table == 0) | (table == 1)).all()
    return table == 1 if has_bits else table


def read_text(text: str | None, file: str | None) -> str:
    """The text that was typed, or is in the file, or comes from stdin."""
    check_either(text, file, "a text (or - to read stdin) or `--file`")
    if file is None and text != "-":
        return text or ""
    source = "-" if file is None else file
    return decode(read_bytes(source, "expected a text"), shown_name(source), "save it as UTF-8")


def read_toml(file: str, wish: str) -> dict[str, Any]:
    """The document in a TOML file."""
    from tomllib import TOMLDecodeError, loads

    name = shown_name(file)
    try:
        return loads(decode(read_bytes(file, wish), name, wish))
    except TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML ({error}): {wish}.") from None


def read_corpus(file: str, on_bad_rows: str, **how: str | None) -> "Corpus":
    """The labelled texts in a file; which rows were left out is printed to stderr."""
    from hardmax.text import corpora

    corpus = corpora.read_corpus(file, **how, on_bad_rows=on_bad_rows)
    if corpus.bad:
        notify(corpus.describe_bad())
    return corpus


def describe(model: "TextModel") -> dict[str, Any]:
    """Size and settings of a model, for JSON."""
    return {
        "tokens": len(model.vocabulary),
        "modifiers": len(model.modifiers),
        "gate": model.rule.gate,
        "alpha": model.rule.alpha,
    }


def write_result(result: Any, output: str) -> None:
    """Write a run, a limit or many as a table, or a run as a page or a film."""
    if output.endswith(".csv"):
        columns, text = result._columns(), io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        lists = (each if isinstance(each, list) else each.tolist() for each in columns.values())
        writer.writerows(zip(*lists, strict=True))
        write_whole(output, text.getvalue().encode())
    else:
        result.save(output)
    notify(f"wrote {output}")


def write_text(path: str, text: str) -> None:
    """Write a text to a file."""
    write_whole(path, text.encode())
    notify(f"wrote {path}")


def write_picture(path: str, figure: Any) -> None:
    """Write a figure to a file."""
    from hardmax.figures.style import save_figure

    save_figure(figure, path)
    notify(f"wrote {path}")


def check_target(path: str | None, option: str, *suffixes: str) -> None:
    """Refuse before the work a file that could not be written after it."""
    if path is None:
        return
    if Path(path).suffix not in suffixes:
        expected = (
            suffixes[0] if len(suffixes) == 1 else f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        )
        raise InputError(f"`{option}` must end in {expected}, not {path!r}.")
    if not Path(path).parent.is_dir():
        raise InputError(f"`{option}` {path!r}: the folder does not exist. Create it first.")
    if Path(path).suffix in (*PICTURES, ".gif"):
        require_extra(f"`{option}`", "figures", "matplotlib")
