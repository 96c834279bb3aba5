"""
Claims audited
==============

Statements about hardmax attention that were printed, each tried on clouds at random, or on the one
cloud that breaks it. All numbers are fractions, and what happens after infinitely many layers is
proved, so nothing here depends on when a run was stopped. Which paper says what, in which version,
under which hypotheses and by whose transcription is on the page :doc:`/claims`.

That a statement holds on all clouds tried proves nothing about the others."""

import warnings
from fractions import Fraction
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm
from hardmax.figures.palette import BLUE, INK, VERMILION

warnings.filterwarnings("ignore", "the theorem does not apply")  # often that is the point
rng = np.random.default_rng(0)
tally = {}


def record(claim, outcomes):
    """Count the cases tried and those that break the claim."""
    outcomes = list(outcomes)
    tally[claim] = len(outcomes), len(outcomes) - sum(outcomes)
    print("{}: {} tried, {} break it".format(claim, *tally[claim]))


def random_cloud(most=8, dimensions=3):
    """Distinct tokens other than 0, halves or thirds of small whole numbers, with many ties."""
    d, parts = int(rng.integers(1, dimensions + 1)), int(rng.integers(1, 4))
    rows = rng.integers(-4, 5, (int(rng.integers(2, most + 1)), d)).tolist()
    rows = sorted({tuple(row) for row in rows if any(row)}) or [(1,) * d]
    return np.array([[Fraction(x, parts) for x in row] for row in rows])


def circle_cloud():
    """Seven rational points of the unit circle, and eight points within their hull."""
    slopes = rng.choice(np.arange(-20, 21), 7, replace=False).tolist()
    squares = [(s, Fraction(s * s, 64)) for s in slopes]
    vertices = [[(1 - x) / (1 + x), Fraction(s, 4) / (1 + x)] for s, x in squares]
    weights = [[Fraction(w) for w in row] for row in rng.integers(1, 20, (8, 7)).tolist()]
    inside = [[sum(w * v[c] for w, v in zip(row, vertices, strict=True)) / sum(row)
               for c in (0, 1)] for row in weights]  # fmt: skip
    return np.array(vertices), np.array(inside)


# %%
# ``hm.falsify`` knows some of these statements by name, draws clouds and layers that meet their hypotheses, and makes
# what breaks them as small as it can. Of Theorem 1.1 of 2407.01602 it finds no counterexample in a thousand cases.
found = hm.falsify("Theorem 1.1", tries=1000)
record("2407.01602, Theorem 1.1", [True] * found.tried if not found else [False])
found = hm.falsify("vertices of the initial hull stay")
print(found)

# %%
# Theorem 3.1 of 2508.09628 v1 bounds the energy of every token after layer t by 2/(t + 1) times a constant, if the origin
# is in the hull at the start. Its first step is a full one. Two tokens on either side of the origin meet, and unless
# they meet at the origin itself they exceed the bound sooner or later; some do within 60 layers. If the origin stays in
# the hull, as it does in a cloud that is symmetric about it, none does. :doc:`plot_printed_bound` draws two of them.


def within_bound(tokens, layers=60):
    """Whether J = ½ max |x|² stays within the bound, with B = 1."""
    dynamics = hm.Dynamics(1, -np.eye(tokens.shape[1], dtype=int))
    diameter = max(((x - y) ** 2).sum() for x in tokens for y in tokens)
    attended = hm.attended(tokens, dynamics)
    tokens = np.array([tokens[[*one]].sum(axis=0) / Fraction(len(one)) for one in attended])
    for t in range(1, layers + 1):
        if (tokens**2).sum(axis=1).max() / 2 > Fraction(2, t) * diameter:
            return False
        tokens = hm.step(tokens, hm.Dynamics(Fraction(2, t), dynamics.metric))
    return True


def both_sides():
    """Two tokens on the line, one on each side of the origin."""
    low, high = (Fraction(int(x)) for x in rng.integers(1, 1000, 2))
    return np.array([[high], [-low]])


