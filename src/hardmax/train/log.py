"""What a training tells after every epoch, and the file it is kept in: JSON, a line an epoch."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from hardmax._files import write_whole
from hardmax._validation import InputError


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One epoch. Losses and accuracies of training are those met on the way, with words dropped."""

    epoch: int  # from 1
    alpha: float  # at its end
    loss: float
    accuracy: float
    leaders: float  # a text
    seconds: float
    validation_loss: float | None = None
    validation_accuracy: float | None = None
    validation_leaders: float | None = None


def write_log(path: Path, reports: Sequence[Epoch]) -> None:
    """Write all reports, whole or not at all."""
    write_whole(path, log_bytes(reports))


def log_bytes(reports: Sequence[Epoch]) -> bytes:
    """What `write_log` writes."""
    return "".join(json.dumps(asdict(report)) + "\n" for report in reports).encode()


def read_log(path: str | Path) -> list[Epoch]:
    """The reports in a log."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        return [Epoch(**json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError):
        raise InputError(f"`{path}` is not a training log: expected a line of JSON for each epoch.") from None
