"""Mutations as data: lines of the source that tests must miss when they are gone. Each area has a list in TOML."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class Unusable(Exception):
    """A mutation that cannot be tried, and why, in one line."""


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One change of one file that at least one of the named tests must notice."""

    area: str  # the name of the list that it stands in
    name: str  # what is broken, in words
    file: str
    old: str  # occurs once in the file
    new: str
    tests: tuple[str, ...]  # as pytest takes them: files, or file::test
    why: str  # what goes wrong for a user if nobody notices

    @property
    def title(self) -> str:
        return f"{self.area}: {self.name}"

    def mutated(self, tree: Path) -> str:
        """The text of the file after the change; raises Unusable where the list no longer fits the tree."""
        path = tree / self.file
        if not path.is_file():
            raise Unusable(f"there is no `{self.file}`")
        text = path.read_text(encoding="utf-8")
        found = text.count(self.old)
        if found != 1:
            raise Unusable(f"`{self.file}` has the old text {found} times, not once")
        if self.new == self.old:
            raise Unusable("the new text is the old one")
        for test in self.tests:
            if not (tree / test.split("::")[0]).exists():
                raise Unusable(f"there is no test `{test}`")
        broken = text.replace(self.old, self.new)
        try:
            ast.parse(broken)
        except SyntaxError as error:
            raise Unusable(f"the new text is no Python: {error}") from None
        return broken

    def touches_a_kernel(self, tree: Path) -> bool:
        """Whether compiled code may be made from the file, so that none may be left over from before."""
        path = Path(self.file)
        return "kernels" in path.with_suffix("").parts or "numba" in (tree / path).read_text(encoding="utf-8")


def read_lists(folder: Path) -> list[Mutation]:
    """The mutations of all lists in a folder, area by area."""
    found = [mutation for path in sorted(folder.glob("*.toml")) for mutation in _read(path)]
    titles = [mutation.title for mutation in found]
    for title in titles:
        if titles.count(title) > 1:
            raise Unusable(f"two mutations are called `{title}`")
    return found


def _read(path: Path) -> Iterator[Mutation]:
    wanted = {"name", "file", "old", "new", "tests", "why"}
    for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["mutation"], start=1):
        if set(entry) != wanted:
            odd = ", ".join(sorted(set(entry) ^ wanted))
            raise Unusable(f"`{path.name}`, mutation {number}: {odd} missing, or one too many")
        yield Mutation(area=path.stem, **entry | {"tests": tuple(entry["tests"])})
