"""What `hardmax train` writes: a model folder with log and curve, and beside it, until it is there, a checkpoint."""

import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hardmax.cli.output import narrate
from hardmax.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from hardmax.text.model import TextModel
    from hardmax.train.log import Epoch

LOG, CURVE, CHECKPOINT = "training.jsonl", "training.png", "checkpoint.safetensors"


@dataclass(frozen=True)
class Target:
    """Where a model goes."""

    output: str
    force: bool
    resume: bool

    @property
    def folder(self) -> Path:
        return Path(self.output)

    @property
    def checkpoint(self) -> Path:
        """The folder beside the output that an unfinished training is kept in."""
        whole = self.folder.resolve()
        return whole.with_name(f"{whole.name}.training")

    def check(self) -> None:
        """Refuses before the work what could not be written after it, and what would be lost by it."""
        begun = (self.checkpoint / CHECKPOINT).exists()
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"`--output` {self.output!r} is a file: name a folder.")
        if self.folder.is_dir() and any(self.folder.iterdir()):
            if not (self.folder / "model.safetensors").exists():
                raise InputError(f"`--output` {self.output!r} holds other things: name a new folder.")
            if not self.force:
                raise InputError(f"`--output` {self.output!r} holds a model: name a new folder, or add --force.")
        if self.resume and not begun:
            raise InputError(f"`--resume`: `{self.checkpoint}` holds no unfinished training. Leave --resume out.")
        if begun and not self.resume and not self.force:
            way = "add --resume to go on with it, or --force to begin again"
            raise InputError(f"`{self.checkpoint}` holds an unfinished training: {way}.")

    def start(self) -> None:
        """Removes a checkpoint that is not to be gone on with."""
        if not self.resume:
            shutil.rmtree(self.checkpoint, ignore_errors=True)

    def way_on(self) -> str:
        """What to do after an interruption."""
        if not (self.checkpoint / CHECKPOINT).exists():
            return "interrupted before the end of the first epoch: nothing is kept."
        again = [word for word in sys.argv[1:] if word not in ("--force", "--resume")]
        forced = ["--force"] if self.force else []
        return f"interrupted; go on with: {shlex.join(['hardmax', *again, *forced, '--resume'])}"

    def write(self, model: "TextModel") -> list[str]:
        """Writes the model, its log and, if it can be drawn, the curve; gives back where. The checkpoint goes."""
        from hardmax.train.log import Epoch, write_log

        model.save(self.folder)
        reports = [Epoch(**report) for report in model.metrics["training"]]
        write_log(self.folder / LOG, reports)
        drawn = _draw_curve(reports, self.folder / CURVE)
        shutil.rmtree(self.checkpoint, ignore_errors=True)
        return [str(path) for path in (self.folder, self.folder / LOG, *drawn)]


def _draw_curve(reports: "list[Epoch]", path: Path) -> list[Path]:
    try:
        from hardmax.figures.style import save_figure
        from hardmax.figures.training_curve import training_curve_figure
    except MissingExtra as error:
        narrate(f"no curve is drawn: {error}")
        return []
    save_figure(training_curve_figure(reports), path)
    return [path]
