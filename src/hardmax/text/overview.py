"""A model and the texts of a table: the answers by slices, what each word does, what differs from
another model or table, and all of it on one page, `page.html` with `dashboard.js`.

With the bias, the mean votes of all tokens add up to the mean logit. So what changes a mean logit
is the bias and, word by word, the change of these votes."""

import base64
import gzip
import html
import json
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.validation import (
    InputError,
    MissingExtra,
    check_instance,
    check_int,
    check_path,
    shorten,
)
from hardmax.text import page, tables
from hardmax.text._texts import read_texts
from hardmax.text.encoding import cut_tokens
from hardmax.text.evaluation import calibration_curve, read_labels
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import count_texts, number_words_of

try:
    import pandas
except ImportError:
    raise MissingExtra("An overview", "tables") from None

pd: Any = pandas  # no type checker knows what its calls return

MOST_SLICES = 40  # of a column; numbers that have more values are cut into quarters
PLACES, ALL_PLACES = 3, 10_000  # texts that a page has for a word, and for all of them
BEFORE, SHOWN = 80, 200  # characters of a text before the word, and in all
SILENT = 0.0005  # votes below it are shown as 0
_FRAME = 'title="hardmax" sandbox="allow-scripts" style="width: 100%; height: 60em; border: 0"'
Frames = dict[str, Any]


def read_frame(path: str) -> Any:
    """All of a table in a file, without broken rows."""
    opened = tables.open_table(Path(path))
    return pd.DataFrame(row.cells for row in opened.rows(opened.names) if not row.fault)


class Judged:
    """A table whose texts a model has classified; rows without a text are left out."""

    def __init__(self, model: TextModel, table: Any, name: str, text: Any, label: Any) -> None:
        frame = tables.as_frame(table, name).to_pandas().rename(columns=str)
        frame = frame.reset_index(drop=True)
        text = tables.choose_column(text, "text", list(frame), name)
        self.columns = frame.drop(index=list(tables.text_faults(frame[text].tolist())))
        self.texts = self.columns.pop(text)
        if self.texts.empty:
            raise InputError(f"{name} has no text: expected some in the column {text}.")
        self.model, self.truth = model, None
        self.found = found = model.analyse(self.texts)
        chosen = np.eye(len(model.classes))[found.predicted]
        answers = pd.DataFrame(chosen, self.texts.index, model.classes).add_prefix("predicted ")
        self.answers = answers.assign(undecided=~found.decided, logit=found.logits[:, -1])
        if label is not None:
            label = tables.choose_column(label, "label", list(self.columns), name)
            self.truth = read_labels(self.columns[label].tolist(), model.classes)
            self.answers.insert(0, "right", found.predicted == self.truth)

    def compare(self, other: "Judged", top: int) -> Frames:
        """The numbers of both, and the tokens whose mean votes differ most."""
        facts = []
        for each in (self, other):
            means = {"texts": len(each.texts), **each.answers.mean()}
            means["logit ±"] = 1.96 * each.answers["logit"].sem(ddof=0)
            facts.append(pd.Series(each.model._made_by | means))
        words = largest_changes(self.votes(), other.votes(), top)
        return {"facts": pd.concat(facts, axis=1, keys=("first", "second")), "words": words}

    def votes(self) -> Any:
        """By token: its mean votes over all texts, and the share of the texts that have it."""
        names = votes_alone(self.model).columns
        votes = pd.DataFrame(self.found.votes, columns=names).assign(texts=1.0)
        means = votes.groupby(self.found.ids).sum() / len(self.texts)
        return means.set_index(np.take(self.model.vocabulary.surfaces, means.index))

    def words(self) -> Any:
        """The share of the texts that have each word, known or not."""
        stream, owners, words = number_words_of(read_texts(self.texts))
        return pd.DataFrame({"texts": count_texts(stream, owners) / len(self.texts)}, words)

    def slices(self) -> Any:
        """The means of the answers by the values of each column, the worst first."""
        columns, parts = self.columns.assign(characters=self.texts.str.len()).astype(str), {}
        for name in columns:
            values = columns[name]
            if values.nunique() > MOST_SLICES:
                numbers = pd.to_numeric(values, errors="coerce")
                values = pd.qcut(numbers, 4, duplicates="drop")  # none of what is no number
            grouped = self.answers.groupby(values)
            parts[name] = grouped.mean().assign(texts=grouped.size())
        return pd.concat(parts).sort_values(self.answers.columns[0], kind="stable")

    def places(self) -> list[Any]:
        """The texts in which each token counts most: its vote, what is around it, the label."""
        found, model = self.found, self.model
        rows = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        votes = pd.DataFrame({"token": found.ids, "row": rows, "vote": found.votes.max(axis=1)})
        votes["all"] = votes["vote"].abs().groupby(votes["token"]).transform("sum")
        votes = votes.sort_values(["all", "vote"], key=abs, ascending=False, kind="stable")
        best, places = votes.groupby("token").head(PLACES)[:ALL_PLACES], []
        for token, row, vote, _ in best.itertuples(index=False):
            word, text = model.vocabulary.surfaces[token], self.texts.iloc[row]
            start = max(f" {text}".lower().find(f" {word}") - BEFORE, 0)
            label = model.classes[found.predicted[row]]
            places.append((word, round(vote, 5), text[start : start + SHOWN], str(label)))
        return places


