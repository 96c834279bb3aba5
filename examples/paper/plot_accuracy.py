"""
Accuracy during training
========================

Training and test accuracy of the paper's classifier in 2, 4, 8 and 16 dimensions: the authors'
training histories (solid) and ours (dashed). Ours come from ``train.py``, which follows the
authors' program step by step: the same starting weights for d = 2, ``BCELoss`` of a float32
sigmoid, the batches that torch's ``DataLoader`` draws, one seed for all four dimensions, and
accuracies that are means of batch means. What differs is the order of the reviews: only its first
2,000 are known to us, so most of the training and the test part are others than theirs.

With d = 2 another order of the reviews can end some two points higher; *Two outcomes of training in
the plane* says why. With d = 16 our last test loss is 23 % higher than the authors', though the
accuracies agree; we do not know why. The best epoch is chosen on the test part, as in the paper, so
it is no estimate of the accuracy on new reviews."""

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import DIMENSIONS, load

authors, ours = load("authors")["training"], load("training")["curves"]

# %%
print("     best test accuracy (epoch)      last test       last training   last test loss")
print(" d   authors        ours             authors  ours   authors  ours   authors  ours")
for d in DIMENSIONS:
    theirs, mine = (np.array(curve) for curve in (authors[d]["test_acc"], ours[d]["test_accuracy"]))
    best = "   ".join(f"{100 * curve.max():.2f} % ({curve.argmax():3})" for curve in (theirs, mine))
    last = f"{100 * theirs[-1]:.1f}     {100 * mine[-1]:.1f}   "
    training = (
        f"{100 * authors[d]['train_acc'][-1]:5.1f}   {100 * ours[d]['train_accuracy'][-1]:5.1f}"
    )
    losses = f"{authors[d]['test_loss'][-1]:.2f}     {ours[d]['test_loss'][-1]:.2f}"
    print(f"{d:>2}   {best}    {last} {training}   {losses}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, part, name in zip(panels, ("train", "test"), ("training", "test"), strict=True):
    for d, color in DIMENSIONS.items():
        ax.plot(authors[d][f"{part}_acc"], color=color, label=f"d = {d}")
        ax.plot(ours[d][f"{part}_accuracy"], "--", color=color, lw=1.2)
    ax.set(xlabel="epoch", ylabel=f"{name} accuracy", ylim=(0.5, 1.02))
    ax.grid(alpha=0.3)
panels[0].plot([], [], color="black", label="authors")
panels[0].plot([], [], "--", color="black", label="ours")
panels[0].legend(frameon=False, ncols=2)
plt.show()
