"""How a training went: loss, accuracy and leaders, epoch by epoch."""

from collections.abc import Sequence
from typing import Any

from hardmax._format import pluralize
from hardmax._validation import InputError, check_choice
from hardmax.figures import inputs
from hardmax.figures.asked import EpochLike, all_like
from hardmax.figures.inputs import validate_params
from hardmax.figures.mpl import Axes, Figure, Line2D, MaxNLocator
from hardmax.figures.palette import BLUE, FAINT, VERMILION
from hardmax.figures.style import our_look

# What is measured, and its name on the axis.
MEASURES = {"loss": "loss", "accuracy": "accuracy", "leaders": "leaders a text"}


def _reports(value: Any, name: str) -> Sequence[EpochLike]:
    given = all_like(value, EpochLike, name, "a list of the epochs of a training")
    if not given:
        raise InputError(f"{name} is empty: a training that ended before its first epoch has no curve.")
    return given


@validate_params(reports=_reports, ax=inputs.an_axes)
def draw_training_curve(reports: Sequence[EpochLike], measure: str, ax: Axes) -> list[Line2D]:
    """One of loss, accuracy and leaders over the epochs: in training and, where there is one, on the validation set.

    Where alpha still rises, the axes are shaded: there the model is not yet what it will be.
    """
    check_choice(measure, MEASURES, "`measure`")
    epochs = [report.epoch for report in reports]
    (line,) = ax.plot(epochs, [getattr(r, measure) for r in reports], color=BLUE, marker="o", ms=3, label="training")
    lines = [line]
    judged = [(r.epoch, getattr(r, f"validation_{measure}")) for r in reports if r.validation_loss is not None]
    if judged:
        lines += ax.plot(*zip(*judged, strict=True), color=VERMILION, marker="s", ms=3, ls="--", label="validation")
    rising = [report.epoch for report in reports if report.alpha < reports[-1].alpha]
    if rising:
        ax.axvspan(min(epochs) - 0.5, max(rising) + 0.5, color=FAINT, alpha=0.15, lw=0, label="alpha still rises")
    ax.set_xlim(min(epochs) - 0.5, max(epochs) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylabel(MEASURES[measure])
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return lines


@validate_params(reports=_reports)
def training_curve_figure(reports: Sequence[EpochLike]) -> Figure:
    """Loss, accuracy and leaders under each other."""
    with our_look():
        figure = Figure(figsize=(5.4, 6.0))
        panels = figure.subplots(len(MEASURES), 1, sharex=True)
        for ax, measure in zip(panels, MEASURES, strict=True):
            draw_training_curve(reports, measure, ax)
        seconds = sum(report.seconds for report in reports)
        panels[0].set_title(f"{pluralize(len(reports), 'epoch')}, {seconds:.{1 if seconds < 10 else 0}f} s", loc="left")
        panels[0].legend(loc="upper right", frameon=False, fontsize=8)
        panels[-1].set_xlabel("epoch")
        figure.align_ylabels()
        figure.tight_layout()
    return figure
