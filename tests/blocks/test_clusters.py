"""Tokens that are said to meet do so: no claim is contradicted by many further layers."""

from collections import Counter
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from block_truth import Block
from effort import THOROUGH
from layer_problems import choose, draw_mask, draw_metric, rationals

import hardmax as hm
from hardmax._limits.caps import _stays_below

FURTHER = 10_000 if THOROUGH else 100
CLOUDS, LAYERS = (15, 200) if THOROUGH else (3, 40)


def floats(table, d) -> Any:
    """A matrix; None is the identity."""
    return np.array(np.eye(d) if table is None else table, dtype=float).astype(np.longdouble)


def long_layer(block, d):
    """A layer in floats of 64 bits, independent of the package."""
    total = float(sum(weight for *_, weight in block.heads))
    heads = [(floats(a, d), floats(v, d), float(weight) / total) for a, v, weight in block.heads]
    mask, alpha = np.array(block.mask), float(block.alpha)
    beta = float(block.attention[1]) if block.attention else None
    scale = np.eye(d) + alpha * sum(share * v.astype(float) for _, v, share in heads)
    inverse = np.linalg.inv(scale).astype(np.longdouble)
    parts = block.feed_forward and [np.array(part, float) for part in block.feed_forward]

    def normalised(z):
        if block.normalise == "layer":
            z = z - z.mean(axis=1, keepdims=True)
            return z / np.sqrt((z * z).mean(axis=1, keepdims=True))
        return z / np.sqrt((z * z).sum(axis=1, keepdims=True)) if block.normalise else z

    def layer(z):
        after = z.copy()
        for a, v, share in heads:
            scores = np.where(mask, z @ a.T @ z.T, -np.inf)
            lead = scores - scores.max(axis=1, keepdims=True)
            p = (lead == 0).astype(np.longdouble) if beta is None else np.exp(beta * lead)
            after += alpha * share * (p / p.sum(axis=1, keepdims=True)) @ z @ v.T
        z = normalised(after if block.normalise else after @ inverse.T)
        if parts:
            inner, b, outer, c = parts
            z = normalised(z + np.maximum(z @ inner.T + b, 0) @ outer.T + c)
        return z

    return layer


def dynamics_of(block) -> Any:
    how: dict[str, Any] = {"heads": [hm.Head(a, weight, v) for a, v, weight in block.heads]}
    if len(block.heads) == 1:
        [(metric, value, _)] = block.heads
        how = {"metric": metric, "value": value}
    if block.attention:
        how["attention"] = hm.Softmax(block.attention[1])
    return hm.Dynamics(
        block.alpha,
        **how,
        mask=None if np.all(block.mask) else np.array(block.mask),
        normalise=block.normalise,
        feed_forward=block.feed_forward and hm.FeedForward(*block.feed_forward),
    )


def size_of(z, centre, block):
    """The distance of which is said that it shrinks: of all tokens from one another or, of hardmax
    with leaders, from their leader. It is that in the plane if tokens move to means."""
    is_radial = block.feed_forward is None and all(v is None for _, v, _ in block.heads)
    if is_radial and block.attention is None:
        return float(np.linalg.norm((z - centre).astype(float), axis=1).max())
    if is_radial and block.normalise:
        z = z / (z @ centre)[:, None]
    return float(np.linalg.norm((z[:, None] - z).astype(float), axis=2).max())


def check(cloud, block, lim):
    """Walk on from the layer of the proof: tokens stay in their caps, and come nearer as fast as
    was said."""
    clusters, layer = lim.clusters, long_layer(block, len(cloud[0]))
    z = lim.run.at(lim.settled_at).astype(np.longdouble)
    centres = clusters.limit_points[clusters.labels]
    radii = np.array([cap.radius for cap in clusters.kinds])[clusters.labels] + 1e-9
    members = [np.flatnonzero(clusters.labels == label) for label in range(len(clusters))]
    groups = list(zip(members, clusters.limit_points, clusters.kinds, strict=True))
    for number in range(FURTHER):
        off = np.linalg.norm((z - centres).astype(float), axis=1)
        assert (off <= radii).all(), number
        after = layer(z)
        for several, centre, cap in groups if number < 100 or not number % 100 else []:
            assert 0 < cap.contraction <= 1
            assert cap.since == lim.settled_at
            sizes = [size_of(z[several], centre, block) for z in (z, after)]
            assert sizes[1] <= sizes[0] * cap.contraction * (1 + 1e-9) + 1e-15
        z = after


def sphere(random, n, d):
    z = random.standard_normal((n, d))
    return z / np.linalg.norm(z, axis=1)[:, None]


def hemisphere(random, n, d):
    z, pole = sphere(random, n, d), sphere(random, 1, d)[0]
    return z * np.sign(z @ pole)[:, None]


def everybody(n):
    return [[True] * n] * n


