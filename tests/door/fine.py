"""Arguments from `bad_values` that are good ones for some functions: which, where and why.

Whatever is not here has to be refused. Places are "call.argument", with `*` for any.
"""

from fnmatch import fnmatchcase
from typing import NamedTuple


class Fine(NamedTuple):
    """Values that are taken, the places where they are, and why that is right."""

    why: str
    places: tuple[str, ...]
    values: frozenset[str]


def _fine(why: str, places: str, values: str) -> Fine:
    return Fine(why, tuple(places.split("; ")), frozenset(values.split("; ")))


_LAYERS = (
    "simulate*.layers; limit.at_most; AfterLayers.layers; Settled.at_most; *.at.layer; *.floats_at.layer; "
    "Trajectory.attended.layer; Trajectory.exact_at.layer; *.distance_to_limit.layer; draw_*.layer; TextModel.layers; "
    "HardmaxClassifier.layers"
)
_DEEP = (
    "simulate.layers; limit.at_most; AfterLayers.layers; Settled.at_most; *.at.layer; *.floats_at.layer; "
    "Trajectory.attended.layer; *.distance_to_limit.layer; draw_*.layer"
)
_POINTS = (
    "Polytope.contains.points; Polytope.distance.points; *.direction; project*.target; half_space.token; "
    "HalfSpace.normal; HalfSpace.contains.points; cell_of.points; TextModel.extra"
)
_TABLES = (
    "simulate*.tokens; limit.tokens; step.tokens; attended.tokens; parse_decimals.values; HardmaxClustering.X; "
    "Polytope*.points; project*.points; project_exact.vertices; extreme_points.*; is_extreme.points; affine_*.points; "
    "hull.points; outline.points; half_space.metric; HalfSpace.contains.points; leader_cells.leaders; "
    "leader_cells.metric; cell_of.*; clouds.square.inside; clouds.turned.cloud; draw_tokens.tokens; "
    "draw_leader_polygon.leaders; Vocabulary.counts; TextModel.embeddings"
)
_DEFAULTS = (
    "simulate*.progress; simulate*.engine; limit.progress; limit.engine; limit.at_most; *.metric; Cpu.*; "
    "Ragged.multiplicities; Trajectory.exact_at.tokens; *.tolerance; project*.target; extreme_points.directions; "
    "affine_frame.at_most; affine_frame.within; Polytope.outline.face; clouds.square.inside; TextModel.extra; "
    "frequent_leaders.most; TextModel.score_table.text; TextModel.from_pretrained.revision; "
    "TextModel.from_pretrained.token; HardmaxClassifier.[!Xy]*"
)

