"""The text classifier: tokens, their vectors, the layers, and a line that decides."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hardmax._cached import cached_property
from hardmax._format import pluralize
from hardmax._tokens.batches import float_array
from hardmax._tokens.rationals import plain
from hardmax._validation import (
    InputError,
    check_bool,
    check_instance,
    check_int,
    check_path,
    check_real,
    require_extra,
    shorten,
)
from hardmax.dynamics import Dynamics
from hardmax.text._analysis import DEEPEST, Analysis, Prepared, predicted_classes, weigh
from hardmax.text._format import format_layers
from hardmax.text._texts import number_of_class, read_texts
from hardmax.text.encoding import encode_parts, join_parts
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from hardmax.explorer import Explorer
    from hardmax.text.counterfactual import Flip
    from hardmax.text.explain import Explanation, Label
    from hardmax.text.interpret import Keyword, Leader


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TextModel:
    """A classifier of texts by hardmax attention.

    Parameters
    ----------
    vocabulary : Vocabulary
        The tokens that it knows.
    embeddings : array_like of shape (tokens, d)
        Where each token starts; float32.
    decoder : array_like of shape (rows, d)
        Two classes have one row (a positive logit means the second class), more have a row each; float32.
    bias : array_like of shape (rows,)
        The logits of a text without tokens; float32.
    classes : sequence of str, int, float or bool
        At least two, all different.
    layers : int or math.inf
        The depth; of infinitely many layers every token goes all the way to its leader.
    alpha : number or str, default "1"
        The step size; fractions such as "1/2" are exact.
    metric : array_like of shape (d, d), optional
        Symmetric positive definite; the identity by default.
    extra : array_like of shape (d,), optional
        A token that every text has. If it scores the same for every class, it is a neutral leader:
        tokens that follow it add nothing, the others are *active*.
    gate : float, optional
        A token is active if its strength, its largest absolute coordinate, is more than this share of the largest in
        its text; the others start at `extra / 2` and follow the extra token. By default all start at their embeddings.
    neutral_weight : int, default 1
        How many tokens the extra token weighs in the mean: short texts get modest probabilities.
    temperature : float, default 1.0
        Logits are divided by it.
    binary : bool, default False
        Whether a token counts once, however often it occurs in a text.
    tokeniser : Tokeniser, optional
        How texts are cut.
    metrics : dict, optional
        What was measured, for the model card: plain data.
    name : str, optional
        Name shown on pages: that of the folder that it was loaded from.

    Notes
    -----
    The distinct known tokens of a text, each as often as it is there (or once), and the extra token are a cloud. It
    goes through `layers` layers of the dynamics; the mean of its points is `sum of mass_w z_w`, and

        logit = (bias + sum over tokens w of mass_w <decoder, z_w>) / temperature.

    Examples
    --------
    >>> from hardmax.text import Vocabulary
    >>> known = Vocabulary(["great", "awful", "film"], [[0, 9], [9, 0], [9, 9]])
    >>> model = TextModel(vocabulary=known, embeddings=[[2, 0], [-2, 0.5], [0.1, 0.1]], decoder=[[1, 0]], bias=[0.0],
    ...                   classes=["negative", "positive"], layers=8)
    >>> model.predict(["A great film.", "Awful, awful film!"]).tolist()
    ['positive', 'negative']
    """

    vocabulary: Vocabulary
    embeddings: np.ndarray
    decoder: np.ndarray
    bias: np.ndarray
    classes: tuple[str | int | float | bool, ...]
    layers: int | float
    alpha: Any = "1"
    metric: np.ndarray | None = None
    extra: np.ndarray | None = None
    gate: float | None = None
    neutral_weight: int = 1
    temperature: float = 1.0
    binary: bool = False
    tokeniser: Tokeniser = field(default_factory=Tokeniser)
    metrics: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        for name, dtype in (("embeddings", "f4"), ("decoder", "f4"), ("bias", "f4"), ("extra", "f4"), ("metric", "f8")):
            value = getattr(self, name)
            if value is not None or name not in ("extra", "metric"):
                array = float_array(value, f"`{name}`", dtype).copy()
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        object.__setattr__(self, "classes", _read_classes(self.classes))
        self._check()
        object.__setattr__(self, "alpha", str(self.dynamics.alpha))

    # ---------------------------------------------------------------- answers

    def predict(self, texts: Any) -> np.ndarray:
        """The most probable class of each text; the most frequent class if it is undecided.

        Parameters
        ----------
        texts : sequence of str
            A list, an array, a column of a table, or an Arrow array.

        Returns
        -------
        ndarray of shape (texts,)
            Members of `classes`.
        """
        numbers = np.concatenate([predicted_classes(self, part) for part in self._parts(texts)])
        return np.array(self.classes)[numbers]

    def predict_proba(self, texts: Any) -> np.ndarray:
        """The probabilities of the classes. Those of a text depend on that text alone, bit for bit.

        Parameters
        ----------
        texts : sequence of str
            As in `predict`.

        Returns
        -------
        ndarray of shape (texts, classes)
            Each row adds up to 1.
        """
        return np.concatenate([part.probabilities for part in self._parts(texts)])

    def decision_function(self, texts: Any) -> np.ndarray:
        """The logits.

        Parameters
        ----------
        texts : sequence of str
            As in `predict`.

        Returns
        -------
        ndarray
            Of shape (texts,) for two classes, positive for the second; else (texts, classes).
        """
        logits = np.concatenate([part.logits for part in self._parts(texts)])
        return logits[:, 0] if len(self.bias) == 1 else logits

    def decided(self, texts: Any) -> np.ndarray:
        """Whether each text is decided: one of its tokens is active, and one class is ahead of all others.

        Parameters
        ----------
        texts : sequence of str
            As in `predict`.

        Returns
        -------
        ndarray of bool, of shape (texts,)
            False: `predict` returns the most frequent class.
        """
        return np.concatenate([part.decided for part in self._parts(texts)])

    def analyse(self, texts: Any) -> Analysis:
        """Analyse texts: known tokens, masses, leaders, logits, probabilities.

        Parameters
        ----------
        texts : sequence of str
            As in `predict`.

        Returns
        -------
        Analysis
            Arrays over all tokens of all texts.
        """
        return join_parts(list(self._parts(texts)))

    # ---------------------------------------------------------------- explanations

    def explain(self, text: str) -> "Explanation":
        """Explain the label of a text: the tokens that lead, and what every token adds to the logit.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        Explanation
            Its numbers are those of `predict_proba`, bit for bit.
        """
        from hardmax.text.explain import explain

        return explain(self, text)

    def explorer(self, text: str = "") -> "Explorer":
        """A widget that explains a text while it is typed in a notebook (extra `widget`).

        Parameters
        ----------
        text : str, default ""
            The text to begin with.

        Returns
        -------
        Explorer
            The widget; `explorer.text` is the text, to be read or set.
        """
        from hardmax.explorer import Explorer

        return Explorer.of_model(self, text)

    def flip(
        self,
        text: str,
        *,
        replacements: Sequence[str] | None = None,
        to: "Label | None" = None,
        keep: Sequence[str] = (),
        max_evaluations: int = 20_000,
    ) -> "Flip":
        """Find a counterfactual: the fewest words to remove, or to replace, for another label.

        Parameters
        ----------
        text : str
            The text. If it is undecided, there is no label to flip.
        replacements : sequence of str, optional
            Words to put in the place of others; if omitted, words are removed.
        to : label, optional
            The label to reach; any other than now if omitted. An undecided text does not count as another label.
        keep : sequence of str, optional
            Words, or phrases, that must stay.
        max_evaluations : int, default 20_000
            About how many changed texts may be classified to prove that no smaller set of words is enough.

        Returns
        -------
        Flip
            The changes, the label that they lead to, and whether they are proved to be the fewest.
        """
        from hardmax.text.counterfactual import flip

        return flip(self, text, replacements=replacements, to=to, keep=keep, max_evaluations=max_evaluations)

    def edit(self, changes: Mapping[str, Any]) -> Self:
        """A copy of the model in which some tokens are changed.

        Parameters
        ----------
        changes : dict
            From words or phrases to "forbid" (unknown from then on, a single word also in all phrases), or a number
            (its weight, in logits of a text of this token alone; positive for the second of two classes, for more a
            dict from labels to numbers). Unknown tokens become known.

        Returns
        -------
        TextModel
            The changes are in `metrics["edited"]`, and on its card.
        """
        from hardmax.text.edit import edit

        return edit(self, changes)

    def keywords(self, label: Any, top_k: int = 20, *, min_df: int = 1) -> "list[Keyword]":
        """The tokens of largest weight for a class.

        Parameters
        ----------
        label : label
            One of `classes`.
        top_k : int, default 20
            At most so many.
        min_df : int, default 1
            Leave out tokens that occur in fewer training texts.

        Returns
        -------
        list of Keyword
            The heaviest first: it would lead a text that has them all.
        """
        from hardmax.text.interpret import keywords

        return keywords(self, label, top_k, min_df)

    def leaders(self, texts: Any, top_k: int = 20) -> "tuple[Leader, ...]":
        """The tokens that lead most texts; a neutral leader is not among them.

        Parameters
        ----------
        texts : sequence of str
            As in `predict`.
        top_k : int, default 20
            At most so many.

        Returns
        -------
        tuple of Leader
            The most frequent first; among equals, by the alphabet.
        """
        from hardmax.text.interpret import frequent_leaders

        return frequent_leaders(self, self.analyse(texts), check_int(top_k, "`top_k`", at_least=0))

    def describe(self, limit: int = 2000) -> str:
        """The model as a short text that a person or a language model can read.

        Parameters
        ----------
        limit : int, default 2000
            At most so many characters; at least 500.

        Returns
        -------
        str
            Task, classes, how the answer is formed, gate, layers, the heaviest tokens of each class, limitations.
        """
        from hardmax.text.card import describe

        return describe(self, check_int(limit, "`limit`", at_least=500))

    def to_pandas(self) -> "pandas.DataFrame":
        """Table of all tokens: the weight of each for each class, and how many training texts of each class have it."""
        require_extra("`to_pandas`", "tables", "pandas")
        import pandas

        scores = self.prepared.scores[: len(self.vocabulary)]
        names = [str(self.classes[1])] if scores.shape[1] == 1 else [str(name) for name in self.classes]
        columns: dict[str, Any] = {"token": self.vocabulary.surfaces}
        columns |= {f"weight towards {name}": scores[:, row] for row, name in enumerate(names)}
        columns |= {f"texts of {name}": self.vocabulary.counts[:, row] for row, name in enumerate(self.classes)}
        return pandas.DataFrame(columns)

    def plot(
        self, label: Any = None, *, top: int = 10, ax: "Axes | None" = None, figsize: tuple[float, float] | None = None
    ) -> "Axes":
        """Draw the heaviest tokens of each class as bars (extra `figures`).

        Parameters
        ----------
        label : a class, optional
            Draw the tokens of this class alone.
        top : int, default 10
            Number of tokens for each class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        figsize : tuple of float, optional
            Size of the new figure, in inches.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        from hardmax.figures.charts import plot_weights

        only = None if label is None else [number_of_class(label, self.classes, "`label`")]
        return plot_weights(self, top, only=only, ax=ax, figsize=figsize)

    def score_table(
        self, table: Any, *, text: str | None = None, abstain: float = 0.0, on_bad_rows: str = "null"
    ) -> Any:
        """Table with the model's answer to every row, in columns after its own.

        Parameters
        ----------
        table : DataFrame or Table
            Of pandas, polars, pyarrow, or another library that narwhals knows. A polars LazyFrame and a Dask DataFrame
            stay lazy; an Arrow stream, such as a DuckDB relation, becomes a `pyarrow.RecordBatchReader`.
        text : str, optional
            Column of the texts; guessed from common names if omitted.
        abstain : float, default 0.0
            Rows with a lower probability are marked in the column `abstain`.
        on_bad_rows : {"null", "skip", "refuse"}, default "null"
            Whether rows without a text get nothing but an `error`, are left out, or raise an error.

        Returns
        -------
        DataFrame or Table
            Of the same kind, with the columns `label`, `decided`, `probability`, `margin` (that probability less the
            next one), `leaders`, `active` tokens, their `votes`, `abstain` and `error`; names that the table already
            has get the prefix `hardmax_`.
        """
        require_extra("`score_table`", "tables", "pyarrow", "narwhals")
        from hardmax.text.scoring import ScoreOptions, score_table

        return score_table(self, table, ScoreOptions(text, abstain, on_bad_rows))

    # ---------------------------------------------------------------- folders

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder, whole or not at all; a model that is there is replaced.

        Parameters
        ----------
        folder : path
            A new or empty folder, or one with a model. Other files beside that model stay.
        """
        from hardmax.text.storage import write_model

        write_model(self, check_path(folder, "`folder`"))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model from a folder, and check it.

        Parameters
        ----------
        folder : path
            What `save` wrote.

        Returns
        -------
        TextModel
            The same model, bit for bit.
        """
        from hardmax.text.storage import read_model

        return read_model(check_path(folder, "`folder`"), cls)

    def __repr__(self) -> str:
        named = ", ".join(str(name) for name in self.classes[:4]) + (", …" if len(self.classes) > 4 else "")
        return (
            f"TextModel({pluralize(len(self.vocabulary), 'token')} in {pluralize(self.dimension, 'dimension')}, "
            f"{format_layers(self.layers)}, alpha {self.alpha}, classes {named})"
        )

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import model_card

        return model_card(self)

    # ---------------------------------------------------------------- how it works inside

    @property
    def dimension(self) -> int:
        """The number of coordinates of a token."""
        return self.embeddings.shape[1]

    @cached_property
    def dynamics(self) -> Dynamics:
        """The parameters of a layer."""
        return Dynamics(self.alpha, self.metric).check_definite()

    @property
    def has_neutral(self) -> bool:
        """Whether the extra token is a neutral leader: it scores the same for every class (two classes: exactly 0)."""
        return self.prepared.has_neutral

    @cached_property
    def prepared(self) -> Prepared:
        """The model in the arrays that kernels read."""
        return Prepared(self)

    def _parts(self, texts: Any) -> Iterator[Analysis]:
        given = read_texts(texts)
        for found in encode_parts(given, self.vocabulary, self.tokeniser, self.prepared.extra, few=True):
            yield weigh(found, self.prepared)

    def _check(self) -> None:
        """Shapes, finiteness and sizes; raises InputError with one line."""
        check_instance(self.vocabulary, Vocabulary, "`vocabulary`", "a Vocabulary")
        check_instance(self.tokeniser, Tokeniser, "`tokeniser`", "a Tokeniser, such as Tokeniser()")
        check_instance(self.metrics, dict, "`metrics`", "a dict of plain data")
        tokens, classes = len(self.vocabulary), len(self.classes)
        if self.embeddings.ndim != 2 or len(self.embeddings) != tokens or self.embeddings.shape[1] < 1:
            shape = f"({tokens}, d), a row for each token of the vocabulary"
            raise InputError(f"`embeddings` has shape {shorten(self.embeddings.shape)}: expected {shape}.")
        d, rows = self.embeddings.shape[1], 1 if classes == 2 else classes
        shapes = {"embeddings": (tokens, d), "decoder": (rows, d), "bias": (rows,), "extra": (d,), "metric": (d, d)}
        for name, shape in shapes.items():
            _check_array(name, getattr(self, name), shape)
        if self.vocabulary.counts.shape[1] != classes:
            counted = self.vocabulary.counts.shape[1]
            raise InputError(f"`vocabulary` counts {counted} classes: expected {classes}, as in `classes`.")
        object.__setattr__(self, "temperature", check_real(self.temperature, "`temperature`", above=0))
        check_bool(self.binary, "`binary`")
        weight = check_int(self.neutral_weight, "`neutral_weight`", at_least=1, at_most=2**31 - 1)
        object.__setattr__(self, "neutral_weight", weight)
        if self.gate is not None:
            object.__setattr__(self, "gate", check_real(self.gate, "`gate`", at_least=0))
            if self.gate >= 1:
                raise InputError(f"`gate` is {self.gate:g}, and no token would be active: expected less than 1.")
        if self.extra is None and (self.gate is not None or self.neutral_weight != 1):
            raise InputError("`gate` and `neutral_weight` need an extra token: give `extra`.")
        object.__setattr__(self, "layers", _read_layers(self.layers))
        self.dynamics.check_dimension(d)  # alpha and the metric are checked when it is made


