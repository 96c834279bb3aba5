"""The text classifier: tokens, their weights, and the words that modify them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax import __version__, figures
from hardmax._common.cached import cached_property
from hardmax._common.format import first_few, pluralize
from hardmax._common.validation import (
    InputError,
    check_instance,
    check_path,
    require_extra,
    shorten,
)
from hardmax._tokens.batches import float_array
from hardmax._tokens.rationals import plain
from hardmax.text._analysis import Analysis, kept_share, weigh_parts
from hardmax.text._kernels_votes import Voting
from hardmax.text._texts import SURROGATES, number_of_class, read_texts
from hardmax.text.counterfactual import Flip, flip
from hardmax.text.edit import edit
from hardmax.text.encoding import join_parts
from hardmax.text.explain import Explanation, Label, explain
from hardmax.text.interpret import Keyword, keywords
from hardmax.text.reading import Modifier, Reader, VotingRule
from hardmax.text.storage import hash_model, write_model
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hardmax.text.overview import Dashboard


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TextModel:
    """A classifier of texts in which words attend to the words that modify them.

    Parameters
    ----------
    vocabulary : Vocabulary
        The tokens that it knows.
    weights : array_like of shape (tokens, rows)
        Weight of each token; two classes have one row (positive means the second), more have a row
        each; float32.
    bias : array_like of shape (rows,)
        The logits of a text in which nothing votes; float32. Training makes them those of the
        classes' shares of the texts.
    classes : sequence of str, int, float or bool
        At least two, all different.
    modifiers : sequence of Modifier, optional
        Words that change the votes of those after them.
    rule : VotingRule, optional
        Scope of modifiers, gate, step size and neutral weight.
    tokeniser : Tokeniser, optional
        How texts are cut.
    metrics : dict, optional
        What was measured, for the model card: plain data.
    name : str, optional
        Name shown on pages: that of the folder that it was loaded from.

    Notes
    -----
    A text is its distinct known tokens w. Each place of a token attends to the strongest modifier
    in its scope, else to itself; f_w and s_w are the means of their factors and shifts (1 and 0 for
    itself). With N silent tokens,

        logit = bias + sum over active tokens w of (f_w weight_w + s_w) / (number of tokens + N),

    and each term of the sum is a *vote*.

    Examples
    --------
    >>> from hardmax.text import Modifier, Vocabulary
    >>> known = Vocabulary(["great", "awful", "boring"], [[0, 9], [9, 0], [9, 1]])
    >>> model = TextModel(vocabulary=known, weights=[[2], [-2], [-1]], bias=[0.0],
    ...                   classes=["negative", "positive"], modifiers=[Modifier("never", -0.5)])
    >>> model.predict(["A great film.", "Awful, awful film!", "It never gets boring."]).tolist()
    ['positive', 'negative', 'positive']
    """

    vocabulary: Vocabulary
    weights: np.ndarray
    bias: np.ndarray
    classes: tuple[Label, ...]
    modifiers: tuple[Modifier, ...] = ()
    rule: VotingRule = field(default_factory=VotingRule)
    tokeniser: Tokeniser = field(default_factory=Tokeniser)
    metrics: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("weights", "bias"):
            array = float_array(getattr(self, name), f"`{name}`", "f4").copy()
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "classes", _read_classes(self.classes))
        self._check()
        object.__setattr__(self, "modifiers", self._reader.modifiers)

    # ---------------------------------------------------------------- answers

    def predict(self, texts: Any) -> np.ndarray:
        """The most probable class of each text; the first of several that are equally probable.

        Parameters
        ----------
        texts : sequence of str
            A list, an array, a column of a table, or an Arrow array.

        Returns
        -------
        ndarray of shape (texts,)
            Members of `classes`.
        """
        numbers = np.concatenate([part.predicted for part in self._parts(texts)])
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

    # ---------------------------------------------------------------- explanations

    def explain(self, text: str) -> Explanation:
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
        return explain(self, text)

    def flip(
        self,
        text: str,
        *,
        replacements: Sequence[str] | None = None,
        to: Label | None = None,
        protected: Sequence[str] = (),
    ) -> Flip:
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
        protected : sequence of str, optional
            Words, or phrases, that must stay.

        Returns
        -------
        Flip
            The changes, the label that they lead to, and whether they are proved to be the fewest.
            If none leads to another label, those after which the text is undecided (`lost`).
        """
        return flip(self, text, replacements, to, protected)

    def edit(self, changes: Mapping[str, Any], *, add: bool = False) -> "TextModel":
        """A copy of the model in which some tokens are changed.

        Parameters
        ----------
        changes : dict
            From words or phrases to "forbid" (unknown from then on, a single word also in all
            phrases), or a number (its weight; positive for the second of two classes, for more a
            dict from labels to numbers). A vote is the weight divided by the number of known tokens
            plus the neutral weight; the ledger of an explanation has votes.
        add : bool, default False
            Whether a number may be for a token that the model does not know, which it then knows;
            if not, that is an error, which names tokens that are spelt alike.

        Returns
        -------
        TextModel
            The changes are in `metrics["edited_after_measuring"]`, and on its card.
        """
        return edit(self, changes, add)

    def keywords(self, label: Any, top_k: int = 20) -> list[Keyword]:
        """The tokens of largest weight for a class, of those that three training texts have.

        Parameters
        ----------
        label : label
            One of `classes`.
        top_k : int, default 20
            The largest number of them.

        Returns
        -------
        list of Keyword
            The heaviest first: it would lead a text that has them all.
        """
        return keywords(self, label, top_k)

    def plot(self, label: Any = None, *, top: int = 10, ax: "Axes | None" = None) -> "Axes":
        """Draw the heaviest tokens of each class as bars (extra `figures`).

        Parameters
        ----------
        label : a class, optional
            Draw the tokens of this class alone.
        top : int, default 10
            Number of tokens for each class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        only = None if label is None else [number_of_class(label, self.classes, "`label`")]
        return figures.plot_weights(self, top, only, ax)

    def show(
        self, table: Any = None, *, text: str | None = None, label: str | None = None
    ) -> "Dashboard":
        """Show the whole model on one page: any word, its vote and what modifies it (extra
        `tables`).

        Parameters
        ----------
        table : DataFrame or Table, optional
            Texts, as `score_table` takes them. The page then has those in which a word counts most,
            and the answers by slices: the values of every column.
        text, label : str, optional
            Columns of the texts, guessed from common names if omitted, and of their classes. With
            labels the page has accuracy and calibration.

        Returns
        -------
        Dashboard
            Displays itself in a notebook; `save(path)` writes the page. It contains the vocabulary,
            and parts of the texts.
        """
        from hardmax.text.overview import Dashboard

        return Dashboard(self, table, text, label)

    def score_table(
        self,
        table: Any,
        *,
        text: str | None = None,
        votes: bool = False,
        on_bad_rows: str = "null",
    ) -> Any:
        """Table with the model's answer to every row, in columns after its own.

        Parameters
        ----------
        table : DataFrame or Table
            Of pandas, polars, pyarrow, or another library that narwhals knows.
        text : str, optional
            Column of the texts; guessed from common names if omitted.
        votes : bool, default False
            Also what each active token adds to the logit, which takes longer.
        on_bad_rows : {"null", "refuse"}, default "null"
            Whether rows without a text get nothing but an `error`, or raise an error.

        Returns
        -------
        DataFrame or Table
            Of the same kind, with the columns `label`, `decided`, `probability` and `error`; with
            `votes` also the `leaders`, the `active` tokens, their `votes` and the modifiers that
            they attend to (`attends_to`). Names that the table already has get the prefix
            `hardmax_`.
        """
        require_extra("`score_table`", "tables", "pyarrow", "narwhals")
        from hardmax.text.scoring import score_table

        return score_table(self, table, text, votes, on_bad_rows)

    # ---------------------------------------------------------------- folders

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder, whole or not at all; a model that is there is replaced.

        Parameters
        ----------
        folder : path
            A new or empty folder, or one with a model. Other files beside that model stay.
        """
        write_model(self, check_path(folder, "`folder`"))

    @cached_property
    def _digest(self) -> str:
        """SHA-256 of the files that decide its answers."""
        return hash_model(self)

    @property
    def _made_by(self) -> dict[str, str]:
        """What JSON says of the model that made it."""
        return {"hardmax": __version__, "model": self.name, "model_sha256": self._digest}

    def __repr__(self) -> str:
        named = first_few(map(str, self.classes), 4)
        tokens = pluralize(len(self.vocabulary), "token")
        modifiers = pluralize(len(self.modifiers), "modifier")
        return f"TextModel({tokens}, {modifiers}, classes {named})"

    # ---------------------------------------------------------------- how it works inside

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.modifiers, self.rule.scope)

    @cached_property
    def _voting(self) -> Voting:
        """The model in the arrays that kernels read."""
        # -0.0 becomes 0.0: the same number must have the same bits.
        weights, bias = self.weights.astype(float) + 0.0, self.bias.astype(float)
        rule = self.rule
        return Voting(weights, bias, rule.gate, kept_share(rule.alpha), rule.neutral_weight)

    def _parts(self, texts: Any) -> Iterator[Analysis]:
        return weigh_parts(self, read_texts(texts), few=True)

    def _check(self) -> None:
        """Shapes, finiteness and sizes; raises InputError with one line."""
        check_instance(self.vocabulary, Vocabulary, "`vocabulary`", "a Vocabulary")
        check_instance(self.tokeniser, Tokeniser, "`tokeniser`", "a Tokeniser, such as Tokeniser()")
        check_instance(
            self.rule, VotingRule, "`rule`", "a VotingRule, such as VotingRule(gate=0.1)"
        )
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
        if rows > 1 and any(modifier.shift for modifier in self._reader.modifiers):
            raise InputError("`modifiers`: with several classes each `shift` must be 0.")
        if rows > 1 and self.rule.alpha != "0":
            raise InputError(f"`alpha` must be 0 with several classes, not {self.rule.alpha}.")


def _read_classes(classes: Any) -> tuple[Label, ...]:
    if isinstance(classes, np.ndarray) and classes.ndim == 1:
        classes = classes.tolist()
    if isinstance(classes, list | tuple):
        names = [plain(name) for name in classes]
        are_plain = all(isinstance(name, str | int | float) and name == name for name in names)
        for half in filter(SURROGATES.search, filter(lambda name: isinstance(name, str), names)):
            raise InputError(f"`classes` has half a character: rename {shorten(half)}.")
        if are_plain and len(set(names)) == len(names) >= 2:
            return tuple(names)
    expected = "at least two texts, numbers or truth values, all different"
    raise InputError(f"`classes` must be {expected}, not {shorten(classes)}.")


def _check_array(name: str, value: np.ndarray, shape: tuple[int, ...]) -> None:
    if value.shape != shape:
        raise InputError(f"`{name}` has shape {shorten(value.shape)}: expected {shape}.")
    if not np.isfinite(value).all():
        place = tuple(np.argwhere(~np.isfinite(value))[0].tolist())
        raise InputError(
            f"`{name}` is {value[place]} at {place}: expected finite numbers. Train again."
        )
