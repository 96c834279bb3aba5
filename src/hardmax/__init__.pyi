__version__: str

from . import clouds, io, results
from ._beyond.bifurcations import bifurcations
from ._beyond.softmax_gap import softmax_gap
from ._common.validation import InputError
from ._float.search import Cpu
from ._gpu import Gpu
from ._layer.attention import Localmax, Softmax, TopK
from ._layer.parts import FeedForward, Head
from ._questions.basins import basins
from ._questions.falsify import falsify
from ._questions.metric import find_metric
from ._runs.run import Run
from ._tokens.batches import Clouds
from .dynamics import Dynamics, attended
from .explorer import Explorer
from .infinite_depth import Limit, limit, limits, verify
from .simulation import simulate, step
from .sweeps import sweep
from .text.shipped import load_model
from .theorem import check_theorem

__all__ = [
    "Cpu",
    "Dynamics",
    "Explorer",
    "FeedForward",
    "Gpu",
    "Head",
    "InputError",
    "Limit",
    "Localmax",
    "Clouds",
    "Softmax",
    "TopK",
    "Run",
    "attended",
    "basins",
    "bifurcations",
    "check_theorem",
    "clouds",
    "falsify",
    "find_metric",
    "io",
    "limit",
    "limits",
    "load_model",
    "results",
    "simulate",
    "softmax_gap",
    "step",
    "sweep",
    "verify",
]
