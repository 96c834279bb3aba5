"""The paper's Table 1: how many leaders the test reviews have, for d = 2, 4, 8 and 16."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hardmax._format import pluralize
from hardmax.figures.palette import look_of
from hardmax.figures.style import Axes, Figure, MaxNLocator, our_look
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import listed, rounded
from hardmax.paper.results.documents import kept_document

DOCUMENT = "leaders"
LEADERS, FIRST_INDEX, COUNTING, WITH_NEUTRAL = "leaders", "first index", "active tokens", "with the neutral one"
OURS, AUTHORS, OWN = "paper mode", "the authors' weights", "our own models"
_FEW = 4  # numbers of leaders, that are drawn as bars
LAYERS, READ = 8, 9  # of the model, and those after which the authors' code reads it

# What the keys call a model of each source.
_NAMES = {
    OURS: lambda model: f"{model['weights']} (epoch {model['epoch']})",
    AUTHORS: lambda model: "the authors' weights",
    OWN: lambda model: model["weights"],
}


def compute(setting: Setting) -> Numbers:
    """For each model the distributions of the number of leaders, with mean, deviation, fewest and most."""
    kept = kept_document(DOCUMENT)
    models = [model | {"counted": [own | summary(own) for own in model["counted"]]} for model in kept["models"]]
    return kept | {"models": models}


def summary(distribution: Mapping[str, Any]) -> dict[str, Any]:
    """Mean, standard deviation and most of a distribution.

    >>> summary({"fewest": 2, "reviews": [1, 0, 1]})
    {'mean': 3.0, 'deviation': 1.0, 'most': 4}
    """
    reviews = np.array(distribution["reviews"])
    numbers = distribution["fewest"] + np.arange(len(reviews))
    mean = float(reviews @ numbers / reviews.sum())
    deviation = float(np.sqrt(reviews @ (numbers - mean) ** 2 / reviews.sum()))
    return {"mean": rounded(mean, 4), "deviation": rounded(deviation, 4), "most": int(numbers[-1])}


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A panel for each d, one for the leaders of our own models, and one for the active tokens in them."""
    by_source = {source: [model for model in numbers["models"] if model["source"] == source] for source in _NAMES}
    dimensions = list(dict.fromkeys(model["dimension"] for model in by_source[OURS]))
    with our_look():
        figure = Figure(figsize=(9.6, 5.6))
        panels = list(figure.subplots(2, 3).flat)
        for ax, d in zip(panels[: len(dimensions)], dimensions, strict=True):
            drawn = [model for source in (OURS, AUTHORS) for model in by_source[source] if model["dimension"] == d]
            _draw_panel(ax, f"d = {d}", [(_NAMES[model["source"]](model), _counted(model)) for model in drawn])
            ax.set_xlabel("leaders of a review")
        for ax, how in zip(panels[len(dimensions) :], (LEADERS, COUNTING), strict=True):
            drawn = [(_NAMES[OWN](model), _counted(model, how)) for model in by_source[OWN]]
            _draw_panel(ax, f"our own models: {how}", drawn)
            ax.set_xlabel("leaders, the neutral one left out" if how == LEADERS else "active tokens of a review")
        figure.tight_layout()
    return {"": figure}


_Curves = Sequence[tuple[str, Mapping[str, Any]]]


