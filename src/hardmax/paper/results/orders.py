"""The same training with the reviews in other orders: how much of a figure is chance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hardmax.figures.palette import BLUE, INK, VERMILION
from hardmax.figures.style import Axes, Figure, MaxNLocator, our_look
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.results.documents import kept_document
from hardmax.paper.results.histories import authors_history, kept_training

DIMENSIONS = (2, 4)
EPOCHS = (10, 50, 100)  # in which losses are compared
_LOOKS = {2: (BLUE, "o"), 4: (VERMILION, "s")}  # colour and mark


def compute(setting: Setting) -> Numbers:
    """What the kept trainings came to, order by order; the first order is that of the other pieces."""
    others = kept_document("orders")["runs"]
    return {"runs": [_one(dimension, others) for dimension in DIMENSIONS]}


def _one(dimension: int, others: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first, theirs = kept_training(dimension, "paper")["history"], authors_history(dimension)
    own = {"order": 0, "test": first["judged_accuracy"], "loss": first["train_loss"], "alpha": first["alpha"]}
    orders = [own, *(run for run in others if run["dimension"] == dimension)]
    return {
        "dimension": dimension,
        "orders": [_told(run) for run in orders],
        "theirs": {
            "best": theirs["best"]["test_accuracy"],
            "test": theirs["test_accuracy"],
            "losses": [theirs["train_loss"][epoch] for epoch in EPOCHS],
        },
    }


def _told(run: Mapping[str, Any]) -> dict[str, Any]:
    test = [round(value, 4) for value in run["test"]]
    return {
        "order": run["order"],
        "best": max(test),
        "best_epoch": int(np.argmax(test)),
        "test": test,
        "losses": [round(run["loss"][epoch], 4) for epoch in EPOCHS],
        "smallest_alpha": round(min(run["alpha"]), 3),
        "last_alpha": round(run["alpha"][-1], 3),
    }


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """Left the curves for d = 2, right what the smallest step has to do with the best accuracy."""
    with our_look():
        figure = Figure(figsize=(7.6, 3.6))
        curves, against = figure.subplots(1, 2)
        _draw_curves(curves, numbers["runs"][0])
        _draw_against(against, numbers["runs"])
        for ax in (curves, against):
            ax.grid(axis="y", lw=0.4, alpha=0.5)
            for side in ("top", "right"):
                ax.spines[side].set_visible(False)
        figure.tight_layout()
    return {"": figure}


def _draw_curves(ax: Axes, run: Mapping[str, Any]) -> None:
    for order in run["orders"]:
        label = f"ours, {len(run['orders'])} orders" if order["order"] == 0 else None
        ax.plot(order["test"], color=BLUE, lw=0.9, alpha=0.55, label=label)
    ax.plot(run["theirs"]["test"], color=INK, lw=1.4, ls=(0, (3, 2)), label="the authors'")
    ax.set_title(f"d = {run['dimension']}: test accuracy")
    ax.set_xlabel("epoch")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
    ax.legend(loc="lower right", frameon=False, fontsize=8)


def _draw_against(ax: Axes, runs: Sequence[Mapping[str, Any]]) -> None:
    for run in runs:
        colour, mark = _LOOKS[run["dimension"]]
        steps = [order["smallest_alpha"] for order in run["orders"]]
        bests = [order["best"] for order in run["orders"]]
        ax.plot(steps, bests, mark, color=colour, mec=INK, mew=0.5, ms=5, label=f"ours, d = {run['dimension']}")
        ax.axhline(run["theirs"]["best"], color=colour, lw=1.1, ls=(0, (3, 2)))
        name = f"the authors', d = {run['dimension']}"
        ax.annotate(name, (1, run["theirs"]["best"]), (-2, 3), xycoords=("axes fraction", "data"),
                    textcoords="offset points", ha="right", fontsize=7.5, color=colour)  # fmt: skip
    ax.set_title("best test accuracy")
    ax.set_xlabel("smallest alpha of the training")
    ax.legend(loc="upper right", frameon=False, fontsize=8)
    ax.set_ylim(0.785, 0.85)


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each order."""
    losses = [f"loss, epoch {epoch}" for epoch in EPOCHS]
    head = ["d", "order", "best test", "epoch", *losses, "smallest alpha", "last alpha"]
    rows: list[list[Any]] = []
    for run in numbers["runs"]:
        for one in run["orders"]:
            alphas = [one["smallest_alpha"], one["last_alpha"]]
            rows.append([run["dimension"], one["order"], one["best"], one["best_epoch"], *one["losses"], *alphas])
        theirs = run["theirs"]
        epoch = int(np.argmax(theirs["test"]))
        rows.append([run["dimension"], "the authors'", theirs["best"], epoch, *theirs["losses"], None, None])
    return [head, *rows]


def remark(numbers: Numbers) -> str:
    """How far orders part, and what goes with it."""
    told = []
    for run in numbers["runs"]:
        bests, theirs = [order["best"] for order in run["orders"]], run["theirs"]["best"]
        near = sum(abs(best - theirs) <= 0.015 for best in bests)
        alike = sum(_is_alike(order["losses"], run["theirs"]["losses"]) for order in run["orders"])
        told.append(
            f"d = {run['dimension']}: in {len(bests)} orders the best test accuracy is {min(bests):.2%} to "
            f"{max(bests):.2%}, {np.mean(bests):.2%} in the mean (standard deviation {100 * np.std(bests, ddof=1):.1f} "
            f"points); the authors' {theirs:.2%} is at most 1.5 points from {near} of these; the training losses at "
            f"epochs {', '.join(map(str, EPOCHS))} are, all three, within a tenth of the authors' in {alike}"
        )
    plane = numbers["runs"][0]["orders"]
    goes_with = np.corrcoef([one["smallest_alpha"] for one in plane], [one["best"] for one in plane])[0, 1]
    return (
        "Weights, reviews, and which of them are tested are the same; only the order in which they come differs. "
        + "; ".join(told)
        + ". In the plane the order decides how small the step becomes: where alpha falls to a tenth words hardly "
        "cluster, and reviews are read better; where it stays large they gather in a few leaders, and less is left to "
        f"tell them apart. The best accuracy goes with the smallest alpha (correlation {goes_with:+.2f}). The authors' "
        "alpha ended at 2.35, and their curve looks like that of a training whose alpha never fell. So a figure of one "
        "training in the plane is worth plus or minus two points, theirs and ours."
    )


def _is_alike(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    return all(abs(own - other) <= 0.1 * other for own, other in zip(ours, theirs, strict=True))


PIECE = Piece(
    name="orders",
    title="The same training in other orders",
    caption=(
        "The paper's network, trained as in the paper from the same weights on the same reviews, which come in another "
        "order each time. Left: test accuracy in every epoch in two dimensions, all orders; the dashed curve is the "
        "authors'. Right: the best test accuracy of each training against the smallest alpha that it had on its way, "
        "for two dimensions (dots) and four (squares); dashed lines are the authors' best."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
