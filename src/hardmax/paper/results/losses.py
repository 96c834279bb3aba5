"""Training loss of the softmax that is trained, and of the hardmax with the same weights, ours beside the authors'."""

from collections.abc import Mapping, Sequence
from typing import Any

from hardmax.figures.palette import BLUE, GREEN, INK, VERMILION
from hardmax.figures.style import Axes, Figure, MaxNLocator, our_look
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.results.histories import PLANTED, authors_history, epoch_times, our_result

SHOWN = (2, 4)


def compute(setting: Setting) -> Numbers:
    """The losses for d = 2 and 4, with those of a training that has the exact hardmax in place of the softmax."""
    return {"runs": [_one(dimension, setting) for dimension in SHOWN], "times": epoch_times()}


def _one(dimension: int, setting: Setting) -> dict[str, Any]:
    ours, exact = (our_result(dimension, kind, setting) for kind in ("paper", "exact"))
    theirs, hard = authors_history(dimension), ours["history"]["hard"]
    return {
        "dimension": dimension,
        "source": ours["source"],
        "ours": {
            "softmax": _short(ours["history"]["train_loss"]),
            "epochs": hard["epochs"],
            "hardmax": _short(hard["train_loss_hard"]),
            "accuracy": ours["last"]["judged_accuracy"],
        },
        "exact": {
            "loss": _short(exact["history"]["train_loss"]),
            "accuracy": exact["last"]["judged_accuracy"],
        },
        "theirs": {
            "softmax": theirs["train_loss"],
            "epochs": theirs["hard"]["epochs"],
            "hardmax": theirs["hard"]["train_loss"],
            "accuracy": theirs["test_accuracy"][-1],
        },
    }


def _short(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A panel for each d: lines for softmax, marks for hardmax."""
    runs = numbers["runs"]
    with our_look():
        figure = Figure(figsize=(7.6, 3.8))
        panels = figure.subplots(1, len(runs), sharey=True, squeeze=False)[0]
        for ax, run in zip(panels, runs, strict=True):
            _draw_run(ax, run)
        panels[0].set_ylabel("training loss")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="lower center", ncols=3, frameon=False, fontsize=8)
        figure.tight_layout(rect=(0, 0.13, 1, 1))
    return {"": figure}


def _draw_run(ax: Axes, run: Mapping[str, Any]) -> None:
    ours, theirs, exact = run["ours"], run["theirs"], run["exact"]
    ax.plot(ours["softmax"], color=BLUE, lw=1.6, label="ours, softmax")
    ax.plot(ours["epochs"], ours["hardmax"], "o", color=BLUE, mec=INK, mew=0.5, ms=5, label="ours, hardmax", zorder=4)
    ax.plot(theirs["softmax"], color=VERMILION, lw=1.0, ls=(0, (3, 2)), label="the authors', softmax")
    ax.plot(theirs["epochs"], theirs["hardmax"], "x", color=VERMILION, ms=6, label="the authors', hardmax", zorder=5)
    ax.plot(exact["loss"], color=GREEN, lw=1.2, ls=":", label="ours, trained with hardmax itself")
    planted = f" ({PLANTED})" if run["source"] == PLANTED else ""
    ax.set_title(f"d = {run['dimension']}{planted}")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("epoch")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
    ax.grid(axis="y", lw=0.4, alpha=0.5)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def table(numbers: Numbers) -> list[list[Any]]:
    """The losses in the epochs in which hardmax was measured."""
    head = ["d", "reviews", "epoch", "softmax, ours", "hardmax, ours", "softmax, authors", "hardmax, authors"]
    rows: list[list[Any]] = []
    for run in numbers["runs"]:
        ours, theirs, exact = run["ours"], run["theirs"], run["exact"]
        known = dict(zip(theirs["epochs"], theirs["hardmax"], strict=True))
        for epoch, hard in zip(ours["epochs"], ours["hardmax"], strict=True):
            losses = [ours["softmax"][epoch], hard, theirs["softmax"][epoch], known.get(epoch), exact["loss"][epoch]]
            rows.append([run["dimension"], run["source"], epoch, *losses])
    return [[*head, "trained with hardmax"], *rows]


def remark(numbers: Numbers) -> str:
    """How far hardmax is from the softmax it replaces, and what training it directly gives."""
    told = []
    for run in numbers["runs"]:
        ours, exact = run["ours"], run["exact"]
        gap = max(abs(ours["softmax"][e] - h) for e, h in zip(ours["epochs"], ours["hardmax"], strict=True))
        told.append(
            f"d = {run['dimension']}: softmax and hardmax differ by at most {gap:.4f} (theirs by "
            f"{_their_gap(run['theirs']):.4f}); the last loss is {ours['softmax'][-1]:.4f}, theirs "
            f"{run['theirs']['softmax'][-1]:.4f}, and {exact['loss'][-1]:.4f} where hardmax itself is trained, with "
            f"test accuracies {ours['accuracy']:.2%}, {run['theirs']['accuracy']:.2%} and {exact['accuracy']:.2%}"
        )
    stand_in = any(run["source"] == PLANTED for run in numbers["runs"])
    doubt = " Planted words stand in for the reviews here: our losses and the authors' are not of the same texts."
    return "Training loss: " + "; ".join(told) + "." + _told_times(numbers["times"]) + (doubt if stand_in else "")


def _told_times(times: Mapping[str, Any]) -> str:
    names = {"paper": "softmax", "exact": "hardmax"}
    told = (
        f"{row['seconds']:.2f} s and {row['megabytes']} MB with {names[row['kind']]}, d = {row['dimension']}"
        for row in times["rows"]
    )
    return f" An epoch takes, on one {times['device']}: {'; '.join(told)}."


def _their_gap(theirs: Mapping[str, Any]) -> float:
    pairs = zip(theirs["epochs"], theirs["hardmax"], strict=True)
    return max(abs(theirs["softmax"][epoch] - hard) for epoch, hard in pairs)


PIECE = Piece(
    name="losses",
    title="Training loss with softmax and with hardmax",
    caption=(
        "Training loss in every epoch for embeddings of 2 and 4 dimensions. Lines are the softmax at temperature 0.001 "
        "that is trained; marks are the hardmax with the same weights, in the same batches, every tenth epoch. Ours "
        "are full lines and dots, the authors' dashed lines and crosses. The dotted line is a training of ours that "
        "needs no temperature: the hardmax itself, differentiated through the tokens it chooses."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