def symmetric():
    """A cloud with the opposite of each token."""
    half = random_cloud(3, 2)
    return np.vstack([half, -half])


record("2508.09628 v1, Theorem 3.1", (within_bound(both_sides()) for _ in range(60)))
record("the same, origin always in the hull", (within_bound(symmetric()) for _ in range(20)))
assert not within_bound(np.array([[Fraction(1)], [Fraction(-1, 1000)]]), 36)

# %%
# Theorem 4.2 of the same: if every vertex is in its own cell alone and no token on a border, tokens keep to a straight
# line to the vertex of their cell, by a closed form. On a circle every vertex is in its own cell.


def closed_form_holds():
    """Whether all tokens are where the theorem says, for six layers."""
    vertices, inside = circle_cloud()
    shares = [Fraction(1, int(k)) for k in rng.integers(2, 9, 6)]
    alphas = [share / (1 - share) for share in shares]
    run = hm.simulate(np.vstack([vertices, inside]), hm.Dynamics(alphas), layers=6)
    left = Fraction(1)
    for layer, share in enumerate(shares, 1):
        left *= 1 - share
        ends = vertices[(inside @ vertices.T).argmax(axis=1)]
        expected = np.vstack([vertices, ends + left * (inside - ends)])
        if (run.at(layer, exact=True) != expected).any():
            return False
    return True


record("2508.09628 v1, Theorem 4.2", (closed_form_holds() for _ in range(100)))

# %%
# Its last sentence, as transcribed, says that tokens reach their vertices exponentially fast for all shares in (0, 1). If
# the shares shrink fast enough they never do: with 1/(t + 2)² of the way at layer t, the token 1/2 follows the
# leader 1 and ends at 3/4: after T layers (T + 2) / (2 T + 2) of its way is left, which falls to 1/2.
tokens = np.array([[Fraction(1)], [Fraction(1, 2)]])
for t in range(100):
    tokens = hm.step(tokens, hm.Dynamics(Fraction(1, (t + 1) * (t + 3))))
    assert tokens[1, 0] == 1 - Fraction(t + 3, 2 * t + 4) / 2 < Fraction(3, 4)
record("the same, any shares in (0, 1)", [False])

# %%
# Without its first hypothesis vertices need not stand still: the vertex (0, 1/4) of the emerging leader goes to (1, 1/3).
cloud = hm.clouds.emerging_leader()
token = cloud.tolist().index([0, Fraction(1, 4)])
end = hm.limit(cloud, hm.Dynamics("1/2")).exact_limit_points()[token].tolist()
record("the same, without its hypothesis", [end == cloud[token].tolist()])
assert token not in hm.attended(cloud, hm.Dynamics("1/2"))[token]

# %%
# The abstract of version 1: with a negative metric all tokens meet at the origin. Two tokens meet elsewhere, with
# constant steps and with those of Theorem 3.1, so that their energy does not go to 0 either.
meetings = {
    "1/3": hm.limit([[3], [-1]], hm.Dynamics("1/2", [[-1]])),
    "1519/14641": hm.limit([[3], [-1]], hm.Dynamics("1/10", [[-1]])),
}
for name, lim in meetings.items():
    ends = lim.exact_limit_points().ravel().tolist()
    assert ends == [Fraction(name)] * 2
tokens = np.array([[Fraction(-1)], [Fraction(3)]])  # after the full step
for layer in range(100):
    tokens = hm.step(tokens, hm.Dynamics(Fraction(2, layer + 1), [[-1]]))
    far = Fraction(8, (layer + 2) * (layer + 3))  # still to go to 1/3
    assert {abs(x - Fraction(1, 3)) for x in tokens[:, 0]} == {0, far}
record("2508.09628 v1, abstract", [False] * (len(meetings) + 1))

# %%
# Attention at temperature zero divides the space of queries into power cells (2604.14727): token j is attended to along y
# if :math:`|y - z_j|^2 - |z_j|^2` is smallest. That is an identity. For tokens of one length the cells are those of
# Voronoi, which is Proposition 4.5 of 2508.09628.


