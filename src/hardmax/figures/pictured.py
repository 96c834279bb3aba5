"""What has a picture. No matplotlib in here."""

from typing import TYPE_CHECKING

from hardmax import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Pictured:
    """A result that draws itself."""

    _figure: str

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw it: what is shown is said above (extra `figures`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure with a title and a legend.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        return getattr(figures, self._figure)(self, ax)
