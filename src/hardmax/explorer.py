"""The page as a widget in a notebook, connected both ways (extra `widget`)."""

from html import escape
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, MissingExtra, check_int, check_str, shorten
from hardmax._layer.rules import check_plain
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.page import dynamics_data, read_data, render, style, widget_module

try:
    import anywidget
    import traitlets
except ImportError:
    raise MissingExtra("`Explorer`", "widget") from None

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

_HEIGHT = 760  # pixels of the page where no kernel runs


class _Refused(InputError, traitlets.TraitError):
    """A value that a trait does not take. An error of traitlets undoes the whole message."""


class _Checked(traitlets.TraitType[Any, Any]):
    def validate(self, obj: Any, value: Any) -> Any:
        try:
            return _check(str(self.name), value)
        except InputError as error:
            raise _Refused(str(error)) from None


def _check(name: str, value: Any) -> Any:
    if name == "text":
        return check_str(value, "`text`")
    if name == "layer":
        limit = isinstance(value, str) and value == "limit"
        return value if limit else check_int(value, "`layer`", at_least=0)
    parts = {"alpha": 1, name: value}
    read = read_data(value, Dynamics(1)) if name == "tokens" else dynamics_data(Dynamics(**parts))
    # What comes from the page stays as it is, or it would be sent back while the mouse goes on.
    rows = value if isinstance(value, list) else [[]]
    plain = (str, int, float)
    same = all(isinstance(row, list) and {*map(type, row)} <= {*plain} for row in rows)
    return value if isinstance(value, list | str) and same else read[name]


class Explorer(anywidget.AnyWidget):
    """Tokens to drag in a notebook: what the mouse moves, Python sees, and the other way round.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        Where the tokens begin; up to 2,000.
    dynamics : Dynamics, optional
        Step size and metric; by default alpha is 1/2.

    Notes
    -----
    `tokens`, `alpha`, `metric`, `layer` and `text` are traits: read them, set them, or `observe`
    them. Numbers that no float stores exactly are texts such as "1/3", so
    ``limit(explorer.tokens, explorer.dynamics)`` is what is shown. Where no kernel runs, in an
    exported notebook, the page takes the place of the widget.

    Examples
    --------
    >>> from hardmax import Dynamics, Explorer
    >>> explorer = Explorer([[1, 1], [1, -1], ["1/3", 0]], Dynamics(0.1))
    >>> explorer.tokens = [[2, 1], *explorer.tokens[1:]]
    >>> explorer.tokens, explorer.alpha
    ([[2, 1], ['1', '-1'], ['1/3', '0']], '1/10')
    """

    __signature__ = signature(
        lambda tokens, dynamics=None: None
    )  # or help would show *args and **kwargs
    _esm = widget_module()
    _css = style()
    _data = traitlets.Dict().tag(sync=True)
    tokens: Any = _Checked([]).tag(sync=True)
    """Where the tokens begin, a list of lists; array_likes can be assigned."""
    alpha: Any = _Checked("1/2").tag(sync=True)
    """Step size, a text."""
    metric: Any = _Checked(None).tag(sync=True)
    """The matrix A, a list of lists, or None for the identity."""
    layer: Any = _Checked(0).tag(sync=True)
    """The layer that is shown, or "limit"."""
    text: Any = _Checked("").tag(sync=True)
    """The text that is classified, if the widget is one for texts."""

    def __init__(self, tokens: Any, dynamics: Dynamics | None = None) -> None:
        dynamics = Dynamics("1/2") if dynamics is None else check_dynamics(dynamics)
        super().__init__(
            _data={"room": "dynamics"}, **read_data(tokens, check_plain(dynamics, "`Explorer`"))
        )

    @classmethod
    def of_model(cls, model: "TextModel", text: str = "") -> Self:
        """A widget that explains a text while it is typed in a notebook (extra `widget`).

        Parameters
        ----------
        model : TextModel
            The model that classifies.
        text : str, default ""
            The text to begin with.

        Returns
        -------
        Explorer
            The widget.
        """
        from hardmax.text.page import pack

        made = cls([[0.0]])
        made.text = text
        made._data = {"room": "reviews", "models": [pack(model)]}
        return made

    @property
    def dynamics(self) -> Dynamics:
        """Step size and metric, to be read or set."""
        return Dynamics(self.alpha, self.metric)

    @dynamics.setter
    def dynamics(self, dynamics: Dynamics) -> None:
        with self.hold_sync():
            plain = check_plain(check_dynamics(dynamics), "`Explorer`")
            for name, value in plain.to_dict().items():
                setattr(self, name, value)

    def __repr__(self) -> str:
        texts = self._data.get("room") == "reviews"
        about = f"text={shorten(self.text)}" if texts else pluralize(len(self.tokens), "token")
        return f"Explorer({about})"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        rendered = super()._repr_mimebundle_(**options)
        cloud = {name: getattr(self, name) for name in ("tokens", "alpha", "metric")}
        is_text = self._data.get("room") == "reviews"
        shown = {"text": self.text} if is_text else {"cloud": cloud}
        page = escape(render(self._data | shown))
        allowed = (
            'title="hardmax" sandbox="allow-scripts allow-downloads" style="width: 100%; border: 0"'
        )
        frame = f'<iframe srcdoc="{page}" {allowed} height="{_HEIGHT}"></iframe>'
        bundle = rendered[0] if isinstance(rendered, tuple) else rendered
        if bundle is not None:
            bundle["text/html"] = frame
        return rendered