class Dashboard:
    """A page about a model, which displays itself in a notebook."""

    def __init__(self, model: TextModel, table: Any, text: Any, label: Any) -> None:
        judged = None if table is None else Judged(model, table, "`table`", text, label)
        neutral, alone = 1 + model.rule.neutral_weight, votes_alone(model)
        words = pd.DataFrame({"seen": model.vocabulary.documents}, alone.index).join(alone)
        rules = [(each.word, each.factor, each.shift / neutral) for each in model.modifiers]
        data, curve = {"heads": list(alone), "rules": rules}, []
        if judged:
            words = words.join(judged.votes().add_suffix(" here")).fillna(0)
            data["places"] = judged.places()
        if judged and judged.truth is not None:
            curve = np.transpose(calibration_curve(judged.truth, judged.found.probabilities))
        sizes = alone.abs().max(axis=1)
        loud = sizes[sizes >= SILENT].sort_values(ascending=False).index
        shown = dict.fromkeys([*loud, *(word for word, *_ in rules)])
        data["words"] = words.reindex(shown).fillna(0).round(5).reset_index().to_numpy().tolist()
        packed = base64.b64encode(gzip.compress(json.dumps(data).encode(), mtime=0)).decode()
        body = page.render("dashboard", model, judged, packed, len(loud), curve)
        script = Path(__file__).with_name("dashboard.js").read_text(encoding="utf-8")
        self.html = page.document(f"{model.name}: all of the model", body, script)

    def save(self, path: str | Path) -> None:
        """Write the page to a file, whole or not at all."""
        write_whole(check_path(path), self.html.encode())

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" {_FRAME}></iframe>'


