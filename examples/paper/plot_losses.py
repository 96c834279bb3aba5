"""
Softmax and hardmax training loss
=================================

The classifier is trained with softmax attention of temperature 0.001. How much does it matter that
the theory is about hardmax? Every tenth epoch the same weights are also evaluated with hardmax
(markers). The two losses agree to about two digits for the authors and for us: at the end of
training with d = 4 theirs are 0.0151 and 0.0146.

The axis is logarithmic, as in the paper.
"""

import matplotlib.pyplot as plt
from paper_numbers import DIMENSIONS, load

authors, ours = load("authors")["training"], load("training")["curves"]

# %%
print("          authors             ours")
print(" d epoch  softmax  hardmax    softmax  hardmax")
for d in ("2", "4"):
    for place, epoch in enumerate(authors[d]["train_loss_hardmax"]["epoch"]):
        theirs = f"{authors[d]['train_loss'][epoch]:.4f}   {authors[d]['train_loss_hardmax']['loss'][place]:.4f}"
        mine = f"{ours[d]['train_loss'][epoch]:.4f}   {ours[d]['hardmax']['train_loss'][place]:.4f}"
        print(f"{d:>2} {epoch:5}  {theirs}     {mine}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, name, curves in zip(panels, ("authors", "ours"), (authors, ours), strict=True):
    for d, marker in (("2", "^"), ("4", "o")):
        hardmax = curves[d]["train_loss_hardmax"] if name == "authors" else curves[d]["hardmax"]
        losses = hardmax["loss"] if name == "authors" else hardmax["train_loss"]
        ax.semilogy(curves[d]["train_loss"], color=DIMENSIONS[d], label=f"softmax, d = {d}")
        ax.semilogy(
            hardmax["epoch"],
            losses,
            marker,
            color=DIMENSIONS[d],
            mfc="none",
            label=f"hardmax, d = {d}",
        )
    ax.set(xlabel="epoch", ylabel="training loss")
    ax.set_title(name, loc="left")
    ax.grid(alpha=0.3)
panels[0].legend(frameon=False)
plt.show()
