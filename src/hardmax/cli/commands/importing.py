"""`hardmax import`: the weights that the paper's authors published, as a model in a folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardmax._validation import InputError
from hardmax.cli.options import AsJson
from hardmax.cli.output import narrate, print_facts, print_json

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel


def import_command(
    file: Annotated[str, typer.Argument(help="The .pth file of a classifier, as the authors' code saved it.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The folder that the model is written to.")],
    *,
    words: Annotated[
        str | None,
        typer.Option(help="File with the word of each row of the embedding, one a line; the first line is for PAD."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Turn the authors' saved weights into a model of this package.

    The file is a pickle, which could run code. Here nothing of it is run: its numbers are read, and whatever such a
    file does not need is refused.

    The authors did not publish which row is which word. Without --words the model therefore knows no text, and takes
    reviews as rows (hardmax.paper.authors.model). With it, rows whose word is spelt in lower case can be found in
    texts, but texts are not cleaned, cut and padded as the authors did; only reviews given as rows are read as they
    read them.
    """
    _check_output(output, force)

    from hardmax.paper.authors.weights import read_weights

    weights = read_weights(file)
    narrate(f"read {weights!r}; nothing of the pickle was run")

    from hardmax.paper.authors.model import model_of
    from hardmax.paper.authors.words import read_words

    model = model_of(weights, None if words is None else read_words(words, weights.rows))
    model.save(output)
    narrate(f"wrote {output}")
    document = _document(model, output)
    if as_json:
        print_json(document)
    else:
        print_facts([(name.replace("_", " "), _shown(value)) for name, value in document.items()])


def _check_output(output: str, force: bool) -> None:
    """Refuses before the work to replace a model; what else may lie there, the writing looks at."""
    if (Path(output) / "model.safetensors").exists() and not force:
        raise InputError(
            f"`output` {output!r} holds a model: name a new folder, or add force=True.",
            argument="output",
            also=("force=True",),
        )


def _document(model: "TextModel", output: str) -> dict[str, Any]:
    return {
        "folder": output,
        "rows": model.metrics["rows"],
        "rows_that_texts_can_have": model.metrics["rows that texts can have"],
        "dimension": model.dimension,
        "layers": model.layers,
        "alpha": model.metrics["alpha in decimals"],
        "decoder": model.decoder[0].tolist(),
        "bias": float(model.bias[0]),
        "reads": model.metrics["what it reads"],
        "sha256": model.metrics["sha256 of their file"],
    }


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
