"""What the samples hold: clouds, how they are run, and how the models are trained."""

from fractions import Fraction
from typing import Any

import hardmax as hm

SQUARE = [[1, 1], [-1, 1], [-1, -1], [1, -1]]
HEAVY = [*SQUARE, SQUARE[3], SQUARE[3]]  # who ties between corners is drawn to the last one
INNER = [[0.5, 0.0], [0.375, 0.75], [-0.625, 0.25], [0.125, -0.5]]
# Found by search among random clouds: most settle at once, but these after 3, 6, 3 and 3 layers, by the alpha and
# metric that they are used with below, and some of their leaders come late.
LATE = [[a / 16, b / 16] for a, b in ([-18, 4], [-10, -1], [-15, 19], [-17, 11], [0, 3], [11, 42], [-20, -6], [4, 3])]
SOLID = [
    [1.375, 0.375, -1.125],
    [-0.125, -0.375, -0.25],
    [0.625, -1.25, 1],
    [-1.125, -0.25, 0.875],
    [0.625, -0.75, 1.75],
    [0.375, -1, 0],
]
SKEW = [[0.375, -1.625], [-1.875, -1.0], [-0.125, -1.75], [0.5, -0.5], [-0.125, -0.75], [-0.375, -0.25]]
TWELFTHS = [[Fraction(a, 12), Fraction(b, 12)] for a, b in ([3, -7], [5, 0], [-2, 1], [4, 2], [3, 1], [5, -7])]
SKEWED: dict[str, Any] = {"alpha": 1, "metric": [[2, "1/2"], ["1/2", 1]]}
CORNERS = [[1, 0], [0, 1], [-1, 0], [0, -1]]
QUARTER_TURN = [[0, -1], [1, 0]]  # everybody chases the next corner: this never settles

