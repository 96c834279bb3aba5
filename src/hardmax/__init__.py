"""Hardmax self-attention as an exact dynamical system.

>>> import hardmax as hm
>>> run = hm.simulate(hm.clouds.square(inside=[(0.5, 0.0)]), hm.Dynamics(alpha=0.5), layers=30)
>>> run.leaders.tolist(), run.certified
([0, 1, 2, 3], True)
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

# Names are resolved when first used (PEP 562), so that `hardmax --help` does not wait for numpy.
_HOMES = {
    "AfterLayers": "hardmax.runs.stops",
    "AttendedSets": "hardmax.attended_sets",
    "Certificate": "hardmax.limits.certifying",
    "Cpu": "hardmax.engines.cpu.machine",
    "Dynamics": "hardmax.dynamics",
    "Every": "hardmax.runs.records",
    "Explanation": "hardmax.text.explain.explanation",
    "FirstOf": "hardmax.runs.stops",
    "Gpu": "hardmax.engines.gpu.machine",
    "InputError": "hardmax.errors",
    "LastOnly": "hardmax.runs.records",
    "Limit": "hardmax.limits.result",
    "Limits": "hardmax.limits.finding",
    "Machine": "hardmax.engines.machines",
    "Ragged": "hardmax.tokens.batches",
    "Record": "hardmax.runs.records",
    "Settled": "hardmax.runs.stops",
    "Stop": "hardmax.runs.stops",
    "TextModel": "hardmax.text.text_model",
    "TheoremReport": "hardmax.limits.theorem",
    "TieSlack": "hardmax.engines.judging.judges",
    "Trajectories": "hardmax.runs.trajectories",
    "Trajectory": "hardmax.runs.trajectory",
    "Verdict": "hardmax.certificate",
    "as_written": "hardmax.tokens.rationals",
    "attended": "hardmax.dynamics",
    "check_theorem": "hardmax.limits.theorem",
    "limit": "hardmax.limits.finding",
    "load": "hardmax.text.shipped",
    "report": "hardmax.text.explain.report",
    "simulate": "hardmax.runs.simulation",
    "step": "hardmax.runs.stepping",
    "verify": "hardmax.limits.verifying",
}
_MODULES = ("clouds", "engines", "estimators", "figures", "geometry", "text", "train")

if TYPE_CHECKING:
    from hardmax import clouds as clouds
    from hardmax import engines as engines
    from hardmax import estimators as estimators
    from hardmax import figures as figures
    from hardmax import geometry as geometry
    from hardmax import text as text
    from hardmax import train as train
    from hardmax.attended_sets import AttendedSets as AttendedSets
    from hardmax.certificate import Verdict as Verdict
    from hardmax.dynamics import Dynamics as Dynamics
    from hardmax.dynamics import attended as attended
    from hardmax.engines.cpu.machine import Cpu as Cpu
    from hardmax.engines.gpu.machine import Gpu as Gpu
    from hardmax.engines.judging.judges import TieSlack as TieSlack
    from hardmax.engines.machines import Machine as Machine
    from hardmax.errors import InputError as InputError
    from hardmax.limits.certifying import Certificate as Certificate
    from hardmax.limits.finding import Limits as Limits
    from hardmax.limits.finding import limit as limit
    from hardmax.limits.result import Limit as Limit
    from hardmax.limits.theorem import TheoremReport as TheoremReport
    from hardmax.limits.theorem import check_theorem as check_theorem
    from hardmax.limits.verifying import verify as verify
    from hardmax.runs.records import Every as Every
    from hardmax.runs.records import LastOnly as LastOnly
    from hardmax.runs.records import Record as Record
    from hardmax.runs.simulation import simulate as simulate
    from hardmax.runs.stepping import step as step
    from hardmax.runs.stops import AfterLayers as AfterLayers
    from hardmax.runs.stops import FirstOf as FirstOf
    from hardmax.runs.stops import Settled as Settled
    from hardmax.runs.stops import Stop as Stop
    from hardmax.runs.trajectories import Trajectories as Trajectories
    from hardmax.runs.trajectory import Trajectory as Trajectory
    from hardmax.text.explain.explanation import Explanation as Explanation
    from hardmax.text.explain.report import report as report
    from hardmax.text.shipped import load as load
    from hardmax.text.text_model import TextModel as TextModel
    from hardmax.tokens.batches import Ragged as Ragged
    from hardmax.tokens.rationals import as_written as as_written


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"hardmax.{name}")
    raise AttributeError(f"module 'hardmax' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *_HOMES, *_MODULES]
