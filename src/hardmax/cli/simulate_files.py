"""What `hardmax simulate -o` writes, by suffix.

Of one cloud, `.npz` and `.json` are what `Trajectory.load` reads. Of many, `.npz` holds the last layer in the form
that `hardmax simulate` reads again, and `.json` what `--json` prints. `.csv` has a line for each token at each
recorded layer.
"""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from hardmax.runs.trajectories import Trajectories
    from hardmax.runs.trajectory import Trajectory

SUFFIXES = (".npz", ".json", ".csv")


def write_result(result: "Trajectory | Trajectories", path: str, multiplicities: "np.ndarray | None") -> None:
    """Writes the run, or the runs, in the form that the suffix names; `multiplicities` are those that were read."""
    from hardmax.runs.trajectory import Trajectory
    from hardmax.tokens.files import write_whole

    suffix = Path(path).suffix
    if suffix == ".csv":
        write_whole(path, _csv(result).encode())
    elif isinstance(result, Trajectory):
        result.save(path)
    elif suffix == ".json":
        write_whole(path, _json(result).encode())
    else:
        write_whole(path, _last_layers(result, multiplicities))


def _csv(result: "Trajectory | Trajectories") -> str:
    from hardmax.runs.trajectory import Trajectory

    runs, many = ([result], False) if isinstance(result, Trajectory) else (result, True)
    coordinates = [f"z{coordinate}" for coordinate in range(runs[0].d)]
    lines = [",".join([*(["cloud"] if many else []), "layer", "token", *coordinates])]
    for number, run in enumerate(runs):
        start = f"{number}," if many else ""
        for layer in run.recorded:
            for token, row in enumerate(run.at(layer).tolist()):
                lines.append(f"{start}{layer},{token},{','.join(map(repr, row))}")
    return "\n".join(lines) + "\n"


def _json(result: "Trajectories") -> str:
    from hardmax.cli.simulate_report import document

    return json.dumps(document(result), allow_nan=False) + "\n"


def _last_layers(runs: "Trajectories", multiplicities: "np.ndarray | None") -> bytes:
    import numpy as np

    arrays: dict[str, Any] = {
        "tokens": np.concatenate([run.at(run.layers) for run in runs]),
        "offsets": np.cumsum([0, *(run.n for run in runs)]),
    }
    if multiplicities is not None:
        arrays["multiplicities"] = multiplicities
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()
