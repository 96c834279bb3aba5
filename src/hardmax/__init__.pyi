__version__: str

from . import clouds, engines, figures, geometry, sklearn, text, train
from ._algebraic import AlgebraicNumber
from ._attended import AttendedSets
from ._attention import Localmax, Softmax, TopK
from ._bifurcations import Bifurcations, bifurcations
from ._certify import Certificate
from ._float.policies import TieSlack
from ._float.search import Cpu
from ._gpu import Gpu
from ._layer import Head, Steps
from ._random import random_leaders
from ._softmax import Enclosures
from ._temperature import Temperature, temperature
from ._tokens.batches import Ragged
from ._tokens.rationals import parse_decimals
from ._validation import InputError
from .certificate import Verdict
from .dynamics import Dynamics, attended
from .engines import Engine
from .explorer import Explorer
from .limits import Limit, Limits, limit, verify
from .simulation import simulate, step
from .stops import AfterLayers, Every, FirstOf, LastOnly, Record, Settled, Stop
from .stream import StreamedLimit, StreamedRun
from .sweeps import sweep
from .text.explain import Explanation
from .text.page import report
from .text.shipped import load
from .text.text_model import TextModel
from .theorem import TheoremReport, check_theorem
from .trajectory import Trajectories, Trajectory

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
