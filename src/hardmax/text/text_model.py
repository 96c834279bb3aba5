"""The classifier that people have: a model that explains itself, and is kept in folders and on the Hub."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hardmax._format import pluralize
from hardmax._validation import check_bool, check_path, check_str, require_extra
from hardmax.text.model.model import Model
from hardmax.text.wording import format_layers

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from hardmax.text.counterfactual import Flip
    from hardmax.text.edit import Changed
    from hardmax.text.explain import Explanation, Label
    from hardmax.text.knowing.statistics import LeaderStatistics
    from hardmax.text.knowing.words import Keyword, Neighbour


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TextModel(Model):
    """A classifier of texts.

    The distinct known words of a text, with multiplicities (or once each), and the extra token, if there is one, are a
    cloud. It goes through `layers` layers of the dynamics; the mean of its points is `sum of mass_w z_w`, and

        logit = (bias + sum over words of mass_w <decoder, z_w>) / temperature.

    Two classes have one row of the decoder (a positive logit means the second class), more have a row each.

    >>> from hardmax.text import Vocabulary
    >>> known = Vocabulary(["great", "awful", "film"], [[0, 9], [9, 0], [9, 9]])
    >>> model = TextModel(vocabulary=known, embeddings=[[2, 0], [-2, 0.5], [0.1, 0.1]], decoder=[[1, 0]], bias=[0.0],
    ...                   classes=["negative", "positive"], layers=8)
    >>> model.predict(["A great film.", "Awful, awful film!"]).tolist()
    ['positive', 'negative']
    """

    def explain(self, text: str) -> "Explanation":
        """Explain the label of a text: the tokens that lead, and what every token adds to the logit.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        Explanation
            Its numbers are those of `predict_proba`, to the bit.
        """
        from hardmax.text.explain import explain

        return explain(self, text)

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
            About how many changed texts may be classified to prove that no smaller set of words does it.

        Returns
        -------
        Flip
            The changes, the label that they lead to, and whether they are proved to be the fewest.
        """
        from hardmax.text.counterfactual import flip

        return flip(self, text, replacements=replacements, to=to, keep=keep, max_evaluations=max_evaluations)

    def edit(self, changes: Mapping[str, Any]) -> Self:
        """A copy of the model in which some tokens are changed; `compare` shows which answers change.

        Parameters
        ----------
        changes : dict
            From words or phrases to "forbid" (unknown from then on, a single word also in all phrases), a number (its
            weight, in logits of a text of this token alone; positive for the second of two classes, for more a dict
            from labels to numbers), or its vector. Unknown tokens become known.

        Returns
        -------
        TextModel
            The changes are in `metrics["edited"]`, and on its card.
        """
        from hardmax.text.edit import edit

        return edit(self, changes)

    def compare(self, other: Model, texts: Any) -> "list[Changed]":
        """Compare the answers of this model and another one; "undecided" is an answer.

        Parameters
        ----------
        other : TextModel
            A model of the same classes, such as one made by `edit`.
        texts : sequence of str
            What both are asked about.

        Returns
        -------
        list of Changed
            The texts with another answer, with the tokens whose votes differ.
        """
        from hardmax.text.edit import compare

        return compare(self, other, texts)

    def keywords(self, label: Any, first: int = 20, *, fewest_texts: int = 1) -> "list[Keyword]":
        """The words that say most for a class, those furthest out first."""
        from hardmax.text.knowing.words import keywords

        return keywords(self, label, first, fewest_texts=fewest_texts)

    def neighbours(self, word: str, first: int = 10) -> "list[Neighbour]":
        """The words that stand nearest to a word, by direction."""
        from hardmax.text.knowing.words import neighbours

        return neighbours(self, word, first)

    def to_pandas(self) -> "pandas.DataFrame":
        """Table of all tokens: what each says for each class, and how many training texts of each class have it."""
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
        from hardmax.text.labels import number_of_class

        only = None if label is None else [number_of_class(label, self.classes, "`label`")]
        return plot_weights(self, top, only=only, ax=ax, figsize=figsize)

    def leader_statistics(self, texts: Any) -> "LeaderStatistics":
        """How many leaders texts have, their share of the words, and which words lead how often; see
        `LeaderStatistics`, which draws itself."""
        from hardmax.text.knowing.statistics import leader_statistics

        return leader_statistics(self, texts)

    def score_table(
        self, table: Any, *, text: str | None = None, abstain: float = 0.0, on_bad_rows: str = "null"
    ) -> Any:
        """Table with the model's answer to every row, in columns after its own.

        Parameters
        ----------
        table : DataFrame or Table
            Of pandas, polars, pyarrow, or another library that narwhals knows.
        text : str, optional
            Column of the texts; by default, usual names are looked for.
        abstain : float, default 0.0
            Rows whose probability is below are marked in the column `abstain`.
        on_bad_rows : {"null", "skip", "refuse"}, default "null"
            Rows without a text have nothing but an `error`, are left out, or refused.

        Returns
        -------
        DataFrame or Table
            Of the same kind, with the columns `label`, `decided`, `probability`, `margin` (that probability less the
            next one), `leaders`, `counting` (active tokens), their `votes`, `abstain` and `error`; a name that the
            table has gets the prefix `hardmax_`.
        """
        require_extra("`score_table`", "tables", "pyarrow", "narwhals")
        from hardmax.text.scoring import ScoreOptions, score_table

        return score_table(self, table, ScoreOptions(text, abstain, on_bad_rows))

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder, whole or not at all; a model that is there is replaced."""
        from hardmax.text.files.folder import write_model

        write_model(self, check_path(folder, "`folder`"))

    save_pretrained = save

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model from a folder, with every check."""
        from hardmax.text.files.folder import read_model

        return read_model(check_path(folder, "`folder`"), cls)

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | Path, *, download: bool = False, revision: str | None = None, token: str | None = None
    ) -> Self:
        """A model from a folder, one that is shipped, or, with `download`, one from the Hub (`owner/name`).

        Of the Hub's a `revision` (a branch, a tag or a commit) can be named, and a `token` for what is private.
        """
        from hardmax.text.files.folder import read_model
        from hardmax.text.files.hub import find_or_fetch

        path, fetch = check_path(name_or_path, "`name_or_path`"), check_bool(download, "`download`")
        return read_model(find_or_fetch(path, fetch, *_of_the_hub(revision, token)), cls)

    def push_to_hub(
        self, repository: str, *, private: bool = True, revision: str | None = None, token: str | None = None
    ) -> str:
        """Upload the model to the Hub as `owner/name`, to a branch if one is named; gives back its address."""
        from hardmax.text.files.hub import push

        name, hidden = check_str(repository, "`repository`"), check_bool(private, "`private`")
        return push(self, name, hidden, *_of_the_hub(revision, token))

    def __repr__(self) -> str:
        named = ", ".join(str(name) for name in self.classes[:4]) + (", …" if len(self.classes) > 4 else "")
        return (
            f"TextModel({pluralize(len(self.vocabulary), 'token')} in {pluralize(self.dimension, 'dimension')}, "
            f"{format_layers(self.layers)}, "
            f"alpha {self.alpha}, classes {named})"
        )

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import model_card

        return model_card(self)


def _of_the_hub(revision: str | None, token: str | None) -> tuple[str | None, str | None]:
    asked = ((revision, "`revision`"), (token, "`token`"))
    first, second = (None if value is None else check_str(value, name) for value, name in asked)
    return first, second
