"""What `hardmax simulate -o` writes, by suffix.

`.npz` is what `Trajectory.load` reads, or `Trajectories.load` for many clouds; `hardmax simulate` reads it, too, to
go on from the last layer. `.csv` has a line for each token at each recorded layer.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectories, Trajectory

SUFFIXES = (".npz", ".csv")


def write_result(result: "Trajectory | Trajectories", path: str) -> None:
    """Writes the run, or the runs, in the form that the suffix names."""
    from hardmax._files import write_whole

    if Path(path).suffix == ".csv":
        write_whole(path, _csv(result).encode())
    else:
        result.save(path)


def _csv(result: "Trajectory | Trajectories") -> str:
    from hardmax.trajectory import Trajectory

    runs, many = ([result], False) if isinstance(result, Trajectory) else (result, True)
    coordinates = [f"z{coordinate}" for coordinate in range(runs[0].d)]
    lines = [",".join([*(["cloud"] if many else []), "layer", "token", *coordinates])]
    for number, run in enumerate(runs):
        start = f"{number}," if many else ""
        for layer in run.recorded:
            for token, row in enumerate(run.at(layer).tolist()):
                lines.append(f"{start}{layer},{token},{','.join(map(repr, row))}")
    return "\n".join(lines) + "\n"