FINE = (
    _fine("None is what it is where nothing is said", _DEFAULTS, "None"),
    _fine("a few layers, or none", _LAYERS, "0; 1"),
    _fine("no chance, or certainty", "TextModel.score_table.abstain", "0; 1"),
    _fine("a beginning", "TextModel.score_table.prefix", "no text; a text; number as text; False as text"),
    _fine("layers beyond settling cost nothing", _DEEP, "2^63; 10^400"),
    _fine("a batch of two clouds", "simulate*.tokens; limit.tokens; step.tokens; attended.tokens", "3-d"),
    _fine("an array with a mask, of which nothing is masked, holds all its numbers", _TABLES, "mask without any"),
    _fine("one point of the plane", _POINTS, "list of -1; list of halves; list of bools"),
    _fine("one point, in space", "HalfSpace.normal", "1-d"),
    _fine("it is called with two numbers, and takes them", "*.progress", "lambda"),
    _fine("bytes, however many", "*.memory_limit", "1; 2^63; 10^400"),
    _fine("a positive number", "*.alpha; *.eps", "1; 2.5; 2^63; 10^400; number as text"),
    _fine("a distance", "*.tolerance", "0; 1; 2.5; 2^63; 10^400; 10^5000; number as text"),
    _fine("a truth value",
          "*.midpoints; *.marks; *.across_sentences; *.hull; *.center; *.download; *.binary",
          "True; False; numpy True"),
    _fine("a slack, however wide", "TieSlack.relative", "0; 1; 2.5; 2^63"),
    _fine("one thread", "Cpu.threads", "1"),
    _fine("every layer, or every so many", "Every.m", "1; 2^63; 10^400"),
    _fine("one of the five, two or none, counted from either end", "*[]].index; *[]].cloud", "0; -1; 1"),
    _fine("a part of a sequence", "*[]].index", "slice"),
    _fine("some tokens", "Trajectory.exact_at.tokens", "[]; (); range; list of -1"),
    _fine("a number that a Fraction is made of, whatever its shape", "parse_decimals.values",
          "True; False; numpy True; 0; -1; 1; 2.5; -2.5; 2^63; 10^400; 10^5000; -10^400; Fraction; 0-d number; "
          "number as text; range; list of -1; list of halves; list of huge; list of bools; 40 deep; 1-d; 3-d; 4-d"),
    _fine("no numbers at all make no Fractions", "parse_decimals.values",
          "[]; (); [[]]; [[], []]; [[[]]]; array of none; array without columns; batch of none; batch of empty"),
    _fine("an effort", "verify.effort", "1; 2.5; inf; 2^63"),
    _fine("a number of faces, of points", "*.dimension; is_extreme.index", "0; 1"),
    _fine("the first vertices", "Polytope.outline.face", "range"),
    _fine("a flat of few dimensions, or of any", "affine_frame.at_most", "0; 1; 2^63; 10^400"),
    _fine("a thickness", "affine_frame.within", "0; 1; 2.5; 2^63"),
    _fine("a number, of either sign", "HalfSpace.offset", "0; -1; 1; 2.5; -2.5; 2^63; Fraction"),
    _fine("nothing inside the square", "clouds.square.inside", "[]; (); array of none; batch of none"),
    _fine("one of something", "clouds.*.n; clouds.*.d; clouds.grid.side; clouds.*.span; Tokeniser.longest_phrase", "1"),
    _fine("one text, word or planted word", "plant.texts; plant.words; plant.length", "1"),
    _fine("a seed", "*.seed; *.random_state", "0; 1"),
    _fine("a seed, however large, of numpy", "clouds.*.seed; plant.seed", "2^63; 10^400"),
    _fine("a text, whatever it says", "Tokeniser.tokens.text; TextModel.explain.text",
          "no text; a text; two lines; NUL; surrogate; a long text; 300 letters; number as text; False as text"),
    _fine("what a folder has no use for", "TextModel.from_pretrained.revision; TextModel.from_pretrained.token",
          "no text; a text; two lines; NUL; surrogate; a long text; 300 letters; number as text; False as text"),
    _fine("a name that is for errors alone", "Vocabulary.from_bytes.name",
          "no text; a text; two lines; NUL; surrogate; a long text; 300 letters; number as text; False as text"),
    _fine("two words", "Vocabulary.surfaces; plant.classes", "list of texts"),
    _fine("a vocabulary that counts in no class", "Vocabulary.counts", "[[], []]; array without columns"),
    _fine("two classes", "TextModel.classes", "list of texts; list of -1; list of halves; list of huge; list of bools"),
    _fine("a temperature", "TextModel.temperature", "1; 2.5; 2^63"),
    _fine("plain data", "TextModel.metrics", "{}; dict"),
    _fine("texts, or none", "TextModel.*.texts; encode.texts", "[]; (); list of texts"),
    _fine("the name of a folder, where models are saved in this test",
          "TextModel.save.folder; TextModel.load.folder; *.name_or_path", "a text; number as text; False as text"),
    _fine("as many as there are",
          "frequent_leaders.most; build_vocabulary.words; build_vocabulary.phrases; build_vocabulary.fewest",
          "0; 1; 2^63; 10^400"),
    _fine("truth values are classes 0 and 1", "evaluate.truth", "list of bools"),
    _fine("a share", "plant.disturbed; HardmaxClassifier.validation_fraction", "0; 1"),
    _fine("scikit-learn's clusterings do not look at y", "HardmaxClustering.y", "*"),
    _fine("one weight for all texts", "HardmaxClassifier.sample_weight",
          "True; numpy True; 1; 2.5; 2^63; 0-d number; number as text"),
    _fine("a small model, trained once", "HardmaxClassifier.dimension; HardmaxClassifier.epochs", "1"),
    _fine("a number that torch has", "HardmaxClassifier.alpha", "1; 2.5"),
    _fine("a recipe that changes nothing", "HardmaxClassifier.recipe", "{}"),
    _fine("more or less talk", "HardmaxClassifier.verbose", "True; False; 0; 1; 2^63; 10^400"),
    _fine("one token of the five", "draw_halfspace.token; halfspace_figure.token", "0; -1; 1"),
    _fine("three layers", "figure2.layers; Trajectory.plot*.layers; Trajectory.animate.layers", "range"),
    _fine("nothing said: the last layer, a new figure, the recorded layers",
          "Trajectory.plot*.*; Limit.plot.*; Trajectory.animate.layers", "None"),
    _fine("one layer", "Trajectory.plot*.layers", "0; 1; 2^63; 10^400"),
    _fine("a speed", "Trajectory.animate.fps", "1; 2.5"),
    _fine("a width and a height", "*.plot.figsize", "list of halves"),
    _fine("nobody leads", "draw_embedding.leaders; embedding_figure.leaders; draw_tokens.leaders", "[]; ()"),
    _fine("the first three lead", "draw_tokens.leaders", "range"),
    _fine("two layers of two tokens", "draw_paths.path", "3-d"),
    _fine("a width", "draw_paths.width", "1; 2.5; 2^63"),
)  # fmt: skip


def is_fine(place: str, value: str) -> bool:
    """Whether a value may be taken at a place."""
    return any(
        (value in fine.values or "*" in fine.values) and any(fnmatchcase(place, pattern) for pattern in fine.places)
        for fine in FINE
    )
