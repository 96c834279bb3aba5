"""`run.animate`: layer after layer as a moving picture. Every frame is a layer; nothing is drawn between them."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hardmax._files import write_whole
from hardmax._validation import InputError, check_path
from hardmax.figures import inputs
from hardmax.figures.asked import RunLike
from hardmax.figures.inputs import validate_params
from hardmax.figures.mpl import AbstractMovieWriter, FFMpegWriter, Figure, FigureCanvasAgg, PillowWriter, rc_context
from hardmax.figures.plotting import draw_titled
from hardmax.figures.views import projection_for

MOST_FRAMES = 300
"""Frames are held in memory until the file is written."""
USUAL_FRAMES = 60
_SIDE, _FLAT, _DPI = 4.0, 2.0, 120  # an even number of pixels each way, as video asks for
_FRAMES: dict[Any, Any] = {"savefig.bbox": None, "savefig.facecolor": "white"}  # all of one size


@validate_params(run=inputs.a_run, path=check_path, fps=inputs.a_speed)
def animate_run(run: RunLike, path: Any, *, layers: Any = None, fps: Any = 4) -> None:
    """Write the layers of a run, the recorded ones if none are named, as frames of a `.gif` or `.mp4`."""
    frames = _usual(run) if layers is None else inputs.frames(layers, "`layers`", MOST_FRAMES)
    _writer(path, fps)  # what cannot be written, and a layer that is not there, are refused before anything is drawn
    run.floats_at(max(frames))
    figure = Figure(figsize=(_SIDE, _FLAT if run.d == 1 else _SIDE), dpi=_DPI, layout="constrained")
    ax = figure.add_subplot(projection=projection_for(run.d))

    def frame(layer: int) -> None:
        ax.clear()
        draw_titled(run, layer, ax)

    write_film(figure, path, frames, frame, fps=fps)


def write_film(figure: Figure, path: Path, frames: Iterable[int], draw: Callable[[int], None], *, fps: float) -> None:
    """Write a `.gif` or `.mp4`, whole or not at all: `draw` draws the frame of each number on the figure."""
    writer = _writer(path, fps)
    FigureCanvasAgg(figure)
    # Writers want a file of their own; readers shall never meet half of one.
    with tempfile.TemporaryDirectory() as folder, rc_context(_FRAMES):
        draft = Path(folder) / f"draft{path.suffix.lower()}"
        # Not by `writer.saving`, which ends a film without frames by an error that hides what went wrong.
        writer.setup(figure, str(draft), figure.dpi)
        for number in frames:
            draw(number)
            writer.grab_frame()
        writer.finish()
        write_whole(path, draft.read_bytes())


def _usual(run: RunLike) -> list[int]:
    """The recorded layers; of many, some of them and the last."""
    every = -(-len(run.recorded) // USUAL_FRAMES)
    return sorted({*run.recorded[::every], run.layers})


def _writer(path: Path, fps: float) -> AbstractMovieWriter:
    kind = path.suffix.lower()
    if kind == ".gif":
        return PillowWriter(fps=fps)  # pyright: ignore[reportArgumentType]
    if kind != ".mp4":
        raise InputError(f"`path` must end in .gif or .mp4, not {path.suffix or 'nothing'!r}.")
    if not FFMpegWriter.isAvailable():
        raise InputError("`path` ends in .mp4, for which ffmpeg must be installed: name a .gif instead.")
    return FFMpegWriter(fps=fps)  # pyright: ignore[reportArgumentType]
