"""`step`: the tokens one layer later, where they are."""

from typing import Any

from hardmax import dynamics as definition
from hardmax.dynamics import Dynamics, read_dynamics
from hardmax.engines.arithmetics import walkers_for
from hardmax.engines.machines import machine_for
from hardmax.errors import need
from hardmax.runs.plan import Plan
from hardmax.runs.records import LastOnly
from hardmax.runs.simulation import clouds_there
from hardmax.runs.stops import AfterLayers
from hardmax.tokens.tensors import is_tensor


def step(tokens: Any, dynamics: Dynamics) -> Any:
    """The tokens one layer later, in the form and kind of numbers in which they came.

    They are those of the definition, `hardmax.dynamics.step`, rounded once. Tensors on a GPU stay there: they move in
    float64, and are off by no more than ten roundings of the longest token.

    >>> step([[1, 1], [1, -1], [0.5, 0]], Dynamics(1)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.75, 0.0]]
    """
    dynamics = read_dynamics(dynamics)
    if is_tensor(tokens) and tokens.is_cuda:
        need("The GPU engine", "gpu")
        from hardmax.runs.on_device.simulation import step_table

        moved = step_table(tokens, dynamics)
        if moved is not None:
            return moved
    machine = machine_for(tokens, None)
    there = clouds_there(tokens, machine)
    if there is None:
        return definition.step(tokens, dynamics)
    from hardmax.runs.on_device.simulation import step_there

    return step_there(there, Plan(dynamics, walkers_for("certified", machine), AfterLayers(1), LastOnly()))
