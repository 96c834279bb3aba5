"""What `hardmax train` says: before, after, and as a document for programs."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from hardmax._format import pluralize
from hardmax.cli.output import print_facts
from hardmax.cli.reports.evaluate import describe, facts, in_words
from hardmax.cli.reports.phrases import some

if TYPE_CHECKING:
    from hardmax.text.data.corpora import Corpus
    from hardmax.text.text_model import TextModel
    from hardmax.train.suited import Suited

SHOWN_CLASSES = 6
_HELD_OUT = "validation_"


def begin(corpus: "Corpus") -> str:
    """What the training starts with."""
    classes, _ = corpus.numbered()
    sizes = Counter(corpus.labels)
    named = some([f"{name}: {sizes[name]:,}" for name in classes], SHOWN_CLASSES)
    return f"{pluralize(len(corpus), 'text')} ({named})"


def choices(corpus: "Corpus", chosen: "Suited") -> list[str]:
    """What was chosen, and why, a line each, and what is trained for how long."""
    recipe = chosen.recipe
    twice = ", then again on all texts" if recipe.refit else ""
    lines = [f"chosen: {choice.name} {choice.value} ({choice.why})" for choice in chosen.choices]
    return [*lines, f"{begin(corpus)}; {pluralize(recipe.epochs, 'epoch')}{twice}, seed {recipe.seed}"]


def document(model: "TextModel", output: str) -> dict[str, Any]:
    """What came out, as plain data."""
    from hardmax import __version__

    about = {"hardmax": __version__, "output": output, "model": describe(model), "classes": list(model.classes)}
    return about | model.metrics


def show(model: "TextModel") -> None:
    """Prints what was measured on the texts that were held out or, if there were none, met in training."""
    held_out = {
        name.removeprefix(_HELD_OUT): value for name, value in model.metrics.items() if name.startswith(_HELD_OUT)
    }
    if held_out:
        named = [(name if name == "model" else f"validation {name}", value) for name, value in facts(model, held_out)]
        print_facts(named)
        return
    last = model.metrics["training"][-1]
    print_facts(
        [
            ("model", in_words(model)),
            ("training loss", f"{last['loss']:.4f}"),
            ("training accuracy", f"{last['accuracy']:.4f}"),
            ("leaders a text", f"{last['leaders']:.2f}"),
        ]
    )
