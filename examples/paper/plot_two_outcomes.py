"""
Two outcomes of training in the plane
=====================================

With d = 2 the authors' classifier reaches 79.1 % on its test reviews and a training loss of 0.160.
Trained again from the same starting weights, it usually ends at 80 to 83 % and at a loss of 0.02 to
0.1. That is too far away for chance in the choice of the test reviews.

The difference is in alpha, the step size that is learned along with the words. From its start at
0.98 it rises in the first epochs. In most trainings it falls again, often below 0.2; in some it
stays above 1.5, the words gather in a few leaders, and training is slow. The authors' training is
of the slow kind: their final alpha is 2.35.

The order of the batches decides, and so does rounding: the same training has other values of alpha
on a CPU than on a GPU after one epoch. The run with all of the authors' choices, which is shown in
the other figures, is of the slow kind, too; since most of its reviews come in another order than
theirs, that is partly luck."""

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import BLUE, GREY, INK, RED, load

authors, runs = load("authors"), load("training")["plane"]
EPOCH, LARGE = 30, 1.5

# %%
# All runs start from the same weights. The option that is varied is the order of the batches; in addition the loss
# (``BCELoss`` of a float32 sigmoid as in the authors' program, or the stable cross-entropy of logits). Some runs were
# stopped after 31 epochs.
for loss in ("bce", "logits"):
    some = [run for run in runs if run["loss"] == loss]
    slow = [run for run in some if run["alpha"][EPOCH] > LARGE]
    print(
        f"loss {loss}: alpha is above {LARGE} after epoch {EPOCH} in {len(slow)} of {len(some)} trainings"
    )
    for run in slow:
        if len(run["alpha"]) > 100:
            print(
                f"    loss {run['train_loss'][-1]:.3f}, test {100 * run['test_accuracy'][-1]:.1f} %, ",
                end="",
            )
            print(f"alpha {run['alpha'][-1]:.2f} at the end")
theirs = authors["training"]["2"]
print(
    f"authors: loss {theirs['train_loss'][-1]:.3f}, test {100 * theirs['test_acc'][-1]:.1f} %, ",
    end="",
)
print(f"alpha {authors['model']['alpha']:.2f} at the end")
quick = [
    run["test_accuracy"][-1]
    for run in runs
    if run["alpha"][EPOCH] <= LARGE and len(run["alpha"]) > 100
]
print(
    f"the other {len(quick)} complete trainings: test {100 * min(quick):.1f} to {100 * max(quick):.1f} %"
)

# %%
# There are too few trainings here to say whether the authors' loss makes the slow outcome more likely.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, key, name in zip(panels, ("alpha", "train_loss", "test_accuracy"), ("alpha", "training loss", "test accuracy"),
                         strict=True):  # fmt: skip
    for run in sorted(runs, key=lambda run: run["alpha"][EPOCH]):
        is_slow = run["alpha"][EPOCH] > LARGE
        ax.plot(run[key], color=RED if is_slow else GREY, lw=1.4 if is_slow else 0.6)
    ax.set(xlabel="epoch")
    ax.set_title(name, loc="left")
    ax.grid(alpha=0.3)
panels[0].plot(100, authors["model"]["alpha"], "D", color=INK)
panels[1].plot(theirs["train_loss"], color=INK, ls="--")
panels[2].plot(theirs["test_acc"], color=INK, ls="--")
panels[1].set_yscale("log")
panels[0].axvline(EPOCH, color=BLUE, ls=":", lw=1)
for look, name in (({"color": RED}, "alpha stays large"), ({"color": GREY}, "alpha falls")):
    panels[2].plot([], [], label=name, **look)
panels[2].plot([], [], "D--", color=INK, label="authors")
panels[2].legend(frameon=False, loc="lower right")
print(f"correlation of final test accuracy and alpha after epoch {EPOCH}: ", end="")
complete = [
    (run["alpha"][EPOCH], run["test_accuracy"][-1]) for run in runs if len(run["alpha"]) > 100
]
print(f"{np.corrcoef(np.transpose(complete))[0, 1]:.2f}")
plt.show()
