"""The text classifier: tokens, what they say, and the words that modify them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    check_instance,
    check_int,
    check_path,
    check_real,
    check_str,
    require_extra,
    shorten,
)
from hardmax._tokens.batches import float_array
from hardmax._tokens.rationals import plain, read_number
from hardmax.text._analysis import Analysis, predicted_classes, share_of, weigh_parts
from hardmax.text._kernels_votes import Voting
from hardmax.text._texts import number_of_class, read_texts
from hardmax.text.encoding import find_known, join_parts
from hardmax.text.reading import Modifier, Reader, Reading, make_reading
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
    """A classifier of texts in which words attend to the words that modify them.

    Parameters
    ----------
    vocabulary : Vocabulary
        The tokens that it knows.
    weights : array_like of shape (tokens, rows)
        What each token says; two classes have one row (positive means the second), more have a row
        each; float32.
    bias : array_like of shape (rows,)
        The logits of a text without tokens; float32.
    classes : sequence of str, int, float or bool
        At least two, all different.
    modifiers : sequence of Modifier, optional
        Words that multiply the votes of those after them.
    scope : int, default 4
        A token attends to a modifier at most so many words before it, in the same clause.
    gate : float, default 0.0
        A token is active if its vote is more than this share of the largest in its text; the others
        add nothing.
    alpha : number or str, default "0"
        With two classes, one layer of this step size may take each active token towards the leader
        of its side.
    neutral_weight : int, default 1
        So many silent tokens are added to each text: the more, the more modest are probabilities of
        short texts.
    tokeniser : Tokeniser, optional
        How texts are cut.
    metrics : dict, optional
        What was measured, for the model card: plain data.
    name : str, optional
        Name shown on pages: that of the folder that it was loaded from.

    Notes
    -----
    A text is its distinct known tokens w. Each place of a token attends to the strongest modifier in its scope, else to
    itself; f_w is the mean of their factors (1 for itself). With N silent tokens,

        logit = bias + sum over active tokens w of f_w weight_w / (number of tokens + N),

    and each term of the sum is a *vote*.

    Examples
    --------
    >>> from hardmax.text import Modifier, Vocabulary
    >>> known = Vocabulary(["great", "awful", "boring"], [[0, 9], [9, 0], [9, 1]])
    >>> model = TextModel(vocabulary=known, weights=[[2], [-2], [-1]], bias=[0.0], classes=["negative", "positive"],
    ...                   modifiers=[Modifier("never", -0.5)])
    >>> model.predict(["A great film.", "Awful, awful film!", "It never gets boring."]).tolist()
    ['positive', 'negative', 'positive']
    """

    vocabulary: Vocabulary
    weights: np.ndarray
    bias: np.ndarray
    classes: tuple[str | int | float | bool, ...]
    modifiers: tuple[Modifier, ...] = ()
    scope: int = 4
    gate: float = 0.0
    alpha: Any = "0"
    neutral_weight: int = 1
    tokeniser: Tokeniser = field(default_factory=Tokeniser)
    metrics: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("weights", "bias"):
            array = float_array(getattr(self, name), f"`{name}`", "f4").copy()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "classes", _read_classes(self.classes))
        object.__setattr__(self, "modifiers", self.reader.modifiers)
        object.__setattr__(self, "scope", self.reader.scope)
        self._check()

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
        """Whether each text is decided: one of its tokens is active, and one class is ahead of all
        others.

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
        """Analyse texts: known tokens, votes, leaders, logits, probabilities.

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

    def reading(self, text: str) -> Reading:
        """A text as a cloud of hardmax attention, with the layers that multiply votes.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        Reading
            Its votes, before they are divided by the size of the text, are those that
            `hardmax.simulate` gives.
        """
        words, known = find_known(check_str(text, "`text`"), self.vocabulary, self.tokeniser)
        surfaces = [
            (self.vocabulary.surfaces[number], first, last) for number, first, last in known
        ]
        weights = self.voting.weights[[number for number, _, _ in known]]
        return make_reading(surfaces, weights, words, self.reader)

    # ---------------------------------------------------------------- explanations

    def explain(self, text: str) -> "Explanation":
        """Explain the label of a text: the tokens that lead, and what every token adds to the
        logit.

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
            The label to reach; any other than now if omitted. An undecided text does not count as
            another label.
        keep : sequence of str, optional
            Words, or phrases, that must stay.
        max_evaluations : int, default 20_000
            About how many changed texts may be classified to prove that no smaller set of words is
            enough.

        Returns
        -------
        Flip
            The changes, the label that they lead to, and whether they are proved to be the fewest.
        """
        from hardmax.text.counterfactual import flip

        return flip(
            self, text, replacements=replacements, to=to, keep=keep, max_evaluations=max_evaluations
        )

    def edit(self, changes: Mapping[str, Any]) -> Self:
        """A copy of the model in which some tokens are changed.

        Parameters
        ----------
        changes : dict
            From words or phrases to "forbid" (unknown from then on, a single word also in all
            phrases), a number (its weight; positive for the second of two classes, for more a dict
            from labels to numbers), or "times -1/2" (from then on a modifier of this factor; "times
            1": none). Unknown tokens become known.

        Returns
        -------
        TextModel
            The changes are in `metrics["edited"]`, and on its card.
        """
        from hardmax.text.edit import edit

        return edit(self, changes)

    def keywords(
        self, label: Any, top_k: int = 20, *, min_df: int | None = None
    ) -> "list[Keyword]":
        """The tokens of largest weight for a class.

        Parameters
        ----------
        label : label
            One of `classes`.
        top_k : int, default 20
            At most so many.
        min_df : int, optional
            Leave out tokens that occur in fewer training texts; by default 3.

        Returns
        -------
        list of Keyword
            The heaviest first: it would lead a text that has them all.
        """
        from hardmax.text.interpret import keywords

        return keywords(self, label, top_k, min_df)

    def leaders(self, texts: Any, top_k: int = 20) -> "tuple[Leader, ...]":
        """The tokens that lead most texts.

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
            Task, classes, how the answer is formed, modifiers, the heaviest tokens of each class,
            limitations.
        """
        from hardmax.text.card import describe

        return describe(self, check_int(limit, "`limit`", at_least=500))

    def to_pandas(self) -> "pandas.DataFrame":
        """Table of all tokens: the weight of each for each class, and how many training texts of
        each class have it."""
        require_extra("`to_pandas`", "tables", "pandas")
        import pandas

        scores = self.voting.weights
        names = (
            [str(self.classes[1])] if scores.shape[1] == 1 else [str(name) for name in self.classes]
        )
        columns: dict[str, Any] = {"token": self.vocabulary.surfaces}
        columns |= {f"weight towards {name}": scores[:, row] for row, name in enumerate(names)}
        columns |= {
            f"texts of {name}": self.vocabulary.counts[:, row]
            for row, name in enumerate(self.classes)
        }
        return pandas.DataFrame(columns)

    def plot(
        self,
        label: Any = None,
        *,
        top: int = 10,
        ax: "Axes | None" = None,
        figsize: tuple[float, float] | None = None,
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
        self,
        table: Any,
        *,
        text: str | None = None,
        abstain: float = 0.0,
        on_bad_rows: str = "null",
    ) -> Any:
        """Table with the model's answer to every row, in columns after its own.

        Parameters
        ----------
        table : DataFrame or Table
            Of pandas, polars, pyarrow, or another library that narwhals knows. A polars LazyFrame
            and a Dask DataFrame stay lazy; an Arrow stream, such as a DuckDB relation, becomes a
            `pyarrow.RecordBatchReader`.
        text : str, optional
            Column of the texts; guessed from common names if omitted.
        abstain : float, default 0.0
            Rows with a lower probability are marked in the column `abstain`.
        on_bad_rows : {"null", "skip", "refuse"}, default "null"
            Whether rows without a text get nothing but an `error`, are left out, or raise an error.

        Returns
        -------
        DataFrame or Table
            Of the same kind, with the columns `label`, `decided`, `probability`, `margin` (that
            probability less the next one), `leaders`, `active` tokens, their `votes` and what
            modifiers multiplied these by (`factors`), `abstain` and `error`; names that the table
            already has get the prefix `hardmax_`.
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
        named = ", ".join(str(name) for name in self.classes[:4]) + (
            ", …" if len(self.classes) > 4 else ""
        )
        parts = pluralize(len(self.vocabulary), "token"), pluralize(len(self.modifiers), "modifier")
        return f"TextModel({', '.join(parts)}, classes {named})"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import model_card

        return model_card(self)

    # ---------------------------------------------------------------- how it works inside

    @cached_property
    def reader(self) -> Reader:
        """The modifiers and their scope."""
        return Reader(self.modifiers, self.scope)

    @cached_property
    def voting(self) -> Voting:
        """The model in the arrays that kernels read."""
        weights = (
            self.weights.astype(np.float64) + 0.0
        )  # -0.0 becomes 0.0: the same number must have the same bits
        return Voting(
            weights,
            self.bias.astype(np.float64),
            self.gate,
            share_of(self.alpha),
            self.neutral_weight,
        )

    def _parts(self, texts: Any) -> Iterator[Analysis]:
        return weigh_parts(self, read_texts(texts), few=True)

    def _check(self) -> None:
        """Shapes, finiteness and sizes; raises InputError with one line."""
        check_instance(self.vocabulary, Vocabulary, "`vocabulary`", "a Vocabulary")
        check_instance(self.tokeniser, Tokeniser, "`tokeniser`", "a Tokeniser, such as Tokeniser()")
        check_instance(self.metrics, dict, "`metrics`", "a dict of plain data")
        tokens, classes = len(self.vocabulary), len(self.classes)
        rows = 1 if classes == 2 else classes
        _check_array("weights", self.weights, (tokens, rows))
        _check_array("bias", self.bias, (rows,))
        if self.vocabulary.counts.shape[1] != classes:
            counted = self.vocabulary.counts.shape[1]
            raise InputError(
                f"`vocabulary` counts {counted} classes: expected {classes}, as in `classes`."
            )
        weight = check_int(self.neutral_weight, "`neutral_weight`", at_least=1, at_most=2**31 - 1)
        object.__setattr__(self, "neutral_weight", weight)
        object.__setattr__(self, "gate", check_real(self.gate, "`gate`", at_least=0))
        if self.gate >= 1:
            raise InputError(
                f"`gate` is {self.gate:g}, and no token would be active: expected less than 1."
            )
        alpha = read_number(self.alpha, "`alpha`")
        if alpha < 0 or (alpha and rows > 1):
            expected = "0 with several classes" if rows > 1 else "0 or more"
            raise InputError(f"`alpha` must be {expected}, not {alpha}.", argument="alpha")
        object.__setattr__(self, "alpha", str(alpha))


def _read_classes(classes: Any) -> tuple[str | int | float | bool, ...]:
    expected = "at least two texts, numbers or truth values, all different"
    if isinstance(classes, list | tuple) or (isinstance(classes, np.ndarray) and classes.ndim == 1):
        names = [
            plain(name)
            for name in (classes.tolist() if isinstance(classes, np.ndarray) else classes)
        ]
        are_plain = all(isinstance(name, str | int | float) and name == name for name in names)
        if are_plain and len(set(names)) == len(names) >= 2:
            return tuple(names)
    raise InputError(f"`classes` must be {expected}, not {shorten(classes)}.")


def _check_array(name: str, value: np.ndarray, shape: tuple[int, ...]) -> None:
    if value.shape != shape:
        raise InputError(f"`{name}` has shape {shorten(value.shape)}: expected {shape}.")
    if not np.isfinite(value).all():
        place = tuple(np.argwhere(~np.isfinite(value))[0].tolist())
        raise InputError(
            f"`{name}` is {value[place]} at {place}: expected finite numbers. Train again."
        )
