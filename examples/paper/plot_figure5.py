"""
Figure 5: a hyperplane separates a vertex from the other limits
===============================================================

If delta is small enough, the hyperplane through any point x near a vertex :math:`s_0`,
perpendicular to x, has
:math:`s_0` on one side and the delta-neighbourhoods of all other points of :math:`S` on the other. A token that has
come close to a leader can therefore attend to nothing but what is close to the same leader.

The paper illustrates this with :math:`S' = \\{s_1, s_2\\}`; here it is computed for the cloud of
Figure 4."""

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import BLUE, GREEN, GREY, INK, PENTAGON, SHADE, SKY, attracting_set, bare

import hardmax as hm

TOKEN = 6  # converges to the first leader

# %%
# The largest delta for this vertex, by bisection over points x in its neighbourhood: all y within delta of another
# point s of S must satisfy <x, y> < <x, x>; the worst y lies delta further along x than s.
limit = hm.limit(PENTAGON, hm.Dynamics(alpha="1/2"))
attractors = attracting_set(PENTAGON[limit.leaders])
vertex, others = attractors[0], attractors[1:]
angles = np.linspace(0, 2 * np.pi, 3600, endpoint=False)
ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
low, high = 0.0, 1.0
for _ in range(40):
    delta = (low + high) / 2
    x = np.concatenate([vertex + share * delta * ring for share in (0.5, 1)])
    norms = np.linalg.norm(x, axis=1)
    separates = ((x @ others.T).max(axis=1) + delta * norms < norms**2).all()
    low, high = (delta, high) if separates else (low, delta)
print(f"every delta up to {low:.3f} is small enough")

# %%
# That there is such a delta for every vertex is the last statement that `check_theorem` checks.
statement = hm.check_theorem(limit)[-1]
print(f"{statement.claim}: {statement.verdict}")

# %%
# The first layer at which all tokens are within 0.2 of S, and the line through one of them.
delta = 0.2
distances = [
    np.linalg.norm(limit.run.at(k)[:, None] - attractors, axis=2).min(axis=1).max()
    for k in range(20)
]
layer = int(np.argmax(np.array(distances) < delta))
tokens = limit.run.at(layer)
x = tokens[TOKEN]
unit = x / np.linalg.norm(x)
print(f"layer {layer}: the vertex is {unit @ (vertex - x):.3f} beyond the line,")
print(f"the other neighbourhoods at least {unit @ x - (others @ unit).max() - delta:.3f} before it")

figure, panels = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for ax in panels:
    bare(ax)
    ax.fill(*attractors[np.argsort(np.arctan2(*attractors.T))].T, color=SHADE)
    across = np.array([-unit[1], unit[0]])
    corners = [x - 9 * across, x + 9 * across, x + 9 * across + 9 * unit, x - 9 * across + 9 * unit]
    ax.fill(*np.transpose(corners), color=GREEN, alpha=0.12, lw=0)
    ax.axline(x, x + across, color=GREEN)
    for number, point in enumerate(attractors):
        color = GREEN if number == 0 else BLUE
        ax.add_patch(
            plt.Circle(point, delta, fc=color + "33" if number == 0 else SKY + "55", ec=color)
        )
        ax.plot(*point, "*" if number < 5 else "D", color=INK, ms=11 if number < 5 else 5, zorder=3)
    ax.plot(*tokens.T, "o", color=GREY, ms=4)
    ax.plot(
        *np.transpose([limit.run.at(k)[TOKEN] for k in range(layer + 1)]),
        ".-",
        color=INK,
        lw=0.8,
    )
    ax.plot(*x, "o", color=GREEN, mec="white", ms=8)
nearest = np.argsort(np.linalg.norm(attractors - vertex, axis=1))[:3]
for name, number in zip(("$s_0$", "$s_1$", "$s_2$"), nearest, strict=True):
    panels[0].annotate(
        name, attractors[number], xytext=(9, 6), textcoords="offset points", fontsize=12
    )
panels[1].annotate("$x$", x, xytext=(-14, -13), textcoords="offset points", fontsize=12)
panels[1].annotate("$s_0$", vertex, xytext=(9, 6), textcoords="offset points", fontsize=12)
panels[0].set(xlim=(-2.7, 2.7), ylim=(-2.4, 2.7))
panels[0].set_title(f"all tokens at layer {layer}", loc="left")
panels[1].set(xlim=vertex[0] + np.array([-0.6, 0.4]), ylim=vertex[1] + np.array([-0.5, 0.5]))
panels[1].set_title("the same, near the vertex", loc="left")
plt.show()
