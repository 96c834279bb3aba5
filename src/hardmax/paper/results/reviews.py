"""The paper's picture of two reviews: their words at the first and the last layer, and the side on which they end."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._format import pluralize
from hardmax.dynamics import Dynamics
from hardmax.figures.labels import place_labels
from hardmax.figures.palette import FAINT, INK, LEADER, look_of_class
from hardmax.figures.plane import draw_origin, window
from hardmax.figures.style import Axes, Figure, Line2D, our_look, sign, write_film
from hardmax.paper.drawing import plain_axes
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import listed
from hardmax.paper.results.clouds import Cloud, Decoder, walk_words
from hardmax.paper.results.documents import kept_document
from hardmax.paper.results.texts import REVIEWS
from hardmax.text.shipped import load

DOCUMENT = "two_reviews"
OURS, AUTHORS, OWN = "paper mode", "the authors' weights", "imdb-2d, ours"
CLASSES = ("negative", "positive")
_SAID = {OURS: "In paper mode", AUTHORS: "With the authors' weights", OWN: "With our imdb-2d"}
PAD, NEUTRAL = "(padding)", "(neutral)"
_STAR, _DOT, _MEAN = 120.0, 12.0, 90.0  # areas of marks
_SIDE = 2.75  # inches of a panel
# Of leaders, by the sign of their own logit.
_COLOURS = {-1: look_of_class(0, 2)[0], 1: look_of_class(1, 2)[0], 0: INK}


def compute(setting: Setting) -> Numbers:
    """The words of both reviews at every layer, by the two networks of the paper and by our own model."""
    return {"models": [*(_of_paper(model) for model in kept_document(DOCUMENT)["models"]), _of_ours("imdb-2d")]}


def _of_paper(kept: Mapping[str, Any]) -> dict[str, Any]:
    decoder = Decoder(_as_saved(kept["decoder"]), float(np.float32(kept["bias"])))
    dynamics = Dynamics(kept["alpha"])
    clouds = [
        Cloud(
            [PAD if row == 0 else word for word, row in zip(review["words"], review["rows"], strict=True)],
            np.array(review["counts"]),
            _as_saved(review["vectors"]),
        )
        for review in kept["reviews"]
    ]
    unsure = [
        [w for w, known in zip(review["words"], review["sure"], strict=True) if not known] for review in kept["reviews"]
    ]
    return _model(kept["source"], dynamics, kept["layers"], decoder, clouds, unsure)


def _as_saved(numbers: Sequence[Any]) -> np.ndarray:
    """Floats of 32 bits, as the weights were saved, in 64."""
    return np.array(numbers, dtype=np.float32).astype(np.float64)


def _of_ours(name: str) -> dict[str, Any]:
    model = load(name)
    scale = 1 / model.temperature
    decoder = Decoder(scale * model.decoder[0].astype(np.float64), float(model.prepared.bias[0]))
    surfaces, clouds = (*model.vocabulary.surfaces, NEUTRAL), []
    for text in REVIEWS.values():
        found = model.read(text).encoded
        words = [surfaces[token] for token in found.ids]
        clouds.append(Cloud(words, model.prepared.voices(found), model.prepared.table[model.prepared.rows(found)]))
    return _model(OWN, model.dynamics, int(model.layers), decoder, clouds, [[] for _ in clouds])


def _model(
    source: str,
    dynamics: Dynamics,
    layers: int,
    decoder: Decoder,
    clouds: Sequence[Cloud],
    unsure: Sequence[Sequence[str]],
) -> dict[str, Any]:
    walked = [
        {"review": name, "unsure": list(own)} | walk_words(cloud, dynamics, layers, decoder)
        for name, cloud, own in zip(REVIEWS, clouds, unsure, strict=True)
    ]
    return {
        "source": source,
        "alpha": float(dynamics.alpha),
        "layers": layers,
        "decoder": decoder.direction.tolist(),
        "bias": decoder.bias,
        "reviews": walked,
    }


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A row for each model: the positive review at the first and the last layer, and the negative one."""
    models = numbers["models"]
    columns = 2 * len(REVIEWS)
    with our_look():
        figure = Figure(figsize=(_SIDE * columns, (_SIDE + 0.45) * len(models) + 0.4))
        panels = figure.subplots(len(models), columns, squeeze=False)
        figure.subplots_adjust(left=0.01, right=0.99, top=0.96, bottom=0.05, wspace=0.04, hspace=0.22)
        for row, model in zip(panels, models, strict=True):
            shown = [(review, layer) for review in model["reviews"] for layer in (0, model["layers"])]
            for ax, (review, layer) in zip(row, shown, strict=True):
                draw_review(model, review, layer, ax)
        figure.legend(handles=_key(), loc="lower center", ncols=7, frameon=False, fontsize=8)
    return {"": figure}


