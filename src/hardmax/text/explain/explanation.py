"""An explanation: a few words that lead, and an account of the logit to which every word contributes its part.

Pages and pictures are imported when they are asked for: most explanations are read in a terminal.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hardmax._files import write_whole
from hardmax._format import escape_json
from hardmax._validation import InputError, check_path
from hardmax.text.explain.account import Account
from hardmax.text.explain.showing import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hardmax.figures.text_scene import TextScene


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Explanation(Account):
    """Why a model says what it says of a text, in two ledgers, which both add up: by leader, `bias` and the
    contributions of the `ledger` are the `logit`; by word, `bias`, the votes of those `counting` and the `rest` are.
    What takes a run of the engines is worked out when asked for: `trajectory`, `path`, `margin`, `draw`, `animate`.

    `towards` is the class for which positive numbers speak: the second of two classes, else the label itself.
    """

    def save(self, path: str | Path) -> None:
        """Write the explanation to a `.html`, `.json` or `.txt` file, whole or not at all."""
        path = check_path(path)
        suffix = path.suffix.lower()
        if suffix == ".json":
            content = escape_json(self.to_dict(), indent=1) + "\n"
        elif suffix == ".txt":
            content = f"{self}\n"
        elif suffix in (".html", ".htm"):
            from hardmax.text.explain.page import page

            content = page(self)
        else:
            raise InputError(f"`path` has the suffix {suffix!r}: expected .html, .json or .txt.")
        write_whole(path, content.encode())

    def draw(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the words in the plane and how far they go, on the axes that are given, or on those of a new figure
        (extra `figures`): the picture of the page, and the whole way through the layers.

        The side of each class is tinted, the line between is where a text is undecided; leaders are stars, the mean is
        a triangle, the words that say nothing are a haze. `hardmax.text.explain.picture` says how more than two
        dimensions are laid into the plane.
        """
        from hardmax.figures.style import check_axes
        from hardmax.figures.style import our_look
        from hardmax.figures.text_plot import draw_text, text_axes

        scene = self._scene()
        ax = text_axes(scene, self._title()) if ax is None else check_axes(ax)
        with our_look():
            draw_text(scene, ax)
        return ax

    def animate(self, path: str | Path, *, fps: float = 2) -> None:
        """Write the layers as a `.gif`, or an `.mp4` where ffmpeg is installed, whole or not at all.

        Every frame is a layer, none is made up between two; of infinitely many, the last is where words end.
        """
        from hardmax.figures.style import check_fps
        from hardmax.figures.text_plot import film_text

        scene, speed = self._scene(), check_fps(fps)
        last = len(scene.path) - 1
        ends = "for ever" if math.isinf(self.layers) else f"layer {last} of {last}"

        def title(layer: int) -> str:
            return f"{self._title()}   {ends if layer == last else f'layer {layer}'}"

        film_text(scene, check_path(path), title, fps=speed)

    def _scene(self) -> "TextScene":
        if not self.words:
            raise InputError("There is nothing to draw: the model knows no word of this text.")
        from hardmax.text.explain.picture import scene_of

        return scene_of(self, self.path)

    def _title(self) -> str:
        return self.answer

    def __str__(self) -> str:
        return plain(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from hardmax.text.explain.page import fragment

        return fragment(self)
