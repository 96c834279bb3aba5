"""What a model knows: the tokens that speak most for a class, and those that lead texts."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._format import EXTRA_TOKEN, pluralize, sanitize_line
from hardmax._validation import InputError, check_instance, check_int
from hardmax.text._analysis import Analysis
from hardmax.text.labels import number_of_class
from hardmax.text.text_model import TextModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hardmax.text.explain import Label

_SHOWN = 10


class _Plain:
    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return asdict(self)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class Keyword(_Plain):
    """A token that speaks for a class."""

    word: str
    says: float
    """Its weight, in units of the logit: what a text all of whose tokens are with it would have."""
    texts_of_class: int
    """How many training texts of the class have it."""
    texts: int
    """How many training texts have it."""


@dataclass(frozen=True, kw_only=True)
class Leader(_Plain):
    """A token that leads, and how often."""

    word: str
    texts: int
    """How many of the texts it leads."""
    share: float
    """Of all texts."""
    mass: float
    """Its mean share of the texts that it leads."""
    lean: "Label"
    """The class for which it speaks."""
    pull: float
    """Its part of that class's logit if it were alone; of the second class's if there are two."""


@dataclass(frozen=True, kw_only=True)
class LeaderStatistics(_Plain):
    """Leaders after the last layer, over many texts. A neutral leader is no token of a text, and is left out."""

    texts: int
    mean: float
    """Leaders per text."""
    deviation: float
    fewest: int
    most: int
    distribution: tuple[int, ...]
    """How many texts have `fewest` leaders, how many one more, and so on."""
    share_of_words: float
    """The mean, over texts with a known token, of the share of leaders among its distinct known tokens."""
    share_from_start: float
    """The mean, over texts with a leader, of the share of its leaders that lead since layer 0."""
    active_tokens: float
    """The mean number of distinct active tokens per text."""
    mass: float
    """The mean share of a text that is with its leaders."""
    leaders: tuple[Leader, ...]
    """The tokens that lead, the most frequent first."""
    classes: "tuple[Label, ...]"

    def draw(self, ax: "Axes | None" = None, *, first: int = 15) -> "Axes":
        """Draw the tokens that lead most often.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to; by default a new figure. Needs the extra `figures`.
        first : int, default 15
            At most so many tokens.

        Returns
        -------
        matplotlib.axes.Axes
            In how many of the texts each leads, for which class it speaks, and its weight.
        """
        from hardmax.figures.cards import Bar
        from hardmax.figures.charts import add_class_legend, bar_axes, draw_bars
        from hardmax.figures.style import check_axes, our_look

        first = check_int(first, "`first`", at_least=1)
        if not self.leaders:
            raise InputError("There is nothing to draw: no token leads in any of these texts.")
        shown = self.leaders[:first]
        side = {label: number for number, label in enumerate(self.classes)}
        bars = [Bar(each.word, 100 * each.share, side[each.lean], f"{each.pull:+.0f}") for each in shown]
        place = bar_axes(bars) if ax is None else check_axes(ax)
        with our_look():
            draw_bars(bars, len(self.classes), place)
            place.set_xlabel("% of texts in which the token leads; at each bar, its own logit")
            place.set_title(f"{pluralize(self.texts, 'text')}, {self.mean:.1f} leaders each", loc="left")
            add_class_legend(self.classes, bars, place, inside=ax is not None)
        return place

    def __str__(self) -> str:
        words = ", ".join(sanitize_line(leader.word) for leader in self.leaders[:_SHOWN])
        return (
            f"{pluralize(self.texts, 'text')}: {self.mean:.2f} ± {self.deviation:.2f} leaders each, "
            f"from {self.fewest} to {self.most}; {100 * self.share_of_words:.1f} % of the distinct tokens lead, with "
            f"{100 * self.mass:.1f} % of the mass; most often {words or 'none'}"
        )


def keywords(model: TextModel, label: Any, top_k: int = 20, min_df: int = 1) -> list[Keyword]:
    """The tokens that speak most for a class; see `TextModel.keywords`."""
    number = number_of_class(label, model.classes, "`label`")
    top_k, min_df = check_int(top_k, "`top_k`", at_least=1), check_int(min_df, "`min_df`", at_least=0)
    known = model.vocabulary
    says = model.prepared.scores[: len(known)]
    mine = (says[:, 0] if number else -says[:, 0]) if says.shape[1] == 1 else says[:, number] - says.mean(axis=1)
    rows = np.flatnonzero((mine > 0) & (known.documents >= min_df))
    best = rows[np.argsort(-mine[rows], kind="stable")][:top_k]
    return [
        Keyword(known.surfaces[v], float(mine[v]), int(known.counts[v, number]), int(known.documents[v]))
        for v in best.tolist()
    ]


def frequent_leaders(model: TextModel, found: Analysis, most: int | None = None) -> tuple[Leader, ...]:
    """The tokens that lead most of the analysed texts, the most frequent first; among equals, by the alphabet."""
    check_instance(model, TextModel, "`model`", "a TextModel")
    check_instance(found, Analysis, "`found`", "what `model.analyse` gives")
    most = None if most is None else check_int(most, "`most`", at_least=0)
    leads = _leading(model, found)
    tokens, times = np.unique(found.ids[leads], return_counts=True)
    masses = np.bincount(found.ids[leads], found.masses[leads], minlength=len(model.prepared.table))
    surfaces = (*model.vocabulary.surfaces, EXTRA_TOKEN)
    ranked = sorted(zip((-times).tolist(), (surfaces[token] for token in tokens), tokens.tolist(), strict=True))
    leaders = []
    for times, word, token in ranked[:most]:
        scores = model.prepared.scores[token]
        best = int(scores[0] > 0) if len(scores) == 1 else int(scores.argmax())
        leader = Leader(
            word=word,
            texts=-times,
            share=-times / len(found),
            mass=float(masses[token] / -times),
            lean=model.classes[best],
            pull=float(scores[0] if len(scores) == 1 else scores[best]),
        )
        leaders.append(leader)
    return tuple(leaders)


def leader_statistics(model: TextModel, texts: Any) -> LeaderStatistics:
    """How many leaders the texts have, and which tokens lead how often; see `TextModel.leader_statistics`."""
    found = model.analyse(texts)
    if not len(found):
        raise InputError("`texts` is empty: expected at least one text.", argument="`texts`")
    return statistics_of(model, found)


def statistics_of(model: TextModel, found: Analysis) -> LeaderStatistics:
    """The same of texts that are analysed already, at least one."""
    leads = _leading(model, found)
    number, from_start = (found.sums(which).astype(np.int64) for which in (leads, leads & (found.leader_since == 0)))
    known, fewest = np.diff(found.offsets) - model.has_neutral, int(number.min())
    return LeaderStatistics(
        texts=len(found),
        mean=float(number.mean()),
        deviation=float(number.std()),
        fewest=fewest,
        most=int(number.max()),
        distribution=tuple(np.bincount(number - fewest).tolist()),
        share_of_words=_mean_share(number, known),
        share_from_start=_mean_share(from_start, number),
        active_tokens=float(found.active_per_text.mean()),
        mass=float(found.masses[leads].sum() / len(found)),
        leaders=frequent_leaders(model, found),
        classes=model.classes,
    )


def _leading(model: TextModel, found: Analysis) -> np.ndarray:
    leads = found.leader_since >= 0
    return leads & (found.ids != model.prepared.extra) if model.has_neutral else leads


def _mean_share(parts: np.ndarray, wholes: np.ndarray) -> float:
    some = wholes > 0
    return float((parts[some] / wholes[some]).mean()) if some.any() else 0.0
