"""What the functions of the package return, for annotations and `isinstance`.

>>> import hardmax as hm
>>> isinstance(hm.limits([[[1.0], [2.0]]], hm.Dynamics(1)), hm.results.Limits)
True
"""

from hardmax._beyond.algebraic import AlgebraicNumber
from hardmax._beyond.bifurcations import Bifurcations
from hardmax._beyond.softmax_gap import SoftmaxGap
from hardmax._layer.attended import AttendedSets
from hardmax._limits.certify import Certificate
from hardmax._questions.basins import Basins, Region
from hardmax._questions.falsify import Falsification
from hardmax._questions.metric import MetricSearch
from hardmax._questions.statements import Broken
from hardmax._runs.run import Run, Runs
from hardmax._streams.streamed import StreamedLimit
from hardmax.certificate import Verdict
from hardmax.infinite_depth import Limit, Limits
from hardmax.theorem import TheoremReport

__all__ = [
    "AlgebraicNumber",
    "AttendedSets",
    "Basins",
    "Bifurcations",
    "Broken",
    "Certificate",
    "Falsification",
    "Limit",
    "Limits",
    "MetricSearch",
    "Region",
    "SoftmaxGap",
    "StreamedLimit",
    "TheoremReport",
    "Runs",
    "Run",
    "Verdict",
]