# name: tokens, Dynamics, simulate
RUNS: dict[str, tuple[list, dict[str, Any], dict[str, Any]]] = {
    "float-all-layers.npz": (LATE, {"alpha": 0.5}, {"layers": 9, "arithmetic": "float"}),
    "float-last-layer.json": (SOLID, {"alpha": "1/3"}, {"layers": 7, "arithmetic": "float", "record": hm.LastOnly()}),
    "certified-all-layers.npz": (LATE, {"alpha": "1/2"}, {"layers": 9}),
    "certified-every-third.json": (LATE, {"alpha": "1/2"}, {"layers": 10, "record": hm.Every(3)}),
    "certified-until-settled.npz": (SOLID, {"alpha": "1/3"}, {"stop": hm.Settled()}),
    "certified-ties.npz": (HEAVY + INNER, {"alpha": "1/2"}, {"layers": 12, "record": hm.Every(4)}),
    "certified-metric.json": (SKEW, SKEWED, {"layers": 6}),
    "certified-repeated-tokens.json": ([*LATE, *LATE[3:6], LATE[4]], {"alpha": "1/2"}, {"layers": 6}),
    "exact-repeated-in-ties.json": ([*HEAVY, *INNER], {"alpha": "1/2"}, {"layers": 5, "arithmetic": "exact"}),
    "exact-all-layers.json": (LATE, {"alpha": "1/2"}, {"layers": 8, "arithmetic": "exact"}),
    "exact-fractions.npz": (TWELFTHS, {"alpha": "2/7"}, {"layers": 8, "arithmetic": "exact", "record": hm.Every(5)}),
    "exact-metric-last-layer.npz": (
        [*TWELFTHS, TWELFTHS[0], TWELFTHS[4]],
        {"alpha": "2/7", "metric": [["3/2", "1/3"], ["1/3", 1]]},
        {"layers": 7, "arithmetic": "exact", "record": hm.LastOnly()},
    ),
    "exact-never-settles.json": (
        CORNERS,
        {"alpha": 1, "metric": QUARTER_TURN},
        {"layers": 8, "arithmetic": "exact"},
    ),
    "certified-never-settles.npz": (
        CORNERS,
        {"alpha": 1, "metric": QUARTER_TURN},
        {"stop": hm.FirstOf(hm.Settled(), hm.AfterLayers(8)), "record": hm.Every(2)},
    ),
}
CLOUDS = [LATE, SQUARE + INNER, [[-a, b] for a, b in SKEW]]
COUNTS = [1, 2, 1, 3, 1, 5, 2, 1]
# name: clouds, their multiplicities, whether they go in as one stack, Dynamics, simulate
BATCHES: dict[str, tuple[list, list | None, bool, dict[str, Any], dict[str, Any]]] = {
    "list-certified.npz": (CLOUDS, None, False, {"alpha": "1/2"}, {"layers": 9}),
    "list-exact.json": (CLOUDS[:2], None, False, {"alpha": "1/2"}, {"layers": 5, "arithmetic": "exact"}),
    "list-float.json": (CLOUDS[:1], None, False, {"alpha": "1/2"}, {"layers": 5, "arithmetic": "float"}),
    "stack-last-layer.json": (
        [LATE, [[-b, a] for a, b in LATE]],
        None,
        True,
        {"alpha": "1/2", "metric": [[2, 1], [1, 1]]},
        {"layers": 6, "record": hm.LastOnly()},
    ),
    "multiplicities-until-settled.npz": (
        [LATE, SKEW, SQUARE + INNER],
        [COUNTS, COUNTS[:6], COUNTS],
        False,
        {"alpha": "1/2"},
        {"stop": hm.Settled(1000), "record": hm.Every(2)},
    ),
}
# name: tokens, Dynamics
CERTIFICATES: dict[str, tuple[list, dict[str, Any]]] = {
    "square-repeated.json": ([*HEAVY, [0.5, 0.0]], {"alpha": "1/2"}),
    "metric.json": (SKEW, SKEWED),
    "fractions-repeated.json": ([*TWELFTHS, TWELFTHS[4], TWELFTHS[1]], {"alpha": "2/7"}),
    "solid.json": (SOLID, {"alpha": "1/3"}),
}
QUICK = {
    "layers": 4,
    "words": 100,
    "phrases": 0,
    "longest_phrase": 1,
    "tokens": 24,
    "thrift": 0.0,
    "epochs": 4,
    "bag_epochs": 1.0,
    "rise_epochs": 1.0,
    "batch": 16,
    "rate": 0.1,
    "validation": 0.25,
}
PHRASES = QUICK | {
    "dimension": 3,
    "layers": 2,
    "alpha": 1.5,
    "extra": True,
    "counts": "all",
    "longest_phrase": 3,
    "phrases": 60,
    "tokens": 40,
    "decoder_rate": 0.25,
    "seed": 3,
}
# Every entry is another than usual, so that one that is lost is noticed.
ALL_ENTRIES = PHRASES | {
    "longest_phrase": 2,
    "fewest_texts": 1,
    "least_odds": 0.125,
    "thrift": 1.5,
    "smoothing": 0.5,
    "strength": 0.75,
    "epochs": 9,
    "bag_epochs": 1.5,
    "rise_epochs": 2.5,
    "alpha_rate": 0.0625,
    "decoder": 4.0,
    "start": 0.25,
    "start_from": "odds",
    "word_dropout": 0.375,
    "norm_penalty": 0.001,
    "decay": 1e-5,
    "patience": 2,
}
RECIPES = {"usual.json": {}, "all-entries.json": ALL_ENTRIES, "quick.json": QUICK}
STOPPED_AFTER = 3  # epochs
TRAININGS = {
    "two-classes": QUICK | {"epochs": 6, "patience": 4, "alpha_rate": 0.5, "decoder_rate": 0.5, "decay": 1e-4},
    "three-classes": QUICK | {"epochs": 5, "extra": True, "validation": 0.0, "start_from": "linear"},
}
ASKED = [
    "A superb, witty film with a charming cast.",
    "Awful: the script was dreadful, and boring!",
    "The story was superb, but the music dreadful. Not good at all.",
    "Très bien! Très bien, and gripping.",
    "Nothing here is known.",
    "",
]
