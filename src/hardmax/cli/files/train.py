"""What `hardmax train` writes: a model folder with log and curve, and beside it, until it is there, a checkpoint."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hardmax.cli.output import narrate
from hardmax.errors import InputError, MissingExtra
from hardmax.text.files.claims import Claim
from hardmax.text.files.folder import TRAINING, write_model
from hardmax.text.files.replacing import tidy
from hardmax.tokens.reading import reason

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel
    from hardmax.train.log import Epoch

LOG, CURVE = TRAINING
CHECKPOINT, CLAIM = "checkpoint.safetensors", "claim"


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

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Holds the output for one training, and refuses before the work what could not be written after it, and what
        would be lost by it. A training that was killed holds nothing any more."""
        try:
            self.checkpoint.mkdir(parents=True, exist_ok=True)
            (self.checkpoint / CLAIM).touch()
            claim = Claim.on(self.checkpoint / CLAIM)
        except OSError as error:
            raise InputError(f"`--output` {self.output!r} cannot be written: {reason(error)}.") from None
        if claim is None:
            way = "wait for it, or name another folder"
            raise InputError(f"`--output` {self.output!r} is being trained by another process: {way}.")
        try:
            self._check()
            yield
        finally:
            (self.checkpoint / CLAIM).unlink(missing_ok=True)
            with suppress(OSError):  # it holds a checkpoint, or is gone
                self.checkpoint.rmdir()
            claim.release()

    def _check(self) -> None:
        begun = (self.checkpoint / CHECKPOINT).exists()
        tidy(self.folder.resolve())
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
        for path in self.checkpoint.iterdir():
            if not self.resume and path.name != CLAIM:
                path.unlink()

    def way_on(self) -> str:
        """What to do after an interruption."""
        if not (self.checkpoint / CHECKPOINT).exists():
            return "interrupted before the end of the first epoch: nothing is kept."
        again = [word for word in sys.argv[1:] if word not in ("--force", "--resume")]
        forced = ["--force"] if self.force else []
        return f"interrupted; go on with: {shlex.join(['hardmax', *again, *forced, '--resume'])}"

    def write(self, model: "TextModel") -> list[str]:
        """Writes the model with its log and, if it can be drawn, the curve; gives back where. The checkpoint goes."""
        from hardmax.train.log import Epoch, log_bytes

        reports = [Epoch(**report) for report in model.metrics["training"]]
        beside = {LOG: log_bytes(reports)} | _curve(reports)
        write_model(model, self.folder, beside)
        shutil.rmtree(self.checkpoint, ignore_errors=True)
        return [str(path) for path in (self.folder, *(self.folder / name for name in beside))]


def _curve(reports: "list[Epoch]") -> dict[str, bytes]:
    try:
        from hardmax.figures.style import figure_bytes
        from hardmax.figures.training_curve import training_curve_figure
    except MissingExtra as error:
        narrate(f"no curve is drawn: {error}")
        return {}
    return {CURVE: figure_bytes(training_curve_figure(reports), CURVE)}
