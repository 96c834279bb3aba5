"""Mutation testing: do the tests notice an operator or a number that is wrong?

`make mutate N=300 SEED=1` draws mutants of cosmic-ray at random and runs the tests of their room on each, in a copy of
the tree. `mutants.toml` says which files, which tests, and which mutants are equivalent. Not drawn are these, those in
annotations and messages, and those that are type errors at once: bit operators for arithmetic, `is` for `<`.
"""

import argparse
import ast
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Any

Mutant = dict[str, Any]  # file, line (where the change begins), old and new (whole lines), operator
ROOT = Path(__file__).parents[1]
LISTS = tomllib.loads((ROOT / "tools/mutants.toml").read_text(encoding="utf-8"))
SECONDS = 300  # of processor time, for one mutant
_TYPE_ERRORS = re.compile(r"_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)_(.Shift|Bit.*)|_(Eq|NotEq|LtE?|GtE?)_Is(Not)?")


class _WithoutText(ast.NodeTransformer):
    """Leaves out what no result depends on: annotations, messages of errors, what notebooks show."""

    def visit(self, node: ast.AST) -> ast.AST:
        match node:
            case ast.arg():
                node.annotation = None
            case ast.AnnAssign():
                node.annotation = ast.Constant(None)
            case ast.FunctionDef():
                node.returns, node.body = None, [ast.Pass()] if "repr" in node.name else node.body
            case ast.Raise(exc=ast.Call() as error):
                error.args, error.keywords = [], []
            case ast.Call():
                node.keywords = [each for each in node.keywords if each.arg != "strict"]  # only ever an assertion
        return self.generic_visit(node)


def draw(seed: int) -> Iterator[Mutant]:
    """Mutants in random order, each as likely as any other."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    classes = {name: get_operator(name) for name in operator_names() if not _TYPE_ERRORS.search(name)}
    operators = {name: make() for name, make in classes.items() if not make.arguments()}
    chosen, left_out = ({file for glob in LISTS[key] for file in ROOT.glob(glob)} for key in ("files", "left_out"))
    sources, everything = {path: path.read_text(encoding="utf-8") for path in sorted(chosen - left_out)}, []
    for path, source in sources.items():
        nodes = list(ast_nodes(get_ast(source)))
        for name, operator in operators.items():
            places = sum(len(list(operator.mutation_positions(node))) for node in nodes)
            everything += [(path, name, place) for place in range(places)]
    random.Random(seed).shuffle(everything)
    for path, name, place in everything:
        texts = sources[path], mutate_code(sources[path], operators[name], place)
        with suppress(SyntaxError):
            if len({ast.dump(_WithoutText().visit(ast.parse(text))) for text in texts}) == 2:
                old, new = (text.splitlines() for text in texts)
                changes = [each for each in SequenceMatcher(None, old, new).get_opcodes() if each[0] != "equal"]
                (_, first, _, new_first, _), (_, _, last, _, new_last) = changes[0], changes[-1]
                mutant = {"file": path.relative_to(ROOT).as_posix(), "line": first + 1, "operator": name}
                mutant |= {"old": "\n".join(old[first:last]), "new": "\n".join(new[new_first:new_last])}
                if not is_equivalent(mutant):
                    yield mutant


def is_equivalent(mutant: Mutant) -> bool:
    """Whether it is listed, as `file: line` or, where not all mutants of a line are equivalent, `file: line => new`."""
    for row in (row for reason in LISTS["equivalent"].values() for row in reason.splitlines()):
        file, _, change = row.partition(": ")
        # Blanks and comments do not count.
        old, _, new = ("".join(part.split()) for part in change.partition("=>"))
        was, becomes = ("".join(mutant[key].split("#")[0].split()) for key in ("old", "new"))
        if mutant["file"].endswith(file) and old == was and new in ("", becomes):
            return True
    return False


def has_kernels(mutant: Mutant) -> bool:
    """Whether numba compiles functions of its file."""
    return "njit" in (ROOT / mutant["file"]).read_text(encoding="utf-8")


def tests_of(mutant: Mutant) -> list[str]:
    """The doctests of its file and the tests of the room that it is in, fast ones first."""
    rooms = [room for room in LISTS["tests"] if mutant["file"].startswith(f"src/hardmax/{room}")]
    return [mutant["file"], *LISTS["tests"][max(rooms, key=len)]]


def run_tests(tree: Path, tests: list[str], cold: bool = False) -> tuple[str, str]:
    """Run tests up to the first that fails: how it ended, and by which.

    If `cold`, kernels are compiled anew, with checked indices: one out of bounds often does no harm that shows.
    """
    limited = ["sh", "-c", f'ulimit -t {SECONDS}; exec "$@"', "sh"]  # the machine may be busy with other things
    command = [*limited, sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    with tempfile.TemporaryDirectory() as fresh, Path(fresh, "output").open("w+") as output:
        ours = {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1", "HARDMAX_MUTANT": "1"}
        compiling = {"NUMBA_CACHE_DIR": fresh, "NUMBA_BOUNDSCHECK": "1"} if cold else {}
        environment = os.environ | ours | {"OMP_NUM_THREADS": "1"} | compiling
        process = subprocess.Popen(command, cwd=tree, env=environment, stdout=output, stderr=output, process_group=0)
        with suppress(subprocess.TimeoutExpired):
            process.wait(4 * SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        output.seek(0)
        failed = re.search(r"^(?:FAILED|ERROR) (.+)", told := output.read(), flags=re.MULTILINE)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout", f"not done after {SECONDS} s"
    return ("survived", "") if code == 0 else ("killed", failed[1][:100] if failed else f"exit {code}: {told[-300:]}")


def try_out(tree: Path, mutant: Mutant) -> Mutant:
    """Change a copy of the sources, test it, and change it back."""
    path, began = tree / mutant["file"], time.monotonic()
    source, first, old = path.read_text(encoding="utf-8"), mutant["line"] - 1, mutant["old"].splitlines()
    lines = source.splitlines()
    if lines[first : first + len(old)] != old:
        return mutant | {"outcome": "stale", "by": "the source has changed since the draw", "seconds": 0}
    lines[first : first + len(old)] = mutant["new"].splitlines()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    outcome, by = run_tests(tree, tests_of(mutant), cold=has_kernels(mutant))
    path.write_text(source, encoding="utf-8")
    return mutant | {"outcome": outcome, "by": by, "seconds": round(time.monotonic() - began)}


def try_all(mutants: list[Mutant], jobs: int) -> Iterator[Mutant]:
    """Results as they come. First the tests run on the sources as they are, which also has numba compile kernels."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        trees, free = [Path(folder, str(number)) for number in range(jobs)], queue.SimpleQueue[Path]()
        for part in ("src", "tests", "examples", "pyproject.toml"):
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, trees[0] / part)
        rooms = {(*tests_of(each)[1:], has_kernels(each)) for each in mutants}
        for outcome, by in pool.map(
            lambda room: run_tests(trees[0], list(room[:-1]), room[-1]), sorted(rooms, key=str)
        ):
            if outcome != "survived":
                sys.exit(f"the tests must pass on the sources as they are: {by}")
        for tree in trees:
            free.put(tree if tree.exists() else shutil.copytree(trees[0], tree))

        def attempt(mutant: Mutant) -> Mutant:
            tree = free.get()
            try:
                return try_out(tree, mutant)
            finally:
                free.put(tree)

        yield from (future.result() for future in as_completed([pool.submit(attempt, each) for each in mutants]))


