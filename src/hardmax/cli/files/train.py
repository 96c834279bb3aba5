"""What `hardmax train` puts beside a model."""

from typing import TYPE_CHECKING

from hardmax._validation import MissingExtra
from hardmax.cli.output import narrate

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel


def curve_of(model: "TextModel") -> dict[str, bytes]:
    """The curve of the training that made the model, by the name of its file; nothing where none can be drawn."""
    try:
        from hardmax.figures.style import figure_bytes
        from hardmax.figures.training_curve import training_curve_figure
    except MissingExtra as error:
        narrate(f"no curve is drawn: {error}")
        return {}
    from hardmax.train.log import Epoch
    from hardmax.train.writing import CURVE

    reports = [Epoch(**report) for report in model.metrics["training"]]
    return {CURVE: figure_bytes(training_curve_figure(reports), CURVE)}
