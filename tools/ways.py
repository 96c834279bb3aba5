"""Three ways through the package, traced while they run.

For each it prints the files and functions of the package that were entered, how often a call led
from one file into another, and the deepest stack of the package's own frames. A second line leaves
out the frames of decorators (cached properties, kernels), which stand for what they decorate.

usage: python tools/ways.py [WAY …] [--files] [--calls]

With --files the files are listed with their numbers of calls, with --calls the calls between files.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import hardmax as hm
from hardmax.io import read_cloud
from hardmax.text import TextModel

HOME = str(Path(hm.__file__).parent)
CLOUD = "1,1\n1,-1\n-1,-1\n-1,1\n0.5,0\n0.1,0.2\n"
# Frames that stand for what they decorate: cached properties, kernels, parallel loops.
DECORATORS = ("_common/cached.py", "_kernels/compiling.py", "_kernels/parallel.py")
REVIEW = "A fine film, but not a great one. I would watch it again, for the dog."


class Trace:
    """A profile function that counts calls within the package, once imports are done."""

    def __init__(self, left_out: tuple[str, ...] = ()) -> None:
        self.left_out = left_out
        self.stack: list[str | None] = []
        self.functions: set[tuple[str, int, str]] = set()
        self.files: Counter[str] = Counter()
        self.moves: Counter[tuple[str, str]] = Counter()
        self.deepest = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self._enter(frame)
        elif event == "return" and self.stack:
            self.stack.pop()

    def __str__(self) -> str:
        entered = f"{len(self.files)} files, {len(self.functions)} functions"
        return f"{entered}, {self.moves.total()} moves between files, {self.deepest} deep"

    def _enter(self, frame: FrameType) -> None:
        code = frame.f_code
        name = code.co_filename.removeprefix(HOME).lstrip("/")
        is_own = code.co_filename.startswith(HOME) and name not in self.left_out
        caller = next((file for file in reversed(self.stack) if file), None)
        self.stack.append(name if is_own else None)
        if not is_own:
            return
        self.files[name] += 1
        self.functions.add((name, code.co_firstlineno, code.co_name))
        if caller not in (None, name):
            self.moves[caller or "", name] += 1
        self.deepest = max(self.deepest, sum(file is not None for file in self.stack))


def certify_csv(folder: Path) -> None:
    """CSV → limit → certificate → verify."""
    (folder / "cloud.csv").write_text(CLOUD)
    lim = hm.limit(read_cloud(folder / "cloud.csv"), hm.Dynamics("1/2"))
    assert isinstance(lim, hm.Limit)
    assert hm.verify(lim.prove())


def explain_review(folder: Path) -> None:
    """Review → explanation page."""
    model().explain(REVIEW).save(folder / "review.html")


@cache
def model() -> TextModel:
    """The model is loaded in the run that is not traced."""
    return hm.load_model("sentiment-en")


def stream_dask(folder: Path) -> None:
    """Dask array → StreamedLimit."""
    import dask
    import dask.array as da

    tokens = da.from_array(hm.clouds.gaussian(1000, 2), chunks=(250, 2))
    with dask.config.set(scheduler="synchronous"):
        assert hm.limit(tokens, hm.Dynamics("1/2")).settled_at is not None


WAYS: dict[str, Callable[[Path], None]] = {
    "csv": certify_csv,
    "review": explain_review,
    "dask": stream_dask,
}


def trace(way: Callable[[Path], None], left_out: tuple[str, ...] = ()) -> Trace:
    """The second run of a way: the first imports modules and loads what is loaded once."""
    found = Trace(left_out)
    with tempfile.TemporaryDirectory() as folder:
        way(Path(folder))
        sys.setprofile(found)
        try:
            way(Path(folder))
        finally:
            sys.setprofile(None)
    return found


def main() -> None:
    """Trace the ways asked for, all by default."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("ways", nargs="*", metavar="WAY", help=", ".join(WAYS))
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--calls", action="store_true")
    options = parser.parse_args()
    for name in options.ways or WAYS:
        found = trace(WAYS[name])
        print(f"{(WAYS[name].__doc__ or name).strip('.')}: {found}")
        print(f"  without decorators: {trace(WAYS[name], DECORATORS)}")
        for file, count in found.files.most_common() if options.files else ():
            print(f"  {count:5} {file}")
        for (caller, callee), count in found.moves.most_common() if options.calls else ():
            print(f"  {count:5} {caller} -> {callee}")


if __name__ == "__main__":
    main()