def main() -> None:
    """Draw mutants or read them, try those that have no result yet, and say which survive."""
    parser = argparse.ArgumentParser(description="Change the source at random places; do the tests notice?")
    parser.add_argument("--count", type=int, default=300, help="how many to draw (300)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once (one for each core)")
    parser.add_argument("--mutants", type=Path, help="JSON lines; drawn, unless the file exists (mutants-SEED.jsonl)")
    parser.add_argument(
        "--draw-only", action="store_true", help="try nothing: another machine will, without cosmic-ray"
    )
    options = parser.parse_args()
    path: Path = options.mutants or Path(f"mutants-{options.seed}.jsonl")
    if not path.exists():
        path.write_text("".join(json.dumps(each) + "\n" for each in islice(draw(options.seed), options.count)))
    results = path.with_suffix(".results.jsonl")
    results.touch()
    mutants, found = ([json.loads(line) for line in file.read_text().splitlines()] for file in (path, results))
    tried = {(each["file"], each["line"], each["new"]) for each in found}
    left = [each for each in mutants if (each["file"], each["line"], each["new"]) not in tried]
    for each in try_all(left, options.jobs) if left and not options.draw_only else ():
        found.append(each)
        with results.open("a") as file:
            file.write(json.dumps(each) + "\n")
        print(f"{len(found)}/{len(mutants)} {told(each)}", flush=True)
    counted = [each for each in found if not is_equivalent(each)]
    outcomes = Counter(each["outcome"] for each in counted)
    print("", *(told(each) for each in counted if each["outcome"] not in ("killed", "timeout")), sep="\n")
    killed, total = outcomes["killed"] + outcomes["timeout"], len(counted)
    print(f"{killed} of {total} killed ({killed / max(total, 1):.1%}), {outcomes['timeout']} of them by the clock.")


def told(mutant: Mutant) -> str:
    """A mutant and what became of it."""
    place = f"{mutant['outcome']} after {mutant['seconds']} s: {mutant['file']}:{mutant['line']} {mutant['by']}"
    return f"{place}\n  - {mutant['old'].strip()}\n  + {mutant['new'].strip()}"


if __name__ == "__main__":
    main()
