"""The paper's Figure 3: what a layer consists of, in three kinds of networks."""

from collections.abc import Mapping
from typing import Any

from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from hardmax.figures.palette import BLUE, FAINT, GREEN, INK, ORANGE
from hardmax.figures.style import Axes, Figure, our_look
from hardmax.paper.piece import Numbers, Piece, Setting

ATTENTION, FEED_FORWARD, NORMALISATION = "self-attention", "feed-forward", "normalisation"
# Blocks of one kind share an outline as well as a colour: nothing is told by colour alone.
LOOKS = {ATTENTION: (BLUE, "-"), FEED_FORWARD: (ORANGE, "--"), NORMALISATION: (GREEN, "-")}
NETWORKS = (
    ("deep neural network", (FEED_FORWARD, NORMALISATION)),
    ("full transformer", (ATTENTION, NORMALISATION, FEED_FORWARD, NORMALISATION)),
    ("pure-attention transformer", (ATTENTION, NORMALISATION)),
)
FORMULAS = {ATTENTION: r"$z_i + \alpha\, w_i$", NORMALISATION: r"$\div\ (1 + \alpha)$"}

# In inches: a figure of blocks is drawn on paper, not in coordinates of data.
_WIDTH, _ROW, _BLOCK, _HEIGHT, _GAP, _END, _PLUS = 9.7, 1.5, 1.2, 0.5, 0.42, 0.46, 0.09


def compute(setting: Setting) -> Numbers:
    """What the blocks of each network are, and which of them have a residual connection."""
    return {
        "networks": [
            {"name": name, "layer": [{"block": block, "residual": block != NORMALISATION} for block in blocks]}
            for name, blocks in NETWORKS
        ]
    }


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """The three networks under each other."""
    networks = numbers["networks"]
    with our_look():
        figure = Figure(figsize=(_WIDTH, _ROW * len(networks)))
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, _WIDTH), ylim=(0, _ROW * len(networks)), aspect="equal")
        ax.axis("off")
        for number, network in enumerate(networks):
            middle = _ROW * (len(networks) - number) - 0.82
            _draw_network(network, middle, ax, FORMULAS if network is networks[-1] else {})
    return {"": figure}


def _draw_network(network: dict[str, Any], middle: float, ax: Axes, formulas: Mapping[str, str]) -> None:
    """One row: the input, the blocks of a layer in their frame, the output."""
    widths = [_BLOCK + (_GAP if part["residual"] else 0) for part in network["layer"]]
    inner = sum(widths) + _GAP * (len(widths) + 1)
    first = 0.1
    left = first + _END + _GAP
    last = left + inner + _GAP
    ax.text(left, middle + 0.7, network["name"], fontsize=10.5, va="center", color=INK)
    _frame(left, left + inner, (middle - (0.62 if formulas else 0.42), middle + 0.56), ax)
    _box(first, _END, middle, r"$Z^0$", (INK, "-"), ax)
    _box(last, _END, middle, r"$Z^K$", (INK, "-"), ax)
    here, at = first + _END, left + _GAP
    for part, width in zip(network["layer"], widths, strict=True):
        _arrow((here, middle), (at, middle), ax)
        _box(at, _BLOCK, middle, part["block"], LOOKS[part["block"]], ax)
        if part["block"] in formulas:
            ax.text(at + _BLOCK / 2, middle - 0.33, formulas[part["block"]], ha="center", va="top", fontsize=8.5)
        if part["residual"]:
            _residual(at, at + width, middle, ax)
        here, at = at + width, at + width + _GAP
    _arrow((here, middle), (last, middle), ax)


def _box(left: float, width: float, middle: float, text: str, look: tuple[str, str], ax: Axes) -> None:
    color, line = look
    shape = "round,pad=0,rounding_size=0.06"
    corner = (left, middle - _HEIGHT / 2)
    ax.add_patch(FancyBboxPatch(corner, width, _HEIGHT, boxstyle=shape, fc="white", ec="none", zorder=2))
    ax.add_patch(FancyBboxPatch(corner, width, _HEIGHT, boxstyle=shape, fc=color, ec="none", alpha=0.12, zorder=2))
    ax.add_patch(FancyBboxPatch(corner, width, _HEIGHT, boxstyle=shape, fc="none", ec=color, ls=line, lw=1.2, zorder=3))
    ax.text(left + width / 2, middle, text, ha="center", va="center", fontsize=9, color=INK, zorder=4)


def _frame(left: float, right: float, heights: tuple[float, float], ax: Axes) -> None:
    """The frame around a layer, and how often it is applied."""
    bottom, top = heights
    shape, size = "round,pad=0,rounding_size=0.1", (right - left, top - bottom)
    ax.add_patch(FancyBboxPatch((left, bottom), *size, boxstyle=shape, fc="#FAFAFA", ec=FAINT, lw=0.8, zorder=0))
    ax.text(right, top + 0.14, r"layer, applied $K$ times", ha="right", va="center", fontsize=8.5, color=INK)


def _residual(left: float, plus: float, middle: float, ax: Axes) -> None:
    """A way round the block, and the sign where both ways are added."""
    over, start = middle + 0.41, left - _GAP / 2
    _arrow((left + _BLOCK, middle), (plus - _PLUS, middle), ax)
    ax.plot([start, start, plus], [middle, over, over], color=INK, lw=1.0, zorder=1, solid_joinstyle="round")
    _arrow((plus, over), (plus, middle + _PLUS), ax)
    ax.add_patch(Circle((plus, middle), _PLUS, fc="white", ec=INK, lw=1.0, zorder=3))
    reach = 0.6 * _PLUS
    ax.plot([plus - reach, plus + reach], [middle, middle], color=INK, lw=1.0, zorder=4)
    ax.plot([plus, plus], [middle - reach, middle + reach], color=INK, lw=1.0, zorder=4)


def _arrow(start: tuple[float, float], end: tuple[float, float], ax: Axes) -> None:
    ax.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, color=INK, lw=1.0, shrinkA=0, shrinkB=0)
    )


def remark(numbers: Numbers) -> str:
    """Which of the three this package computes."""
    last = numbers["networks"][-1]
    blocks = " and ".join(part["block"] for part in last["layer"])
    return (
        f"The paper, and this package, treat the last of the three: a layer of {blocks} alone. Its self-attention adds "
        "alpha times the mean of the attended tokens to every token, and its normalisation divides by 1 + alpha, which "
        "together are one step z ↦ (z + alpha w) / (1 + alpha) of the dynamics. Feed-forward blocks, which the other "
        "two networks have, are no part of the theorem."
    )


PIECE = Piece(
    name="fig3",
    title="What a layer consists of",
    caption=(
        "A deep neural network with feed-forward and normalisation blocks (top), a full transformer, which has "
        "self-attention as well (middle), and a pure-attention transformer, which has self-attention and "
        "normalisation only (bottom). Each takes the tokens Z⁰, one in a row, through K layers to Z^K. Lines around "
        "a block are residual connections, which add what comes in to what goes out. Under the blocks of the last "
        "network stands what they do to a token z_i that attends to tokens with mean w_i."
    ),
    compute=compute,
    draw=draw,
    remark=remark,
)
