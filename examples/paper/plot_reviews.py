"""
Two reviews: words gather around leaders
========================================

The paper shows the words of two film reviews at layer 0 and layer 8 of its classifier in two
dimensions: one review of *Strangeland* (positive) and one of *Attack Force* (negative). The dashed
line is where the decoder changes from negative (red) to positive (green); the triangle is the mean
of the 128 tokens, which decides.

The tokens are the rows of the authors' saved embedding that their vector graphic shows. Run by this
package they end at the published positions: the same four leaders each, and all 256 final positions
agree to 3e-6."""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, load

import hardmax as hm

authors = load("authors")
model, reviews = authors["model"], authors["reviews"]
decoder, bias = np.array(model["decoder"]), model["bias"]

# %%
# Eight layers of each review. Padding and repeated words are tokens like the others.
figure, panels = plt.subplots(2, 2, figsize=(9, 8.6), layout="constrained")
for row, (film, review) in zip(panels, reviews.items(), strict=True):
    run = hm.simulate(review["tokens"], hm.Dynamics(alpha=model["alpha"]), layers=8)
    error = np.abs(run.at(8) - review["final_positions"]).max()
    logits = [float(run.at(layer).mean(axis=0) @ decoder + bias) for layer in (0, 8)]
    print(
        f"{film}: logit {logits[0]:+.2f} at layer 0, {logits[1]:+.2f} at layer 8; settled at layer {run.settled_at};"
    )
    print(
        f"    largest difference from the published positions {error:.1e}; leaders {', '.join(review['leaders'])}"
    )

    leaders = [review["rows"].index(number) for number in review["leader_rows"]]
    assert set(np.array(review["rows"])[run.leaders]) == set(review["leader_rows"])
    ends = run.at(8)
    nearest = np.linalg.norm(ends[:, None] - ends[leaders], axis=2).argmin(axis=1)
    for ax, layer in zip(row, (0, 8), strict=True):
        tokens = run.at(layer)
        ax.scatter(
            *tokens.T, c=np.array([BLUE, ORANGE, PURPLE, GREY])[nearest], s=22, ec="white", lw=0.4
        )
        ax.scatter(
            *tokens[leaders].T,
            marker="*",
            s=170,
            c=[BLUE, ORANGE, PURPLE, GREY],
            ec=INK,
            lw=0.7,
            zorder=3,
        )
        for place, word in zip(leaders, review["leaders"], strict=True):
            text = ax.annotate(
                word,
                tokens[place],
                xytext=(0, 9),
                textcoords="offset points",
                ha="center",
                zorder=5,
            )
            text.set_bbox({"fc": "white", "ec": "none", "alpha": 0.7, "pad": 0.5})
        ax.plot(*tokens.mean(axis=0), "^", color=INK, mec="white", ms=10, zorder=4)
        ax.margins(0.14)
        x, y = ax.get_xlim(), ax.get_ylim()
        line = -(decoder[0] * np.array(x) + bias) / decoder[1]
        ax.plot(x, line, "--", color=INK, lw=1)
        ax.fill_between(x, line, 99, color=GREEN, alpha=0.1, lw=0)
        ax.fill_between(x, line, -99, color=RED, alpha=0.1, lw=0)
        ax.set(xlim=x, ylim=y)
        ax.set_title(f"{film}, layer {layer}: logit {logits[layer // 8]:+.2f}", loc="left")
plt.show()

# %%
# The texts are not part of this package. Where the IMDb reviews are at hand (HARDMAX_IMDB names the folder with
# train.parquet and test.parquet) they are printed.
if folder := os.environ.get("HARDMAX_IMDB"):
    import pandas

    for film, review in reviews.items():
        table = pandas.read_parquet(Path(folder) / review["file"], columns=["text"])
        print(f"\n{film}: {table['text'][review['row']]}")
