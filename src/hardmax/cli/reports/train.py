"""What `hardmax train` says: before, after, and as a document for programs."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from hardmax._format import pluralize
from hardmax.cli.output import print_facts
from hardmax.cli.reports.evaluate import describe, in_words
from hardmax.cli.reports.phrases import some

if TYPE_CHECKING:
    from hardmax.text.corpora import Corpus
    from hardmax.text.text_model import TextModel

SHOWN_CLASSES = 6


def begin(corpus: "Corpus") -> str:
    """What the training starts with."""
    sizes = Counter(corpus.labels)
    named = some([f"{name}: {sizes[name]:,}" for name in sorted(sizes, key=str)], SHOWN_CLASSES)
    return f"{pluralize(len(corpus), 'text')} ({named})"


def document(model: "TextModel", output: str) -> dict[str, Any]:
    """What came out, as plain data."""
    from hardmax import __version__

    about = {"hardmax": __version__, "output": output, "model": describe(model), "classes": list(model.classes)}
    return about | model.metrics


def show(model: "TextModel") -> None:
    """Print what was chosen, and what was measured on held-out texts."""
    chosen, measured = model.metrics["settings"], model.metrics
    print_facts(
        [
            ("model", in_words(model)),
            ("strength", f"{chosen['strength']:g}"),
            ("gate", f"{chosen['gate']:g}"),
            ("alpha", str(chosen["alpha"])),
            ("neutral weight", str(chosen["neutral_weight"])),
            ("held-out accuracy", f"{measured['held_out_accuracy']:.4f}"),
            ("held-out log loss", f"{measured['held_out_log_loss']:.4f}"),
            ("active tokens per text", f"{measured['held_out_active_tokens']:.1f}"),
        ]
    )
