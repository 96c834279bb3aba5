"""What `hardmax evaluate` prints and draws: a summary for people, a document for programs, two pictures."""

from typing import TYPE_CHECKING, Any

from hardmax._format import pluralize
from hardmax.cli.output import print_facts, print_table
from hardmax.text.wording import format_layers, layers_to_json

if TYPE_CHECKING:
    from hardmax.text.evaluation.measuring import Evaluation
    from hardmax.text.evaluation.standing import Inside, Standing
    from hardmax.text.knowing.leading import Leader
    from hardmax.text.text_model import TextModel

SHOWN_LEADERS = 30


def document(
    model: "TextModel", found: "Evaluation", standing: "Standing | None", inside: "Inside | None"
) -> dict[str, Any]:
    """Everything that was measured, as plain data; the 30 most frequent leaders."""
    from hardmax import __version__

    about = {"hardmax": __version__, "model": describe(model), "classes": list(model.classes)}
    parts = {"standing": standing, "inside_spans": inside}
    measured = found.metrics | {name: None if part is None else part.to_dict() for name, part in parts.items()}
    return about | measured | {"leaders": [leader.to_dict() for leader in found.leaders[:SHOWN_LEADERS]]}


def describe(model: "TextModel") -> dict[str, Any]:
    """What an accuracy must be read with."""
    return {
        "tokens": len(model.vocabulary),
        "dimension": model.dimension,
        "layers": layers_to_json(model.layers),
        "alpha": model.alpha,
        "temperature": model.temperature,
    }


def in_words(model: "TextModel") -> str:
    """The same in a line."""
    size = f"{len(model.vocabulary):,} tokens, dimension {model.dimension}"
    return f"{size}, {format_layers(model.layers)}, alpha {model.alpha}"


def show(model: "TextModel", found: "Evaluation", standing: "Standing | None", inside: "Inside | None") -> None:
    """Prints the numbers, the confusion and the leaders."""
    print_facts([*facts(model, found.metrics), *_what_stands(standing), *_what_is_inside(inside)], comment="# ")
    names = [str(name) for name in model.classes]
    rows = [[name, *map(str, row)] for name, row in zip(names, found.metrics["confusion"], strict=True)]
    print_table(["true \\ predicted", *names], rows, right=names)
    header = ["leader", "texts", "share", "mass", "lean", "pull"]
    print_table(
        header, [_row(leader) for leader in found.leaders[:SHOWN_LEADERS]], right=["texts", "share", "mass", "pull"]
    )


def facts(model: "TextModel", metrics: dict[str, Any]) -> list[tuple[str, str]]:
    """The numbers with their names."""
    of_second = [(f"F1 of {model.classes[1]}", f"{metrics['f1_binary']:.4f}")] if "f1_binary" in metrics else []
    unknown = metrics["texts_without_a_known_word"]
    return [
        ("model", in_words(model)),
        ("texts", f"{metrics['texts']:,}" + (f" ({unknown:,} without a known word)" if unknown else "")),
        ("undecided", f"{100 * metrics['undecided']:.1f} % of the texts: the most frequent class is predicted"),
        ("accuracy", f"{metrics['accuracy']:.4f}"),
        ("balanced accuracy", f"{metrics['balanced_accuracy']:.4f}"),
        ("F1, macro", f"{metrics['f1_macro']:.4f}"),
        *of_second,
        ("log-loss", f"{metrics['log_loss'] + 0.0:.4f}"),
        ("Brier", f"{metrics['brier']:.4f}"),
        ("calibration error", f"{metrics['calibration_error']:.4f}"),
        ("leaders a text", f"{metrics['leaders_per_text']:.2f}"),
        ("mass on leaders", f"{metrics['mass_on_leaders']:.3f}"),
        ("words that count, a text", f"{metrics['words_that_count']:.1f}"),
    ]


def _what_stands(standing: "Standing | None") -> list[tuple[str, str]]:
    if standing is None:
        return []
    of = f" (of {pluralize(standing.texts, 'text')})"
    return [
        ("same label from the leaders alone", f"{standing.leaders_alone:.3f}{of}"),
        ("same label from the words that count alone", f"{standing.counting_alone:.3f}"),
        ("same label without the words that count", f"{standing.without_counting:.3f}"),
        ("undecided without the words that count", f"{standing.undecided_without:.3f}"),
        ("same label without as many others", f"{standing.without_others:.3f}"),
    ]


def _what_is_inside(inside: "Inside | None") -> list[tuple[str, str]]:
    if inside is None:
        return []
    return [
        (
            "leader of the predicted class inside the marks",
            f"{inside.first:.3f} (of {pluralize(inside.texts, 'text')})",
        ),
        ("it and the next one inside the marks", f"{inside.first_two:.3f}"),
        ("any word for the predicted class inside the marks", f"{inside.any_word:.3f}"),
        ("words of a text inside the marks", f"{inside.marked:.3f}"),
    ]


def draw(found: "Evaluation", path: str) -> None:
    """Writes a reliability diagram."""
    from hardmax.figures.charts import reliability_figure
    from hardmax.figures.style import save_figure
    from hardmax.text.evaluation.metrics import calibration_curve

    save_figure(reliability_figure(calibration_curve(found.truth, found.probabilities)), path)


def _row(leader: "Leader") -> list[str]:
    return [
        leader.word,
        f"{leader.texts:,}",
        f"{leader.share:.3f}",
        f"{leader.mass:.3f}",
        str(leader.lean),
        f"{leader.pull:+.2f}",
    ]