def _read_layers(layers: Any) -> int | float:
    """A number of layers, or `math.inf`, which is "inf" in files."""
    if (isinstance(layers, str) and layers == "inf") or (isinstance(layers, float | np.floating) and layers == np.inf):
        return math.inf
    try:
        return check_int(layers, "`layers`", at_least=0, at_most=DEEPEST)
    except InputError:
        expected = f"a whole number from 0 to {DEEPEST}, or math.inf"
        raise InputError(f"`layers` must be {expected}, not {shorten(layers)}.", argument="layers") from None


def _read_classes(classes: Any) -> tuple[str | int | float | bool, ...]:
    expected = "at least two texts, numbers or truth values, all different"
    if isinstance(classes, list | tuple) or (isinstance(classes, np.ndarray) and classes.ndim == 1):
        names = [plain(name) for name in (classes.tolist() if isinstance(classes, np.ndarray) else classes)]
        are_plain = all(isinstance(name, str | int | float) and name == name for name in names)
        if are_plain and len(set(names)) == len(names) >= 2:
            return tuple(names)
    raise InputError(f"`classes` must be {expected}, not {shorten(classes)}.")


def _check_array(name: str, value: np.ndarray | None, shape: tuple[int, ...]) -> None:
    if value is None:
        return
    if value.shape != shape:
        raise InputError(f"`{name}` has shape {shorten(value.shape)}: expected {shape}.")
    if not np.isfinite(value).all():
        place = tuple(np.argwhere(~np.isfinite(value))[0].tolist())
        raise InputError(f"`{name}` is {value[place]} at {place}: expected finite numbers. Train again.")