def draw_review(model: Mapping[str, Any], review: Mapping[str, Any], layer: int, ax: Axes) -> None:
    """The words of a review at a layer, the half-plane of each class tinted, the mean, and the leaders with names."""
    decoder = Decoder(np.array(model["decoder"]), model["bias"])
    path, own = np.array(review["path"]), np.array(review["own_logits"])
    since = np.array(review["leader_since"])
    plain_axes(ax, frame=True)
    # Room on the other side of the origin, so that both half-planes are seen.
    ax.axis(window(np.vstack([path[0], -0.35 * path[0]])))
    _draw_sides(decoder, ax)
    draw_origin(ax)
    ax.scatter(*path[layer].T, s=_DOT, c=FAINT, edgecolors="white", lw=0.3, zorder=3)
    leads = np.flatnonzero((since >= 0) & (since <= layer))
    for side, color in _COLOURS.items():
        these = leads[np.sign(own[leads]) == side]
        ax.scatter(*path[layer, these].T, s=_STAR, c=color, marker=LEADER, edgecolors="white", lw=0.5, zorder=5)
    mean = np.array(review["means"][layer])
    ax.scatter(*mean, s=_MEAN, c=INK, marker="^", edgecolors="white", lw=0.8, zorder=6)
    # The mean has no word, but none shall cover it.
    names = [_name(review, token) if layer == model["layers"] else review["words"][token] for token in leads.tolist()]
    reaches = [*([_STAR**0.5 / 2] * len(leads)), _MEAN**0.5 / 2]
    place_labels(np.vstack([path[layer, leads], mean]), names, reaches, ax, size=7.5)
    logit = review["logits"][layer]
    ax.set_title(f"{model['source']}: {review['review']}\nlayer {layer}, logit {logit:+.1f}", fontsize=8.5)


def _name(review: Mapping[str, Any], leader: int) -> str:
    """The word of a leader, and how many follow it at the last layer, itself among them."""
    return f"{review['words'][leader]}: {_followers(review, leader)}"


def _followers(review: Mapping[str, Any], leader: int) -> int:
    pairs = zip(review["follows"], review["counts"], strict=True)
    return sum(count for followed, count in pairs if followed == leader)


def _draw_sides(decoder: Decoder, ax: Axes) -> None:
    """Both half-planes, with their classes in the corners that are furthest inside, and the line between them."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x, y = np.meshgrid([left, right], [bottom, top])  # the logit is linear: corners say all
    says = decoder.says(np.stack([x, y], axis=-1))
    reach = float(np.abs(says).max()) + 1
    tints = [look_of_class(c, len(CLASSES))[0] for c in range(len(CLASSES))]
    ax.contourf(x, y, says, levels=[-reach, 0, reach], colors=tints, alpha=0.1, zorder=0)
    ax.contour(x, y, says, levels=[0], colors=INK, linewidths=0.9, zorder=1)
    for name, corner in zip(CLASSES, (says.argmin(), says.argmax()), strict=True):
        row, column = divmod(int(corner), 2)
        ax.text(
            *(0.02 + 0.96 * column, 0.02 + 0.96 * row),
            name,
            transform=ax.transAxes,
            ha=("left", "right")[column],
            va=("bottom", "top")[row],
            fontsize=7,
            style="italic",
            color=INK,
            zorder=2,
        )


def _key() -> list[Line2D]:
    stars = [sign(LEADER, look_of_class(c, 2)[0], f"leader, for {name}", 10) for c, name in enumerate(CLASSES)]
    return [
        *stars,
        sign(LEADER, INK, "neutral leader", 10),
        sign("o", FAINT, "other word", 4),
        sign("^", INK, "mean of all words", 8),
        Line2D([], [], color=INK, lw=0.9, label="decoder: logit 0"),
        sign("+", FAINT, "origin", 5, face=FAINT),
    ]


def animate(numbers: Numbers, path: Path) -> None:
    """Both reviews by all models, layer by layer."""
    models = numbers["models"]
    with our_look():
        figure = Figure(figsize=(3.4 * len(models), 3.9 * len(REVIEWS)), dpi=100)
        panels = figure.subplots(len(REVIEWS), len(models), squeeze=False)
        figure.subplots_adjust(left=0.01, right=0.99, top=0.93, bottom=0.01, wspace=0.03, hspace=0.14)

        def frame(layer: int) -> None:
            for column, model in zip(panels.T, models, strict=True):
                for ax, review in zip(column, model["reviews"], strict=True):
                    ax.clear()
                    draw_review(model, review, min(layer, model["layers"]), ax)

        deepest = max(model["layers"] for model in models)
        write_film(figure, path, range(deepest + 1), frame, fps=1.5)


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each leader of each review."""
    rows = [
        [model["source"], review["review"], word, _followers(review, token), review["leader_since"][token], own]
        for model in numbers["models"]
        for review in model["reviews"]
        for token, (word, own) in enumerate(zip(review["words"], review["own_logits"], strict=True))
        if review["leader_since"][token] >= 0
    ]
    return [["whose", "review", "leader", "words that follow it", "since layer", "its own logit"], *rows]


