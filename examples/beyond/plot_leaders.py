r"""
How many leaders a random cloud has
===================================

The theorem says that there are leaders, not how many. For random clouds the expected number of
tokens that lead from the start has a closed form. A token at distance r from the origin leads if no
other token lies further out in its direction. The coordinate of another Gaussian token in that
direction is a standard normal number, so that

.. math:: E = n \int_0^\infty \Phi(r)^{n-1} f_{\chi_d}(r) \, dr ,

about :math:`\sqrt{4 \pi \log n}` in the plane. On a sphere every token leads. In a square with
sides of length 2, the coordinate in the direction (c, s) of another token has a piecewise quadratic
distribution function, and E is an integral over the square.

The number of leaders in the limit is hardly larger: few tokens become leaders later.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import chi, norm

import hardmax as hm
from hardmax.figures.palette import CYCLE

CLOUDS, SIZES, DIMENSIONS = 20, [10, 30, 100, 300, 1000], [2, 3, 4, 8, 16]
rng = np.random.default_rng(0)


def expected_leaders(n, d):
    """Expected number of leaders at layer 0 of a Gaussian cloud."""
    return n * chi(d).expect(lambda r: np.exp((n - 1) * norm.logcdf(r)))


def expected_square(n, side=400):
    """Expected number of leaders at layer 0 of tokens uniform in [-1, 1]², by the midpoint rule in
    a quarter of it."""
    x, y = np.meshgrid(*[(np.arange(side) + 0.5) / side] * 2)
    r = np.hypot(x, y)
    c, s = x / r, y / r
    parts = [a * b * np.maximum(r + a * c + b * s, 0) ** 2 for a in (1, -1) for b in (1, -1)]
    below = sum(parts) / (8 * c * s)  # probability that another token lies less far out
    return n * (below ** (n - 1)).mean()


def count(clouds):
    """Mean numbers of leaders at layer 0 and in the limit, and the standard error of the first."""
    first = np.array(
        [len(leaders) for leaders in hm.simulate(clouds, hm.Dynamics("1/2"), layers=0).leaders]
    )
    last = np.array([len(leaders) for leaders in hm.limits(clouds, hm.Dynamics("1/2")).leaders])
    return first.mean(), last.mean(), first.std(ddof=1) / len(clouds) ** 0.5


# %%
# Gaussian clouds: means over 20 clouds beside the closed form.
gaussian = {}
for d in DIMENSIONS:
    for n in SIZES:
        gaussian[d, n] = count(rng.standard_normal((CLOUDS, n, d)))
gaps = [abs(found[0] - expected_leaders(n, d)) / found[2] for (d, n), found in gaussian.items()]
for d in DIMENSIONS:
    row = [f"{gaussian[d, n][0]:.1f} ({expected_leaders(n, d):.1f})" for n in SIZES]
    print(
        f"d = {d:2}: mean (expected) number at layer 0 for n = {', '.join(map(str, SIZES))}: {', '.join(row)}"
    )
print(f"largest difference: {max(gaps):.1f} standard errors, among {len(gaps)}")

# %%
# Squares: there the tokens closest to a corner lead, and as n grows, one leader is left for each corner.
square = {n: count(rng.uniform(-1, 1, (10 * CLOUDS, n, 2))) for n in SIZES}
for n, (first, last, error) in square.items():
    print(
        f"n = {n}: {first:.2f} ± {error:.2f} at layer 0 (expected {expected_square(n):.2f}), {last:.2f} in the limit"
    )

# %%
# Marks are means of 20 clouds (squares: 200), lines the closed forms. On the dotted line all tokens would lead, as they
# do on a sphere.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 4), layout="constrained", width_ratios=(1.4, 1)
)
fine = np.unique(np.geomspace(SIZES[0], SIZES[-1], 30).round().astype(int))
for d, color, marker in zip(DIMENSIONS, CYCLE, "os^Dv", strict=False):
    left.loglog(fine, [expected_leaders(n, d) for n in fine], color=color, lw=1.2)
    left.plot(
        SIZES, [gaussian[d, n][0] for n in SIZES], marker, color=color, ms=6, label=f"d = {d}"
    )
left.plot(fine, fine, ":", color="grey", label="all tokens")
left.set(title="Gaussian clouds, layer 0", xlabel="tokens n", ylabel="leaders")
left.legend(frameon=False)
right.semilogx(
    fine, [expected_square(n) for n in fine], color=CYCLE[0], lw=1.2, label="layer 0, expected"
)
right.plot(SIZES, [square[n][0] for n in SIZES], "o", color=CYCLE[0], label="layer 0")
right.plot(
    SIZES, [square[n][1] for n in SIZES], "s", mfc="none", ms=9, color=CYCLE[1], label="limit"
)
right.axhline(4, color="grey", ls=":", label="four corners")
right.set(title="square", xlabel="tokens n", ylim=(0, 7))
right.legend(frameon=False)
plt.show()
