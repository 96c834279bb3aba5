"""
Counterexamples, found and proved
=================================

A statement about all clouds is false if a single cloud breaks it. ``hm.falsify`` draws clouds and
layers in small rational numbers until one does, makes it as small and simple as it can, and proves
by rational arithmetic what happens. That it finds none proves nothing.

Here are four statements that sound true. Tokens start at the small dots; large marks show where
they end, and lines the way."""

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm
from hardmax.figures.palette import BLUE, GREEN, INK, ORANGE, VERMILION

STATEMENTS = {
    "every token ends at a leader": "every token ends at a leader",
    "the number of leaders never grows": "the number of leaders\nnever grows",
    "norms strictly grow until the limit": "norms strictly grow\nuntil the limit",
    "the settling lemma": "who follows leaders\ndoes so for ever",
}
found = {name: hm.falsify(name, tries=5000) for name in STATEMENTS}
for result in found.values():
    print(result, end="\n\n")

# %%
# What happens for ever is written down as a certificate, which any checker accepts:
for name, result in found.items():
    assert result.counterexample is not None
    proof = result.counterexample.prove()
    print(f"{name}: {hm.verify(proof).reason}")

# %%
# A statement may also be a function of a limit. In the plane, can more tokens lead than lead at
# first?


def leaders_are_no_more_than_at_first(lim):
    """Leaders in the end, against those of layer 0."""
    since = zip(lim.leaders.tolist(), lim.run.leader_layers.tolist(), strict=True)
    late = [token for token, layer in since if layer]
    return not late or hm.results.Broken("leads late", token=late[0])


drawn = {"tokens": (3, 5), "dimensions": 2, "alphas": ["1/4", "1/2"], "metrics": ["identity"]}
print(hm.falsify(leaders_are_no_more_than_at_first, tries=5000, **drawn))

# %%
# The four counterexamples. Filled marks are leaders; the token that breaks the statement is circled
# at the layer where it does.
COLORS, MARKS = (BLUE, VERMILION, GREEN, ORANGE), "osD^"
figure, axes = plt.subplots(2, 2, figsize=(7, 7.6), layout="constrained")
for (name, title), ax in zip(STATEMENTS.items(), axes.flat, strict=True):
    lim, broken = found[name].counterexample, found[name].broken
    assert lim is not None
    assert lim.settled_at is not None
    assert broken is not None
    layers = range(lim.settled_at + 12)
    path = np.array([lim.run.at(layer) for layer in layers])
    leaders, ends = lim.leaders.tolist(), lim.limit_points
    for token in range(lim.n):
        color, mark = COLORS[token % 4], MARKS[token % 4]
        face = color if token in leaders else "white"
        ax.plot(*path[:, token].T, color=color, lw=1, marker=".", ms=4)
        ax.plot(*ends[token], mark, color=color, mfc=face, ms=9, zorder=3)
        ax.annotate(str(token), path[0, token], xytext=(5, 5), textcoords="offset points")
    if broken.token is not None:
        ax.plot(*path[broken.layer or 0, broken.token], "o", color=INK, mfc="none", ms=16)
    where = "in the end" if broken.layer is None else f"at layer {broken.layer}"
    ax.set_title(f"“{title}”\nbroken {where}", fontsize="medium")
    ax.plot(0, 0, "+", color=INK)
    ax.margins(0.2)
    ax.set_aspect("equal", "datalim")
plt.show()
