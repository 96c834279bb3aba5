"""What a training writes: a model folder with its log, and beside it, until it is there, a checkpoint."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

from hardmax._files import read_json, reason, write_whole
from hardmax._validation import InputError
from hardmax.text.files.claims import Claim
from hardmax.text.files.folder import TRAINING, write_model
from hardmax.text.files.replacing import tidy
from hardmax.text.text_model import TextModel
from hardmax.train.log import Epoch, log_bytes
from hardmax.train.reading import Wish
from hardmax.train.recipe import Recipe
from hardmax.train.suited import Choice, Suited

LOG, CURVE = TRAINING
CHECKPOINT, CHOSEN, CLAIM = "checkpoint.safetensors", "chosen.json", "claim"


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
            raise InputError(
                f"`output` {self.output!r} cannot be written: {reason(error)}.", argument="output"
            ) from None
        if claim is None:
            way = "wait for it, or name another folder"
            raise InputError(f"`output` {self.output!r} is being trained by another process: {way}.", argument="output")
        try:
            self._check()
            yield
        finally:
            (self.checkpoint / CLAIM).unlink(missing_ok=True)
            if not self.is_begun:
                (self.checkpoint / CHOSEN).unlink(missing_ok=True)
            with suppress(OSError):  # it holds a checkpoint, or is gone
                self.checkpoint.rmdir()
            claim.release()

    def _check(self) -> None:
        tidy(self.folder.resolve())
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"`output` {self.output!r} is a file: name a folder.", argument="output")
        if self.folder.is_dir() and any(self.folder.iterdir()):
            if not (self.folder / "model.safetensors").exists():
                raise InputError(f"`output` {self.output!r} holds other things: name a new folder.", argument="output")
            if not self.force:
                raise InputError(
                    f"`output` {self.output!r} holds a model: name a new folder, or add force=True.",
                    argument="output",
                    also=("force=True",),
                )
        if self.resume and not self.is_begun:
            raise InputError(
                f"`resume`: `{self.checkpoint}` holds no unfinished training. Leave resume=True out.",
                argument="resume",
                also=("resume=True",),
            )
        if self.is_begun and not self.resume and not self.force:
            way = "add resume=True to go on with it, or force=True to begin again"
            raise InputError(
                f"`{self.checkpoint}` holds an unfinished training: {way}.",
                also=(
                    "resume=True",
                    "force=True",
                ),
            )

    def start(self) -> None:
        """Removes a checkpoint that is not to be gone on with."""
        for path in self.checkpoint.iterdir():
            if not self.resume and path.name != CLAIM:
                path.unlink()

    def choice(self, wish: Wish, choose: Callable[[], Suited]) -> Suited:
        """The recipe of the training: what `choose` says, or, where the same was wished for before, what it said then:
        a search that takes time would not say the same again."""
        path = self.checkpoint / CHOSEN
        kept = read_json(path, "expected what a training has chosen") if path.exists() else {}
        if kept.get("wish") == repr(wish):
            return Suited(Recipe.from_dict(kept["recipe"]), tuple(Choice(**each) for each in kept["choices"]))
        found = choose()
        told = {"recipe": found.recipe.to_dict(), "choices": [asdict(choice) for choice in found.choices]}
        write_whole(path, json.dumps({"wish": repr(wish)} | told).encode())
        return found

    @property
    def is_begun(self) -> bool:
        """Whether there is an unfinished training to go on with."""
        return (self.checkpoint / CHECKPOINT).exists()

    def write(self, model: TextModel, beside: Mapping[str, bytes] = MappingProxyType({})) -> list[Path]:
        """Write the model with its log and with what goes `beside` it; gives back where. The checkpoint goes."""
        reports = [Epoch(**report) for report in model.metrics["training"]]
        files = {LOG: log_bytes(reports), **beside}
        write_model(model, self.folder, files)
        shutil.rmtree(self.checkpoint, ignore_errors=True)
        return [self.folder, *(self.folder / name for name in files)]