def diff(
    first: TextModel,
    second: TextModel,
    table: Any = None,
    *,
    text: str | None = None,
    label: str | None = None,
    top: int = 50,
) -> Frames:
    """Compare two models: words, and answers to texts (extra `tables`).

    Parameters
    ----------
    first, second : TextModel
        Models with the same classes.
    table : DataFrame or Table, optional
        Texts that both classify, as `score_table` takes them. Without it, words are compared by
        the votes that they have on their own.
    text, label : str, optional
        Columns of the texts, guessed from common names if omitted, and of their classes.
    top : int, default 50
        At most so many words, and texts, are listed.

    Returns
    -------
    dict of DataFrame
        `words`, with their mean votes in both models, the share of the texts that have them, and
        the largest changes first: the changes of all words, and that of the bias, are the change
        of the mean logit. With texts, `facts` has the numbers of both, `texts` those that get
        different labels, and `pairs` the share of these; with labels, the gain in accuracy, too,
        and the half width of its 95 % interval.

    Examples
    --------
    >>> from hardmax.text import load_model
    >>> model = load_model("sentiment-en")
    >>> diff(model, model.edit({"boring": 1.0}))["words"].index.tolist()
    ['boring']
    """
    for name, model in (("`first`", first), ("`second`", second)):
        check_instance(model, TextModel, name, "a TextModel")
    if first.classes != second.classes:
        classes = f"{shorten(first.classes)} and {shorten(second.classes)}"
        raise InputError(f"`second` must have the same classes as `first`: they are {classes}.")
    if table is None:
        return {"words": largest_changes(votes_alone(first), votes_alone(second), top)}
    one, other = (Judged(model, table, "`table`", text, label) for model in (first, second))
    told, differs = one.compare(other, top), one.found.predicted != other.found.predicted
    labels = [np.take(each.model.classes, each.found.predicted) for each in (one, other)]
    texts = pd.DataFrame({"first": labels[0], "second": labels[1], "text": one.texts})
    gaps = (other.answers["logit"] - one.answers["logit"]).abs()[differs]
    told["texts"] = texts.loc[gaps.nlargest(top).index]
    pairs = {"different labels": [differs.mean()]}
    if label is not None:
        gains = other.answers["right"] * 1.0 - one.answers["right"]
        pairs |= {"gain": [gains.mean()], "plus_minus": [1.96 * gains.sem(ddof=0)]}
    return told | {"pairs": pd.DataFrame(pairs)}


def drift(
    model: TextModel, old: Any, new: Any, *, text: str | None = None, top: int = 50
) -> Frames:
    """Compare the texts of two tables: labels, and the words that move the mean logit (extra
    `tables`).

    Parameters
    ----------
    model : TextModel
        What judges both.
    old, new : DataFrame or Table
        Tables of texts, as `score_table` takes them.
    text : str, optional
        Column of the texts; guessed from common names if omitted.
    top : int, default 50
        At most so many words are listed.

    Returns
    -------
    dict of DataFrame
        `facts` has the numbers of both tables (`first` is the old one; ± is half the width of
        the 95 % interval of a mean logit), `words` what `diff` has in them, and `unknown` the
        words that the model does not know and the new texts have more often, with the share of
        the texts that have them.

    Examples
    --------
    >>> from hardmax.text import load_model
    >>> new = pd.DataFrame({"text": ["A bad film.", "A good zyx."]})
    >>> drift(load_model("sentiment-en"), new[1:], new)["words"].index.tolist()
    ['bad', 'good']
    """
    check_instance(model, TextModel, "`model`", "a TextModel")
    first, second = Judged(model, old, "`old`", text, None), Judged(model, new, "`new`", text, None)
    told, words = first.compare(second, top), _joined(first.words(), second.words())
    unknown = words.drop(cut_tokens(model.vocabulary)[0], errors="ignore")
    gains = unknown["texts_second"] - unknown["texts_first"]
    return told | {"unknown": unknown.loc[gains[gains > 0].nlargest(top).index]}


def votes_alone(model: TextModel) -> Any:
    """What each token adds to the logits of a text that has no other known token."""
    alone = model._voting.weights / (1 + model.rule.neutral_weight)
    names = [f"vote {label}" for label in model.classes[-alone.shape[1] :]]
    return pd.DataFrame(alone, model.vocabulary.surfaces, names)


def largest_changes(first: Any, second: Any, top: int) -> Any:
    """The tokens whose votes differ most."""
    top = check_int(top, "`top`", at_least=1)
    sizes = second.sub(first, fill_value=0.0).filter(like="vote ").abs().max(axis=1)
    return _joined(first, second).loc[sizes[sizes > 0].nlargest(top).index]


def _joined(first: Any, second: Any) -> Any:
    """Two tables side by side, with zeros where one has no such row."""
    sides = [first.add_suffix("_first"), second.add_suffix("_second")]
    return pd.concat(sides, axis=1).fillna(0.0)
