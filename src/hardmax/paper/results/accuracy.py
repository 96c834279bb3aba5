"""Accuracy in every epoch of the paper's network, for its four dimensions, ours beside the authors'."""

from collections.abc import Mapping, Sequence
from typing import Any

from hardmax.figures.palette import BLUE, INK, VERMILION
from hardmax.figures.style import Axes, Figure, MaxNLocator, our_look
from hardmax.paper.mode.plan import DIMENSIONS
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.results.histories import PLANTED, authors_history, our_result
from hardmax.text.shipped import load

MODELS = ("imdb-2d", "imdb-2d-best")
# Name in legends, colour and shape of the two curves.
_LOOKS = {"train": ("training", BLUE, "o"), "test": ("test", VERMILION, "s")}


def compute(setting: Setting) -> Numbers:
    """The curves for each d, the epoch that the test reviews choose, and what an epoch chosen without them is worth."""
    return {"runs": [_one(dimension, setting) for dimension in DIMENSIONS], "models": [_model(n) for n in MODELS]}


def _model(name: str) -> dict[str, Any]:
    """What is on the card of a model that ships."""
    model = load(name)
    accuracy = model.metrics["accuracy"]
    return {"name": name, "dimension": model.dimension, "accuracy": round(accuracy, 4)}


def _one(dimension: int, setting: Setting) -> dict[str, Any]:
    ours, validated = (our_result(dimension, kind, setting) for kind in ("paper", "validated"))
    theirs, history = authors_history(dimension), ours["history"]
    return {
        "dimension": dimension,
        "source": ours["source"],
        "ours": {
            "train": _short(history["train_accuracy"]),
            "test": _short(history["judged_accuracy"]),
            "best": ours["chosen"]["judged_accuracy"],
            "best_epoch": ours["chosen"]["epoch"],
        },
        "validated": {"epoch": validated["chosen"]["epoch"], "test": validated["test"]["accuracy"]},
        "theirs": {
            "train": theirs["train_accuracy"],
            "test": theirs["test_accuracy"],
            "best": theirs["best"]["test_accuracy"],
            "best_epoch": theirs["best"]["epoch"],
        },
    }


def _short(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A panel for each d; ours in full lines, theirs dashed."""
    runs = numbers["runs"]
    with our_look():
        figure = Figure(figsize=(7.6, 5.6))
        panels = figure.subplots(2, -(-len(runs) // 2), sharey=True, squeeze=False)
        for ax, run in zip(panels.flat, runs, strict=False):
            _draw_run(ax, run)
        for row in panels:
            row[0].set_ylabel("accuracy")
        for ax in panels[-1]:
            ax.set_xlabel("epoch")
        handles, names = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="lower center", ncols=3, frameon=False, fontsize=8)
        figure.tight_layout(rect=(0, 0.1, 1, 1))
    return {"": figure}


def _draw_run(ax: Axes, run: Mapping[str, Any]) -> None:
    for part, (name, colour, shape) in _LOOKS.items():
        marks = {"color": colour, "marker": shape, "markevery": 10, "ms": 3.5}
        ax.plot(run["ours"][part], lw=1.6, label=f"ours, {name}", **marks)
        ax.plot(run["theirs"][part], lw=1.0, ls=(0, (3, 2)), mfc="white", label=f"the authors', {name}", **marks)
    ours, validated = run["ours"], run["validated"]
    marks = {"mec": INK, "ms": 6.5, "ls": "", "zorder": 5}
    best, chosen = (ours["best_epoch"], ours["best"]), (validated["epoch"], validated["test"])
    ax.plot(*best, marker="^", color=VERMILION, label="ours, best of the test", **marks)
    ax.plot(*chosen, marker="D", color="white", label="ours, epoch chosen by held-out reviews", **marks)
    planted = f" ({PLANTED})" if run["source"] == PLANTED else ""
    ax.set_title(f"d = {run['dimension']}{planted}")
    ax.set_ylim(0.48, 1.01)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
    ax.grid(axis="y", lw=0.4, alpha=0.5)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def table(numbers: Numbers) -> list[list[Any]]:
    """For each d the best and the last test accuracy, ours and theirs, and the honest one."""
    head = ["d", "reviews", "best test, ours", "epoch", "best test, authors", "epoch", "last test, ours"]
    head += ["last test, authors", "last training, ours", "last training, authors", "held out chose", "its test, once"]
    rows = []
    for run in numbers["runs"]:
        ours, theirs, validated = run["ours"], run["theirs"], run["validated"]
        bests = [ours["best"], ours["best_epoch"], theirs["best"], theirs["best_epoch"]]
        lasts = [ours["test"][-1], theirs["test"][-1], ours["train"][-1], theirs["train"][-1]]
        rows.append([run["dimension"], run["source"], *bests, *lasts, validated["epoch"], validated["test"]])
    for model in numbers["models"]:
        source = f"{model['name']}, IMDb's own test part"
        rows.append([model["dimension"], source, *[None] * (len(head) - 3), model["accuracy"]])
    return [head, *rows]


def remark(numbers: Numbers) -> str:
    """What the curves say, d by d, and what choosing the epoch by the test is worth."""
    runs = [run for run in numbers["runs"] if run["source"] != PLANTED]
    if not runs:
        return (
            "Planted words stand in for the reviews here, so that our curves and the authors' are not of the same "
            "texts: results for IMDb are neither kept nor could be trained now."
        )
    bests = "; ".join(
        f"d = {run['dimension']}: {run['ours']['best']:.2%} in epoch {run['ours']['best_epoch']}, theirs "
        f"{run['theirs']['best']:.2%} in epoch {run['theirs']['best_epoch']}"
        for run in runs
    )
    gap = max(abs(run["ours"]["best"] - run["theirs"]["best"]) for run in runs)
    honest = "; ".join(f"d = {run['dimension']}: {run['validated']['test']:.2%}" for run in runs)
    return (
        f"Best test accuracy, ours and the authors': {bests}. They are at most {100 * gap:.1f} points apart; the "
        "order of the reviews, and so which of them are tested, is not known of theirs (the piece `orders` tells what "
        "that alone changes). In both the best epoch is "
        "chosen on the test reviews themselves. Where a tenth of the training reviews chooses it, the test, "
        f"looked at once, gives {honest}. Our own models, on IMDb's own test part (25,000 reviews to learn, 25,000 to "
        f"test, looked at once): {_told_models(numbers)}."
    )


def _told_models(numbers: Numbers) -> str:
    return ", ".join(f"{model['name']} {model['accuracy']:.2%}" for model in numbers["models"])


PIECE = Piece(
    name="accuracy",
    title="Accuracy in every epoch",
    caption=(
        "Accuracy of the paper's network (eight layers of softmax attention at temperature 0.001, sharing one alpha) "
        "on its training and test reviews after each epoch, for embeddings of 2, 4, 8 and 16 dimensions. Full lines "
        "are our trainings, dashed lines the authors'. Training accuracy is that of the batches as they came. The "
        "triangle is the best epoch by the test itself; the diamond is a second training, whose epoch was chosen by a "
        "tenth of the training reviews, with the accuracy on the test reviews, which were looked at once."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
