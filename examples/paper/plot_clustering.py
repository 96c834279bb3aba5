"""
What clustering does for sentiment
==================================

The paper's classifier "effectively captures 'context' by clustering meaningless words around leader
words carrying the most meaning". Here it is trained with other numbers of layers, by
``clustering.py`` and with everything else as the authors have it, in five orders of the batches.
Above is the best test accuracy of 25 epochs, below how many of the leaders are in VADER's lexicon
of sentiment words. Marks and bars are means, upright lines the range of the five orders.

Without layers a review is the mean of its words, and accuracy is highest in every dimension. In the
plane, layers cost most, and leaders are sentiment words somewhat more often than other words are;
with d = 16 layers cost one point, and leaders are like all words. ``docs/clustering.md`` has all
numbers, and what was tried so that layers may help."""

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import DIMENSIONS, GREY, INK, PURPLE, load

EPOCHS, LAYERS = "25", (0, 1, 2, 8, 32)
MARKERS = dict(zip(DIMENSIONS, "os^D", strict=True))
cells = {
    (row["attention"], row["layers"], str(row["d"])): row["ends"][EPOCHS]
    for row in load("clustering")["cells"]
}


def percent(attention, layers, d, name="best"):
    """Mean, least and largest of the five orders, in percent."""
    values = cells[attention, layers, d][name]
    return 100 * np.mean(values), 100 * min(values), 100 * max(values)


# %%
print("best test accuracy\n layers             " + "".join(f"d = {d:<6}" for d in DIMENSIONS))
for attention, layers in [("softmax", k) for k in LAYERS] + [("hard", 1), ("hard", 8)]:
    row = "".join(f"{percent(attention, layers, d)[0]:.1f} %    " for d in DIMENSIONS)
    print(f"{layers:>3}   {attention:<14}{row}")
print("\nleaders with 8 layers, their share in VADER's lexicon, and that of all words")
for d in DIMENSIONS:
    leaders = np.mean(cells["softmax", 8, d]["leaders"])
    shares = (percent("softmax", 8, d, f"vader, {name}")[0] for name in ("leaders", "words"))
    print(f"d = {d:<3} {leaders:4.0f} a review   " + "   ".join(f"{x:.1f} %" for x in shares))

# %%
# Dashed and open: attention that is truly hard, with gradients through the attended points alone.
# Softmax at temperature 0.001, the authors' choice, reads as hardmax does, but is harder to train.
figure, (above, below) = plt.subplots(
    2, 1, figsize=(6, 7.6), height_ratios=(3, 2), layout="constrained"
)
for shift, (d, color) in zip((-0.15, -0.05, 0.05, 0.15), DIMENSIONS.items(), strict=True):
    for attention, style, face in (("hard", "--", "white"), ("softmax", "-", color)):
        asked = [k for k in LAYERS if k == 0 or (attention, k, d) in cells]
        found = [percent(attention if k else "softmax", k, d) for k in asked]
        mean, low, high = np.transpose(found)
        place = np.array([LAYERS.index(k) for k in asked]) + shift
        above.plot(place, mean, style, color=color, marker=MARKERS[d], mfc=face, ms=6, lw=1.4)
        above.vlines(place, low, high, color=color, lw=1.4)
        if attention == "softmax":
            above.text(4.3, mean[-1], f"d = {d}", color=INK, va="center")
above.set_xticks(range(len(LAYERS)), [str(k) for k in LAYERS])
above.set(
    xlim=(-0.3, 4.8),
    ylim=(71, 90),
    yticks=range(72, 91, 2),
    xlabel="layers",
    ylabel="best test accuracy, %",
)
above.set_title("Accuracy", loc="left")
for style, face, name in (("-", INK, "softmax, as in the paper"), ("--", "white", "truly hard")):
    above.plot([], [], style, color=INK, marker="o", mfc=face, label=name)
above.legend(framealpha=1, edgecolor="none", loc="center right", bbox_to_anchor=(0.98, 0.32))

kinds = {
    "8 layers, softmax": ("softmax", 8, {"fc": INK}),
    "8 layers, truly hard": ("hard", 8, {"fc": "white", "ls": "--"}),
    "no layers: words that would lead": ("softmax", 0, {"fc": "#D0D0D0", "hatch": "///"}),
}
for place, (name, (attention, layers, look)) in enumerate(kinds.items()):
    shares = [percent(attention, layers, d, "vader, leaders") for d in DIMENSIONS]
    mean, low, high = np.transpose(shares)
    at = np.arange(len(DIMENSIONS)) + 0.26 * (place - 1)
    below.bar(at, mean, 0.22, ec=INK, label=name, **look)
    below.vlines(at, low, high, color=GREY, lw=2)
among_all = percent("softmax", 8, "2", "vader, words")[0]
below.axhline(among_all, color=PURPLE, lw=2, label="all words")
counts = [np.mean(cells["softmax", 8, d]["leaders"]) for d in DIMENSIONS]
names = [f"d = {d}\n{count:.0f} leaders" for d, count in zip(DIMENSIONS, counts, strict=True)]
below.set_xticks(range(len(names)), names)
below.set(ylabel="in VADER's lexicon, %", xlabel="leaders a review, with 8 layers, softmax")
below.set_title("What leads", loc="left")
below.legend(framealpha=1, edgecolor="none")
for ax in (above, below):
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
plt.show()
