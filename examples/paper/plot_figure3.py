"""
Figure 3: three kinds of networks
=================================

A deep neural network with feed-forward and normalization sublayers (top), a full transformer
(middle), and the pure-attention transformer that the paper and this package treat (bottom). Each
maps the tokens :math:`Z^0` through K layers to :math:`Z^K`; the lines above the blocks are residual
connections.

In the last network self-attention adds alpha times the mean :math:`w_i` of the attended tokens and
normalization divides by 1 + alpha: together :math:`z_i \\mapsto (z_i + \\alpha w_i) / (1 +
\\alpha)`. That is ``hardmax.step``."""

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch
from paper_numbers import BLUE, GREEN, GREY, INK, ORANGE

ATTENTION, FEED_FORWARD, NORMALIZATION = "self-attention", "feed-forward", "normalization"
COLORS = {ATTENTION: BLUE, FEED_FORWARD: ORANGE, NORMALIZATION: GREEN}
FORMULAS = {ATTENTION: r"$z_i + \alpha w_i$", NORMALIZATION: r"$\div\,(1 + \alpha)$"}
NETWORKS = {
    "deep neural network": (FEED_FORWARD, NORMALIZATION),
    "full transformer": (ATTENTION, NORMALIZATION, FEED_FORWARD, NORMALIZATION),
    "pure-attention transformer": (ATTENTION, NORMALIZATION),
}
WIDTH, HEIGHT, GAP = 1.25, 0.5, 0.55


def box(ax, left, width, y, text, color):
    """A rounded box with its text."""
    style = "round,pad=0,rounding_size=0.06"
    ax.add_patch(
        FancyBboxPatch(
            (left, y - HEIGHT / 2), width, HEIGHT, boxstyle=style, fc=color + "22", ec=color
        )
    )
    ax.text(left + width / 2, y, text, ha="center", va="center", fontsize=9)


def arrow(ax, start, end, y):
    """A horizontal arrow."""
    ax.annotate(
        "",
        (end, y),
        (start, y),
        arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0},
    )


# %%
figure, ax = plt.subplots(figsize=(10, 4.6))
for row, (name, blocks) in enumerate(NETWORKS.items()):
    y, x = -1.6 * row, 0.0
    box(ax, x, 0.5, y, "$Z^0$", INK)
    x += 0.5
    frame = x + GAP / 2
    for block in blocks:
        arrow(ax, x, x + GAP, y)
        box(ax, x + GAP, WIDTH, y, block, COLORS[block])
        end = x + GAP + WIDTH
        if row == len(NETWORKS) - 1:
            ax.text(
                end - WIDTH / 2, y - 0.42, FORMULAS[block], ha="center", va="center", fontsize=9
            )
        if block != NORMALIZATION:  # the residual connection
            start, plus = x + GAP * 0.6, end + GAP * 0.5
            ax.plot([start, start, plus, plus], [y, y + 0.42, y + 0.42, y + 0.1], color=INK, lw=1)
            ax.plot(plus, y, "o", ms=11, mfc="white", mec=INK)
            ax.text(plus, y - 0.01, "+", ha="center", va="center")
            ax.plot([end, plus - 0.09], [y, y], color=INK, lw=1)
            end = plus + 0.09
        x = end
    size = (x + GAP / 2 - frame, 1.15)
    ax.add_patch(
        FancyBboxPatch((frame, y - 0.6), *size, boxstyle="round,pad=0", fc="none", ec=GREY, lw=0.8)
    )
    arrow(ax, x, x + GAP, y)
    box(ax, x + GAP, 0.5, y, "$Z^K$", INK)
    ax.text(frame, y + 0.68, f"{name}: this layer $K$ times", va="center", fontsize=10)
ax.set(xlim=(-0.1, 9.9), ylim=(-4, 1), aspect="equal")
ax.axis("off")
plt.show()