def softmax_block(random, n, d, **parts):
    beta = choose(random, [Fraction(1, 2), Fraction(2), Fraction(8), Fraction(30)])
    fixed = {"heads": [(None, None, Fraction(1))], "normalise": "sphere", "mask": everybody(n)}
    return Block(**({"alpha": Fraction(1), "attention": ("softmax", beta)} | fixed | parts))


def test_softmax_gathers_an_open_hemisphere():
    random, proved = np.random.default_rng(1), 0
    total = 200 if THOROUGH else 10
    for number in range(total):
        n, d = int(random.integers(2, 51)), int(random.integers(2, 9))
        cloud, block = hemisphere(random, n, d), softmax_block(random, n, d)
        lim = hm.limit(cloud, dynamics_of(block), max_layers=LAYERS)
        proved += lim.certified and len(lim.clusters) == 1
        if lim.certified and (not THOROUGH or number < CLOUDS):
            check(cloud, block, lim)
    print(f"one cluster is proved of {proved} of {total} hemispheres")
    assert proved >= 0.9 * total


def attracting(random, d):
    """A value matrix that one direction dominates."""
    return rationals(np.diag([4, *random.integers(0, 2, d - 1)]))


FAMILIES = {
    "softmax": lambda random, n, d: softmax_block(random, n, d),
    "softmax, layer": lambda random, n, d: softmax_block(random, n, d, normalise="layer"),
    "softmax, metric": lambda random, n, d: softmax_block(
        random, n, d, heads=[(draw_metric(random, d), None, Fraction(1))]
    ),
    "softmax, mask": lambda random, n, d: softmax_block(random, n, d, mask=draw_mask(random, n)),
    "softmax, plain": lambda random, n, d: softmax_block(random, n, d, normalise=None),
    "hardmax": lambda random, n, d: softmax_block(
        random, n, d, attention=None, heads=[(spd(random, d), None, Fraction(1))]
    ),
    "hardmax, layer": lambda random, n, d: softmax_block(
        random,
        n,
        d,
        attention=None,
        heads=[(spd(random, d), scaled(d), Fraction(1))],
        normalise="layer",
    ),
    "hardmax, mask": lambda random, n, d: softmax_block(
        random,
        n,
        d,
        attention=None,
        heads=[(draw_metric(random, d), None, Fraction(1))],
        mask=draw_mask(random, n),
    ),
}
LEAST = {"softmax": 0.9, "softmax, plain": 1, "hardmax": 0.9}


def spd(random, d):
    root = random.integers(-2, 3, (d, d))
    return rationals(root @ root.T + np.eye(d, dtype=int))


def scaled(d):
    return rationals(3 * np.eye(d, dtype=int), 2)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_claim_is_contradicted(family):
    random, counts = np.random.default_rng([7, len(family)]), Counter()
    for _ in range(CLOUDS):
        n, d = int(random.integers(2, 21)), int(random.integers(3, 6))
        cloud, block = sphere(random, n, d), FAMILIES[family](random, n, d)
        lim = hm.limit(cloud, dynamics_of(block), max_layers=LAYERS)
        counts["proved"] += lim.certified
        counts["clusters"] += len(lim.clusters) if lim.certified else 0
        if lim.certified:
            check(cloud, block, lim)
        else:
            assert lim.limit_error == np.inf
    print(f"{family}: {CLOUDS} clouds, {counts}")
    assert counts["proved"] >= LEAST.get(family, 0) * CLOUDS * 0.6


def test_leaders_of_hardmax_are_the_limits_and_followers_come_nearer_by_the_step():
    # Token 0 is furthest for all: A favours the first axis.
    cloud = [[1, 0, 0], ["3/5", "-4/5", 0], ["2/3", "-1/3", "2/3"], ["12/13", "-5/13", 0]]
    dynamics = hm.Dynamics(2, [[4, 1, 0], [1, 1, 0], [0, 0, 1]], normalise="sphere")
    lim = hm.limit(cloud, dynamics)
    assert (lim.certified, lim.leaders.tolist(), len(lim.clusters)) == (True, [0], 1)
    assert np.allclose(lim.limit_points, [1, 0, 0])
    kinds: Any = lim.clusters.kinds
    (cap,) = kinds
    assert cap.radius <= 2**-10
    assert 1 / 3 <= cap.contraction < 0.34
    before, after = (np.linalg.norm(lim.run.at(k) - [1, 0, 0], axis=1)[1:] for k in (5, 6))
    assert (after <= cap.contraction * before * (1 + 1e-6)).all()
    assert (after >= before / 3 * (1 - 1e-6)).all()


def test_on_the_sphere_the_identity_makes_everybody_a_leader():
    lim = hm.limit(np.eye(4) + 0.1, hm.Dynamics(1, normalise="sphere"))
    assert (lim.certified, len(lim.clusters), lim.settled_at) == (True, 4, 1)
    assert lim.limit_error < 1e-15


