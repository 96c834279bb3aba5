"""How each engine is asked for the run of a problem."""

# pyright: reportMissingImports=false
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np

import hardmax as hm
from hardmax._float import bands, shells
from hardmax._float.bounds import SlackFactors
from hardmax._float.search import Cpu
from hardmax.engines import Gpu
from hardmax.text.model.analysis import Analysis
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.vocabulary import Vocabulary
from soak.problems import Problem


def run_of(problem: Problem, layers: int) -> hm.Trajectory:
    """The run of one cloud."""
    tokens, dynamics = problem.tokens, problem.dynamics
    match problem.engine.name:
        case "processor" | "arena" | "wide":
            return _by_processor(problem, layers)
        case "cones":
            # Whoever asks for more than the outermost point is searched in cones.
            with patch.object(shells, "_OUTERMOST", 1):
                return _by_processor(problem, layers)
        case "bands":
            # Points of sizes that differ by a factor of two are in bands of their own.
            with patch.multiple(bands, _WIDTH=2.0, _FEW=-1):
                return _by_processor(problem, layers)
        case "doubting":
            # Floats prove nothing: integers decide whatever is not ruled out by far.
            with patch.object(SlackFactors, "slack", lambda _, norms, *rest: np.full(len(norms), np.inf)):
                return _by_processor(problem, layers)
        case "exact":
            return hm.simulate(tokens, dynamics, layers=layers, arithmetic="exact")
        case "gpu":
            return hm.simulate(tokens, dynamics, layers=layers, engine=Gpu(device()))
    raise AssertionError(f"{problem.engine.name} does not walk one cloud")


def _by_processor(problem: Problem, layers: int) -> hm.Trajectory:
    return hm.simulate(problem.tokens, problem.dynamics, layers=layers, engine=Cpu(problem.engine.search))


def batch_of(problem: Problem, layers: int) -> Any:
    """The runs of the cloud and of the same cloud in the other order, walked by one kernel."""
    clouds = [problem.tokens, problem.tokens[::-1].copy()]
    machine = Cpu() if problem.engine.name == "batch" else Gpu(device())
    return hm.simulate(clouds, problem.dynamics, layers=layers, engine=machine)


def analysis_of(problem: Problem, layers: int) -> tuple[Analysis, np.ndarray]:
    """A text in which every token is a word, analysed by a model; and the vectors of the words."""
    n, d = problem.tokens.shape
    words = [f"word{number}" for number in range(n)]
    model = TextModel(
        vocabulary=Vocabulary(words, np.ones((n, 2))),
        embeddings=problem.tokens.astype(np.float32),
        decoder=np.zeros((1, d)),
        bias=np.zeros(1),
        classes=(0, 1),
        layers=layers,
        alpha=problem.alpha,
        metric=problem.metric,
    )
    return model.analyse([" ".join(words)]), model.prepared.table


@cache
def device() -> str:
    """Where tensors are: on a GPU, or else where its kernels are interpreted."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