def remark(numbers: Numbers) -> str:
    """Who leads in each, what the logit is before and after, and what the neutral leader changes."""
    told = []
    for model in numbers["models"]:
        parts = [
            f"the {review['review']} review is led by {listed(_leaders(review))}, and its logit goes from "
            f"{review['logits'][0]:+.1f} to {review['logits'][-1]:+.1f}"
            for review in model["reviews"]
        ]
        right = sum((review["logits"][-1] > 0) == (review["review"] == CLASSES[1]) for review in model["reviews"])
        told.append(f"{_SAID[model['source']]} {'; '.join(parts)} ({right} of {len(parts)} read correctly).")
    theirs, own = (next(m for m in numbers["models"] if m["source"] == source) for source in (AUTHORS, OWN))
    unsure = {word for review in theirs["reviews"] for word in review["unsure"]}
    words = {word for review in theirs["reviews"] for word in review["words"]}
    shares = listed([f"{100 * _neutral_share(review):.0f} %" for review in own["reviews"]])
    return (
        f"{' '.join(told)} The two networks of the paper find something like a neutral leader by themselves: the one "
        f"with the most followers, {_near_the_line(numbers['models'])}, lies far out but near the line where the logit "
        f"is 0. Our model has one for all reviews, exactly on that line: {shares} of the words of the two reviews "
        f"follow it, and the others are the active tokens. With the authors' weights {len(unsure)} of "
        f"{pluralize(len(words), 'word')} might have the vector of another word that is as frequent."
    )


def _near_the_line(models: Sequence[Mapping[str, Any]]) -> str:
    """The leader with the most followers of each review by the paper's networks, with its own logit."""
    found = []
    for review in (review for model in models if model["source"] != OWN for review in model["reviews"]):
        leads = [token for token, since in enumerate(review["leader_since"]) if since >= 0]
        first = max(leads, key=lambda token: _followers(review, token))
        followers = f"{_followers(review, first)} of {sum(review['counts'])}"
        found.append(f"{review['words'][first]} ({followers}, logit {review['own_logits'][first]:+.1f})")
    return listed(found)


def _leaders(review: Mapping[str, Any]) -> list[str]:
    return [word for word, since in zip(review["words"], review["leader_since"], strict=True) if since >= 0]


def _neutral_share(review: Mapping[str, Any]) -> float:
    """The share of the words that follow the neutral leader, which is none of them."""
    neutral = review["words"].index(NEUTRAL)
    return (_followers(review, neutral) - 1) / (sum(review["counts"]) - 1)


PIECE = Piece(
    name="reviews",
    title="Two reviews, layer by layer",
    caption=(
        "The words of a positive and of a negative review in the plane, at the first and at the last layer. Dots are "
        "words, stars leaders, with their names and, at the last layer, how many words follow them, themselves "
        "included; the triangle is the mean of all words, which the decoder reads: on "
        "the blue side of the line it says positive, on the red side negative. First row: the paper's network trained "
        "by us, with its last weights; second row: the authors' saved weights, whose rows are given to our words by "
        "frequency; third row: our own model, where words that say little follow a neutral leader on the line. The "
        "reviews were written for this picture. In the first two rows stop words are left out, and a review has 128 "
        "words, padding among them."
    ),
    compute=compute,
    draw=draw,
    table=table,
    animate=animate,
    remark=remark,
)
