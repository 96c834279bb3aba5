"""How many leaders texts have, and which words they are: the paper's Table 1 and histogram, for any model and texts."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._format import pluralize, sanitize_line
from hardmax._validation import InputError, check_int
from hardmax.text.explain import Label
from hardmax.text.knowing.counting import count_leaders
from hardmax.text.knowing.leading import Leader, frequent_leaders
from hardmax.text.model.analysis import Analysis
from hardmax.text.model.model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class LeaderStatistics:
    """Leaders after the last layer, over many texts. A neutral leader is no word, and is left out everywhere."""

    texts: int
    mean: float  # leaders of a text
    deviation: float
    fewest: int
    most: int
    distribution: tuple[int, ...]  # how many texts have `fewest` leaders, how many one more, and so on
    share_of_words: float  # the mean, over texts with a known word, of leaders among its distinct known words
    share_from_start: float  # the mean, over texts with a leader, of its leaders that lead since layer 0
    words_that_count: float  # the mean of how many distinct words of a text do not follow the neutral leader
    mass: float  # the mean share of a text that is with its leaders
    leaders: tuple[Leader, ...]  # the words that lead, the most frequent first
    classes: tuple[Label, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)

    def draw(self, ax: "Axes | None" = None, *, first: int = 15) -> "Axes":
        """Draw the words that lead most often, on the axes that are given, or on those of a new figure (extra
        `figures`): in how many of the texts, for which class they speak, and how much each would say alone."""
        from hardmax.figures.cards import Bar
        from hardmax.figures.charts import add_class_legend, bar_axes, draw_bars
        from hardmax.figures.style import check_axes, our_look

        first = check_int(first, "`first`", at_least=1)
        if not self.leaders:
            raise InputError("There is nothing to draw: no word leads in any of these texts.")
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
            f"from {self.fewest} to {self.most}; {100 * self.share_of_words:.1f} % of the distinct words lead, with "
            f"{100 * self.mass:.1f} % of the mass; most often {words or 'none'}"
        )


def leader_statistics(model: Model, texts: Any) -> LeaderStatistics:
    """How many leaders the texts have, and which words lead how often."""
    found = model.analyse(texts)
    if not len(found):
        raise InputError("`texts` is empty: expected at least one text.", argument="`texts`")
    return statistics_of(model, found)


def statistics_of(model: Model, found: Analysis) -> LeaderStatistics:
    """The same of texts that are analysed already, at least one."""
    neutral = int(model.prepared.extra) if model.has_neutral else None
    many = count_leaders(found, without=neutral)
    number, fewest = many.leaders, int(many.leaders.min())
    words = np.diff(found.offsets) - (neutral is not None)
    known = words > 0
    masses = np.where(found.leader_since >= 0, found.masses, 0.0)
    if neutral is not None:
        masses = np.where(found.ids == neutral, 0.0, masses)
    return LeaderStatistics(
        texts=len(found),
        mean=float(number.mean()),
        deviation=float(number.std()),
        fewest=fewest,
        most=int(number.max()),
        distribution=tuple(np.bincount(number - fewest).tolist()),
        share_of_words=float((number[known] / words[known]).mean()) if known.any() else 0.0,
        share_from_start=many.share_from_start,
        words_that_count=float(found.counting_per_text.mean()),
        mass=float(masses.sum() / len(found)),
        leaders=frequent_leaders(model, found),
        classes=model.classes,
    )
