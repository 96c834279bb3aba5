__version__: str

from . import clouds, engines, figures, geometry, sklearn, text, train
from ._beyond.algebraic import AlgebraicNumber
from ._beyond.bifurcations import Bifurcations, bifurcations
from ._beyond.random import random_leaders
from ._beyond.temperature import Temperature, temperature
from ._common.validation import InputError
from ._float.policies import TieSlack
from ._float.search import Cpu
from ._gpu import Gpu
from ._layer.attended import AttendedSets
from ._layer.attention import Localmax, Softmax, TopK
from ._layer.parts import Head, Steps
from ._limits.certify import Certificate
from ._runs.softmax import Enclosures
from ._runs.trajectory import Trajectories, Trajectory
from ._streams.streamed import StreamedLimit, StreamedRun
from ._tokens.batches import Ragged
from ._tokens.rationals import parse_decimals
from .certificate import Verdict
from .dynamics import Dynamics, attended
from .engines import Engine
from .explorer import Explorer
from .limits import Limit, Limits, limit, verify
from .simulation import simulate, step
from .stops import AfterLayers, Every, FirstOf, LastOnly, Record, Settled, Stop
from .sweeps import sweep
from .text.documents import report
from .text.explain import Explanation
from .text.shipped import load
from .text.text_model import TextModel
from .theorem import TheoremReport, check_theorem

__all__ = [
    "AfterLayers",
    "AlgebraicNumber",
    "AttendedSets",
    "Bifurcations",
    "Certificate",
    "Cpu",
    "Dynamics",
    "Enclosures",
    "Engine",
    "Every",
    "Explanation",
    "Explorer",
    "FirstOf",
    "Gpu",
    "Head",
    "InputError",
    "LastOnly",
    "Limit",
    "Limits",
    "Localmax",
    "Ragged",
    "Record",
    "Settled",
    "Softmax",
    "Steps",
    "Stop",
    "StreamedLimit",
    "StreamedRun",
    "Temperature",
    "TextModel",
    "TheoremReport",
    "TieSlack",
    "TopK",
    "Trajectories",
    "Trajectory",
    "Verdict",
    "attended",
    "bifurcations",
    "check_theorem",
    "clouds",
    "engines",
    "sklearn",
    "figures",
    "geometry",
    "limit",
    "load",
    "parse_decimals",
    "random_leaders",
    "report",
    "simulate",
    "step",
    "sweep",
    "temperature",
    "text",
    "train",
    "verify",
]