def test_what_cannot_be_said_is_not_said():
    cloud = np.array([[1.0, 0.2], [0.3, -1.0], [-0.5, 0.6]])
    turn = [[0, -1], [1, 0]]
    lim = hm.limit(cloud, hm.Dynamics(1, value=turn, normalise="sphere"), max_layers=30)
    assert not lim.certified
    assert [str(kind) for kind in lim.clusters.kinds] == ["elsewhere"] * 3
    late = hm.Dynamics([1] * 7 + [2], normalise="sphere", attention=hm.Softmax(1))
    assert (hm.limit(cloud, late, max_layers=40).settled_at or 0) >= 7


def test_a_proof_has_its_numbers_and_no_more():
    cloud = np.array([[1.0, 0.2], [0.3, 1.0], [0.5, 0.6]])
    lim = hm.limit(cloud, hm.Dynamics(1, normalise="sphere", attention=hm.Softmax(1)))
    kinds: Any = lim.clusters.kinds
    (cap,) = kinds
    assert "tokens are proved to meet from layer" in lim.stop_reason
    assert str(cap).startswith("cap of radius")
    assert lim.limit_error == cap.radius
    for refused in (
        lambda: lim.prove(),
        lambda: lim.exact_limit_points(),
        lambda: lim.layers_to(0.1),
        lambda: lim.radius(),
    ):
        with pytest.raises(hm.InputError):
            refused()
    batch = hm.limits([cloud, cloud[:2]], lim.run.dynamics)
    assert batch.certified.all()
    assert batch[0].settled_at == lim.settled_at


def test_whoever_will_turn_to_another_leader_has_no_proof_before():
    # Token 1 goes to 0, which sees itself alone, and turns to 2 on the way: 0, too, would.
    cloud = [["4/5", "3/5"], [1, 0], [0, 1]]
    mask = np.array([[True, False, False], [True, False, True], [False, False, True]])
    dynamics = hm.Dynamics("1/10", [[1, 0], [0, 3]], mask=mask, normalise="sphere")
    early = hm.limit(cloud, dynamics, max_layers=3)
    assert early.run.attended(3)[1].tolist() == [0]
    assert not early.certified
    late = hm.limit(cloud, dynamics, max_layers=100)
    turned = [layer for layer in range(late.run.layers) if late.run.attended(layer)[1] == [2]]
    assert late.certified
    assert late.clusters.labels.tolist() == [0, 1, 1]
    assert (late.settled_at or 0) >= turned[0] > 3


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
def test_neither_who_follows_a_follower_nor_who_is_behind_its_leader_has_a_proof():
    # Token 2 sees 1 alone, which goes to 0.
    mask = np.array([[True, False, False], [True, True, False], [False, True, False]])
    metric = [[1, 0], ["-1/2", -1]]
    chain = hm.Dynamics("1/10", metric, mask=mask, normalise="sphere")
    lim = hm.limit([[1, 0], ["4/5", "3/5"], ["3/5", "4/5"]], chain, max_layers=4)
    assert lim.run.attended(4).tolist() == [[0], [0], [1]]
    assert not lim.certified
    # A follower at more than 90 degrees goes away before it comes nearer.
    follows = hm.Dynamics("1/10", [[1, 1], ["-1/2", "-3/4"]], normalise="sphere")
    behind = hm.limit([[1, 0], ["-3/5", "4/5"]], follows, max_layers=4)
    assert behind.run.attended(4).tolist() == [[0], [0]]
    assert behind.run.at(4)[1, 0] < 0
    assert not behind.certified


def test_scores_on_arcs_are_compared_as_they_are():
    random, said = np.random.default_rng(3), Counter()
    shares = np.linspace(0, 1, 2001)[:, None]
    for _ in range(400):
        leader, token, goal, look = sphere(random, 4, 3)
        look = look + choose(random, [0, 3]) * leader
        arc = (1 - shares) * token + shares * goal
        best = (arc / np.linalg.norm(arc, axis=1)[:, None] @ look).max() - leader @ look
        scores = [flint.arb(float(place @ look)) for place in (leader, token, goal)]
        found = _stays_below(scores, flint.arb(float(token @ goal)), 0, 1, 2)
        assert found == (best < 0) or abs(best) < 1e-5
        said[found] += 1
        # On the way to the leader itself the score comes up from below.
        arc = (1 - shares[:-1]) * token + shares[:-1] * leader
        best = (arc / np.linalg.norm(arc, axis=1)[:, None] @ look).max() - leader @ look
        found = _stays_below(scores, flint.arb(float(token @ leader)), 0, 1, 0)
        assert found == (best < 0) or abs(best) < 1e-5
        said["leader", found] += 1
    assert len(said) == 4
    assert min(said.values()) >= 50
