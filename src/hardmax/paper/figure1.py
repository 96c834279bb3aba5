"""The paper's Figure 1: the half-space in which a token finds whom it attends to, for two metrics."""

from hardmax.dynamics import Dynamics
from hardmax.runs.simulation import simulate
from hardmax.runs.trajectory import Trajectory

# With A = I token 0 ties 1 and 2; with A = ((2, 1), (1, 1)) it looks further up and attends to 3 alone.
FIGURE_1 = [(1, -0.5), (1.5, -1.5), (2, -0.5), (1.5, 1.75)]


def figure1_runs() -> dict[str, Trajectory]:
    """The two metrics of Figure 1, on four tokens of our choice."""
    metrics = {"A = I": None, "A = ((2, 1), (1, 1))": [[2, 1], [1, 1]]}
    return {name: simulate(FIGURE_1, Dynamics("1/2", metric), layers=0) for name, metric in metrics.items()}