def cells_are_power_cells():
    """Whether all tokens attend to the one in whose power cell their direction is."""
    cloud = random_cloud()
    metric = rng.integers(-3, 4, (cloud.shape[1],) * 2)
    for z, attended in zip(cloud, hm.attended(cloud, hm.Dynamics(1, metric)), strict=True):
        powers = ((metric @ z - cloud) ** 2).sum(axis=1) - (cloud**2).sum(axis=1)
        if np.flatnonzero(powers == powers.min()).tolist() != list(attended):
            return False
    return True


def cells_are_nearest():
    """Whether tokens attend to the nearest vertex."""
    vertices, inside = circle_cloud()
    attended = list(hm.attended(np.vstack([vertices, inside]), hm.Dynamics(1)))[7:]
    for z, chosen in zip(inside, attended, strict=True):
        distances = ((z - vertices) ** 2).sum(axis=1)
        if np.flatnonzero(distances == distances.min()).tolist() != list(chosen):
            return False
    return True


record("2604.14727 v1, power cells", (cells_are_power_cells() for _ in range(300)))
record("2508.09628 v1, Proposition 4.5", (cells_are_nearest() for _ in range(100)))

# %%
# Localmax (2509.15958) attends to all tokens within a slack of the largest score. Its hull converges to a polytope: so it
# does wherever a limit is proved. There is no convergence in finite time: a cloud that moves at layer 0 moves at
# each of the next twelve.


def localmax_cloud():
    """A cloud and a slack."""
    return random_cloud(6), int(rng.integers(1, 4))


def limit_is_proved(tokens, slack):
    """Whether it settles, as some do within 60 layers."""
    lim = hm.limit(tokens, hm.Dynamics(1, attention=hm.Localmax(slack)), max_layers=60)
    return lim.settled_at is not None


def never_rests(tokens, slack):
    """Whether it moves at all of twelve layers, or at none."""
    run = hm.simulate(tokens, hm.Dynamics(1, attention=hm.Localmax(slack)), layers=12)
    path = [run.at(layer, exact=True).tolist() for layer in range(13)]
    return len({before == after for before, after in pairwise(path)}) == 1


proved = sum(limit_is_proved(*localmax_cloud()) for _ in range(100))
record("2509.15958 v1, hull to polytope", [True] * proved)
record("2509.15958 v1, not in finite time", (never_rests(*localmax_cloud()) for _ in range(100)))

# %%
# A slack that vanishes gives the limiting behaviour of hardmax. Here it is divided by 8 at each layer, and alpha is 1: in
# the last ten of 24 layers all attended sets are those of hardmax.


def ends_as_hardmax(tokens, slack):
    """Whether in the end attended sets are those of hardmax."""
    for layer in range(24):
        slack /= Fraction(8)
        soft, hard = hm.Dynamics(1, attention=hm.Localmax(slack)), hm.Dynamics(1)
        sets = [[list(one) for one in hm.attended(tokens, layer)] for layer in (soft, hard)]
        if layer >= 14 and sets[0] != sets[1]:
            return False
        tokens = hm.step(tokens, soft)
    return True


record("2509.15958 v1, vanishing slack", (ends_as_hardmax(*localmax_cloud()) for _ in range(40)))

# %%
# All of it: how many cases were tried, and how many of them break the statement.
figure, ax = plt.subplots(figsize=(9, 5), layout="constrained")
for place, (tried, broken) in enumerate(reversed(tally.values())):
    ax.barh(place, tried, color=BLUE, height=0.55)
    ax.barh(place, broken, color=VERMILION, height=0.55, hatch="//", edgecolor="white")
    ax.text(tried * 1.06, place, f"{broken} of {tried}", va="center", color=INK)
ax.set_yticks(range(len(tally)), list(reversed(tally)))
ax.set(xscale="log", xlim=(0.5, 900), xlabel="cases tried")
ax.set_title("hatched: cases that break the statement", loc="left")
plt.show()