def _draw_panel(ax: Axes, title: str, curves: _Curves) -> None:
    (_draw_bars if max(len(own["reviews"]) for _, own in curves) <= _FEW else _draw_lines)(ax, curves)
    ax.set_title(title)
    ax.set_ylabel("% of the reviews")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ax.legend(frameon=False, fontsize=7, loc="best", title="mean", title_fontsize=7, alignment="left")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _draw_lines(ax: Axes, curves: _Curves) -> None:
    for number, (name, own) in enumerate(curves):
        places, shares = _shares(own)
        color, shape = look_of(number)
        look = {"color": color, "marker": shape, "ms": 4, "markevery": max(1, len(places) // 12), "lw": 1.3}
        ax.plot(places, shares, ls=("-", "--", ":")[number % 3], label=_label(name, own), **look)
    ax.set_ylim(0, 1.5 * ax.get_ylim()[1])  # room for the key


def _draw_bars(ax: Axes, curves: _Curves) -> None:
    width = 0.8 / len(curves)
    for number, (name, own) in enumerate(curves):
        places, shares = _shares(own)
        aside = (number - (len(curves) - 1) / 2) * width
        look: dict[str, Any] = {"color": look_of(number)[0], "hatch": ("", "///", "...")[number % 3], "ec": "white"}
        ax.bar(places + aside, shares, width, label=_label(name, own), **look)


def _shares(own: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    reviews = np.array(own["reviews"])
    return own["fewest"] + np.arange(len(reviews)), 100 * reviews / reviews.sum()


def _label(name: str, own: Mapping[str, Any]) -> str:
    return f"{own['mean']:.1f}: {name}"


def _counted(model: Mapping[str, Any], how: str = LEADERS, layer: int | None = None) -> Mapping[str, Any]:
    """How the model's leaders were counted at a layer, its last if none is named."""
    wished = model["layers"] if layer is None else layer
    return next(own for own in model["counted"] if (own["how"], own["layer"]) == (how, wished))


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each model and way of counting; the authors' code reads nine layers, which stand beside the eight."""
    head = ["whose", "d", "weights", "test accuracy", "counted"]
    parts = ["mean", "deviation", "fewest", "most", "of these at layer 0"]
    head += [*(f"{part}, last layer" for part in parts), *(f"{part}, layer {READ}" for part in parts), "padding leads"]
    rows = []
    for model in numbers["models"]:
        for how in dict.fromkeys(own["how"] for own in model["counted"]):
            at = {own["layer"]: own for own in model["counted"] if own["how"] == how}
            cells = [*_cells(at[model["layers"]]), *_cells(at.get(READ, {}))]
            padding = model.get("padding_leads") if how == LEADERS else None
            named = [model["source"], model["dimension"], _weights(model), model["accuracy"], how]
            rows.append([*named, *cells, padding])
    return [head, *rows]


def _cells(own: Mapping[str, Any]) -> list[Any]:
    return [own.get(name) for name in ("mean", "deviation", "fewest", "most", "share_from_start")]


def _weights(model: Mapping[str, Any]) -> str:
    return f"{model['weights']}, epoch {model['epoch']}" if model["source"] == OURS else model["weights"]


def remark(numbers: Numbers) -> str:
    """How leaders grow in number with d, what counting otherwise changes, and how often padding leads."""
    models = numbers["models"]
    ours = [model for model in models if model["source"] == OURS]
    read = [model for model in models if model["source"] != OWN]
    lasts, bests = ([model for model in ours if model["weights"] == which] for which in ("last", "best"))
    told = "; ".join(
        f"d = {last['dimension']}: {_counted(last)['mean']:.1f} ± {_counted(last)['deviation']:.1f} with the last "
        f"weights, {_counted(best)['mean']:.1f} ± {_counted(best)['deviation']:.1f} with the best"
        for last, best in zip(lasts, bests, strict=True)
    )
    least = min(_counted(model)["share_from_start"] for model in ours)
    return " ".join(
        [
            f"Leaders of the {numbers['reviews']:,} test reviews at layer {LAYERS}, mean and standard deviation: "
            f"{told}. The authors' own values are in their paper's Table 1, not in their repository. Of the leaders "
            f"of a review at least {100 * least:.1f} % on average lead already at layer 0, so that they are all but "
            "decided by the embedding.",
            _on_counting(read),
            _on_padding(ours, numbers["with_padding"] / numbers["reviews"]),
            _on_the_authors([model for model in models if model["source"] == AUTHORS]),
            _on_our_own([model for model in models if model["source"] == OWN]),
        ]
    )


def _on_counting(read: Sequence[Mapping[str, Any]]) -> str:
    other_way = max(abs(_counted(model, FIRST_INDEX)["mean"] - _counted(model)["mean"]) for model in read)
    one_more = max(abs(_counted(model, LEADERS, READ)["mean"] - _counted(model)["mean"]) for model in read)
    # Both ways and the ninth layer at once, as their code does it, for the model to which it matters most.
    theirs = {id(model): _counted(model, FIRST_INDEX, READ) for model in read}
    most = max(read, key=lambda model: abs(theirs[id(model)]["mean"] - _counted(model)["mean"]))
    moved = theirs[id(most)]
    return (
        "The authors' way of counting, by the first index of the attended set with ties of floats of 32 bits, moves no "
        f"mean at layer {LAYERS} by more than {other_way:.4f}, since words with trained vectors hardly ever tie; nor "
        f"does a ninth layer, at which their code reads, with leaders counted exactly ({one_more:.4f} at most). Both "
        f"together matter most at d = {most['dimension']} with the {most['weights']} weights: {moved['mean']:.2f} "
        f"instead of {_counted(most)['mean']:.2f}, of which {100 * moved['share_from_start']:.1f} % instead of "
        f"{100 * _counted(most)['share_from_start']:.1f} % lead at layer 0. There alpha is {most['alpha']:.1f}, and "
        "after nine layers followers are so near to their leaders that floats cannot tell them apart."
    )


def _on_padding(ours: Sequence[Mapping[str, Any]], share: float) -> str:
    lasts = [model for model in ours if model["weights"] == "last"]
    leads = listed([f"{100 * model['padding_leads']:.1f} % at d = {model['dimension']}" for model in lasts])
    padded, full = (lasts[-1]["mean_leaders"][part] for part in ("with_padding", "without_padding"))
    return (
        f"Padding is a word here, and {100 * share:.0f} % of the reviews have some; with the last weights it leads "
        f"in {leads} of these. They are the short reviews, and have fewer leaders: at d = {lasts[-1]['dimension']} "
        f"{padded:.1f} on average, where reviews cut after 128 words have {full:.1f}, hence the two humps."
    )


def _on_the_authors(theirs: Sequence[Mapping[str, Any]]) -> str:
    if not theirs:
        return ""
    (model,) = theirs
    own = _counted(model)
    return (
        f"The authors' saved weights for d = 2 give {own['mean']:.1f} ± {own['deviation']:.1f} on the same reviews. "
        "Their list of words was not published: rows are given to our words by frequency, which does not say in which "
        "order words as frequent as each other stand, and so not which rare word has which row; it costs much, with "
        f"{100 * model['accuracy']:.1f} % of the reviews read correctly, where theirs were 79.1 %."
    )


def _on_our_own(own: Sequence[Mapping[str, Any]]) -> str:
    told = "; ".join(
        f"{model['weights']} {_counted(model)['mean']:.1f} leaders and {_counted(model, COUNTING)['mean']:.1f} active "
        f"tokens, at {100 * model['accuracy']:.1f} % correct"
        for model in own
    )
    most = max(_counted(model)["most"] for model in own)
    return f"Our own models have, besides the neutral one, at most {pluralize(most, 'leader')} a review: {told}."


PIECE = Piece(
    name="table1",
    title="Table 1: how many leaders reviews have",
    caption=(
        "How many of the test reviews (in %) have how many leaders at the last layer. Four panels: the paper's network "
        "with 8 layers, trained as in the paper with embeddings of 2, 4, 8 and 16 dimensions, with its last weights "
        "and with those of the epoch that was best on the test reviews; 15,000 reviews of 128 words, padding among "
        "them. At d = 2 also the authors' saved weights, whose rows are given to our words by frequency. A leader is a "
        "word that attends to itself alone, however often it is said. The last two panels are our own models on the "
        "25,000 test reviews of IMDb as a whole: the leaders but the neutral one, and the active tokens, which "
        "do not follow it. Keys have the means."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
