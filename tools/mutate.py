"""Mutation testing: do the tests notice an operator or a number that is wrong?

`make mutate N=300 SEED=1` draws mutants of cosmic-ray at random from all of `src` and runs the
tests of their room on each, in a copy of the tree. Not drawn are those in annotations and messages,
and those that are type errors at once: bit operators for arithmetic, `is` for `<`.

`mutants.toml` has three parts:

- `files` and `left_out`, globs of the files from which mutants are drawn; and `looks`, arguments in
  `figures` that change how something looks, and not what it shows: they are not drawn either.
- `[tests]`: `"room" = [test files or folders]`, where a room is the beginning of a path in
  `src/hardmax`. The longest that fits counts. First come the doctests of the file itself, then
  these in their order, up to the first failure: those nearest to the file go first. At last come
  those that look at all of `src`, `everywhere`.
- `[equivalent]`: `"reason" = rows`, a row `file: statement` if no mutant of that statement can be
  told from the source, or `file: statement => what it becomes`. Statements are written as
  `ast.unparse` does, on one line; of a compound one only its header counts. Reports print them so,
  and `--outdated` prints the rows whose statement is gone.

Mutants and results are JSON lines, `mutants-SEED.jsonl` and `mutants-SEED.results.jsonl`: a run
that was interrupted goes on where it was."""

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

Mutant = dict[str, Any]  # file, line (where the change begins), old and new (whole lines), operator
ROOT = Path(__file__).parents[1]
LISTS = tomllib.loads((ROOT / "tools/mutants.toml").read_text(encoding="utf-8"))
SECONDS = 300  # of processor time, for one mutant
NEEDED = ("src", "tests", "examples", "docs", "README.md", "pyproject.toml")
_TYPE_ERRORS = re.compile(
    r"_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)_(.Shift|Bit.*)|_(Eq|NotEq|LtE?|GtE?)_Is(Not)?"
)


class _WithoutText(ast.NodeTransformer):
    """Leaves out what no result depends on: annotations, messages of errors, what notebooks show,
    looks."""

    def __init__(self, looks: Collection[str]) -> None:
        self.looks = {"strict", "frozen", *looks}  # the first two are only ever assertions

    def visit(self, node: ast.AST) -> ast.AST:
        match node:
            case ast.arg():
                node.annotation = None
            case ast.AnnAssign():
                node.annotation = ast.Constant(None)
            case ast.FunctionDef(decorator_list=[ast.Name(id="overload")]):
                return ast.Pass()
            case ast.FunctionDef():
                node.returns, node.body = None, [ast.Pass()] if "repr" in node.name else node.body
            case ast.Raise(exc=ast.Call() as error):
                error.args, error.keywords = [], []
            case ast.Call():
                node.keywords = [
                    keyword for keyword in node.keywords if keyword.arg not in self.looks
                ]
            case ast.Dict():
                named = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
                kept = [place for place, name in enumerate(named) if name not in self.looks]
                node.keys = [node.keys[place] for place in kept]
                node.values = [node.values[place] for place in kept]
        return self.generic_visit(node)


def draw(seed: int) -> Iterator[Mutant]:
    """Mutants in random order, each as likely as any other."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    classes = {
        name: get_operator(name) for name in operator_names() if not _TYPE_ERRORS.search(name)
    }
    operators = {name: make() for name, make in classes.items() if not make.arguments()}
    chosen, left_out = (
        {file for glob in LISTS[key] for file in ROOT.glob(glob)} for key in ("files", "left_out")
    )
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(chosen - left_out)}
    everything = []
    for path, source in sources.items():
        nodes = list(ast_nodes(get_ast(source)))
        for name, operator in operators.items():
            places = sum(len(list(operator.mutation_positions(node))) for node in nodes)
            everything += [(path, name, place) for place in range(places)]
    random.Random(seed).shuffle(everything)
    for path, name, place in everything:
        changed = mutate_code(sources[path], operators[name], place)
        mutant = describe(path, sources[path], changed)
        if mutant is not None and not is_equivalent(mutant):
            yield mutant | {"operator": name}


def describe(path: Path, source: str, changed: str) -> Mutant | None:
    """What a mutant changes; None if that is no Python, or nothing that counts."""
    what_counts = _WithoutText(LISTS["looks"] if path.parent.name == "figures" else ())
    try:
        trees = [what_counts.visit(ast.parse(text)) for text in (source, changed)]
    except SyntaxError:
        return None
    if ast.dump(trees[0]) == ast.dump(trees[1]):
        return None
    old, new = source.splitlines(), changed.splitlines()
    steps = SequenceMatcher(None, old, new).get_opcodes()
    changes = [step for step in steps if step[0] != "equal"]
    (_, first, _, new_first, _), (_, _, last, _, new_last) = changes[0], changes[-1]
    begin, statement = statement_at(source, first + 1)
    return {
        "file": path.relative_to(ROOT).as_posix(),
        "line": first + 1,
        "old": "\n".join(old[first:last]),
        "new": "\n".join(new[new_first:new_last]),
        "statement": statement,
        "becomes": statement_at(changed, begin)[1],
    }


def header(node: ast.AST) -> str:
    """A statement on one line, however it was formatted; of a compound one what is above its
    body."""
    blocks: dict[str, list[Any]] = {}
    for name in ("body", "orelse", "finalbody", "handlers"):
        if isinstance(block := getattr(node, name, None), list):
            blocks[name] = [ast.Pass()] if name == "body" and block else []
    if isinstance(node, ast.Try):
        blocks["finalbody"] = [ast.Pass()]  # a `try` alone cannot be written
    if isinstance(node, ast.Match):
        cases = [ast.match_case(case.pattern, case.guard, [ast.Pass()]) for case in node.cases]
        blocks["cases"] = cases
    fields = {name: getattr(node, name, None) for name in node._fields}
    bare = type(node)(**fields | blocks)
    return " ".join(ast.unparse(ast.fix_missing_locations(bare)).split())


@cache
def statements_in(source: str) -> list[tuple[int, int, str]]:
    """First line, last line and header of every statement; those inside others come later."""
    nodes = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt | ast.ExceptHandler)
    ]
    found = []
    for node in nodes:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        found.append((first, node.end_lineno or first, header(node)))
    return found


def statement_at(source: str, line: int) -> tuple[int, str]:
    """The innermost statement at a line: where it begins, and its header."""
    around = [row for row in statements_in(source) if row[0] <= line <= row[1]]
    first, _, text = around[-1] if around else (line, 0, "")
    return first, text


def listed() -> Iterator[tuple[str, str, str]]:
    """File, statement and what it becomes ("" for anything) of each row of `[equivalent]`."""
    for rows in LISTS["equivalent"].values():
        for row in rows.splitlines():
            file, _, change = row.partition(": ")
            old, _, new = change.partition(" => ")
            yield file, old, new


def is_equivalent(mutant: Mutant) -> bool:
    """Whether it is listed."""
    return any(
        mutant["file"] == f"src/hardmax/{file}"
        and mutant["statement"] == old
        and new in ("", mutant["becomes"])
        for file, old, new in listed()
    )


def outdated() -> list[str]:
    """Rows of `[equivalent]` whose statement is no longer in its file."""
    gone = []
    for file, old, new in listed():
        path = ROOT / "src/hardmax" / file
        statements = statements_in(path.read_text(encoding="utf-8")) if path.exists() else []
        if old not in {text for _, _, text in statements}:
            gone.append(f"{file}: {old}" + f" => {new}" * bool(new))
    return gone


@cache
def kernels() -> frozenset[str]:
    """Files that are compiled into kernels."""
    sys.path.insert(0, str(ROOT / "src"))
    from hardmax._kernels.cache import kernel_sources

    return frozenset(f"src/hardmax/{path}" for path in kernel_sources())


def is_compiled(mutant: Mutant) -> bool:
    """Whether numba may compile the line: of a file of kernels, or a constant that they import."""
    if mutant["file"] not in kernels():
        return False
    is_constant = re.match(r"_?[A-Z]", mutant["old"])
    return is_constant is not None or "njit" in (ROOT / mutant["file"]).read_text(encoding="utf-8")


def tests_of(mutant: Mutant) -> list[str]:
    """The files of tests of the room that it is in, those nearest to the file first."""
    rooms = [room for room in LISTS["tests"] if mutant["file"].startswith(f"src/hardmax/{room}")]
    return files_in([*LISTS["tests"][max(rooms, key=len)], *LISTS["everywhere"]])


def files_in(tests: list[str]) -> list[str]:
    """Files of tests, also those in folders, each once."""
    files = [
        path.relative_to(ROOT).as_posix()
        for test in tests
        for path in (sorted((ROOT / test).rglob("test_*.py")) or [ROOT / test])
    ]
    return list(dict.fromkeys(files))


def pytest_configure() -> None:
    """As a plugin of pytest: signals are as in a terminal, and kernels valid that were not
    changed."""
    for number in (signal.SIGINT, signal.SIGHUP):  # which nohup and & have processes ignore
        signal.signal(number, signal.default_int_handler)
    if "NUMBA_BOUNDSCHECK" not in os.environ:
        from hardmax._kernels import cache

        cache.PACKAGE = Path(os.environ["HARDMAX_MUTANT"], "src/hardmax")


def run_tests(
    pristine: Path, tree: Path, tests: list[str], *options: str, compiled: bool = False
) -> tuple[str, list[str]]:
    """Run tests: how it ended, and which failed.

    If what changed is `compiled`, kernels are compiled anew, with checked indices: one out of
    bounds often does no harm that shows."""
    # Processor time: the machine may be busy with other things.
    limited = ["sh", "-c", f'ulimit -t {SECONDS}; exec "$@"', "sh"]
    # Those of `make check` too, and the doctests of what changed.
    chosen = ["-m", "not slow and not docs", "--doctest-modules"]
    quiet = ["-q", "-p", "no:cacheprovider"]
    command = [*limited, sys.executable, "-m", "pytest", *quiet, *chosen, *options, *tests]
    with tempfile.TemporaryDirectory() as fresh, Path(fresh, "output").open("w+") as output:
        paths = [str(tree / "src"), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
        ours = {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTEST_PLUGINS": "mutate",
            "HARDMAX_MUTANT": str(pristine),
        }
        ours |= {"NUMBA_CACHE_DIR": fresh, "NUMBA_BOUNDSCHECK": "1"} if compiled else {}
        ours |= {"OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            command, cwd=tree, env=os.environ | ours, stdout=output, stderr=output, process_group=0
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(4 * SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        output.seek(0)
        output_text = output.read()
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output_text, flags=re.MULTILINE)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout", [f"not done after {SECONDS} s"]
    if code in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        return "survived", []
    return "killed", failed or [f"exit {code}: {output_text[-300:]}"]


def try_out(pristine: Path, mutant: Mutant, options: list[str]) -> Mutant:
    """Change a copy of the sources and test it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=pristine.parent) as folder:
        tree = Path(shutil.copytree(pristine, Path(folder, "tree"), symlinks=True))
        path, first, old = tree / mutant["file"], mutant["line"] - 1, mutant["old"].splitlines()
        lines = path.read_text(encoding="utf-8").splitlines()
        if lines[first : first + len(old)] != old:
            why = "the source has changed since the draw"
            return mutant | {"outcome": "stale", "by": why, "seconds": 0}
        lines[first : first + len(old)] = mutant["new"].splitlines()
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        tests = [mutant["file"], *tests_of(mutant)]
        compiled = is_compiled(mutant)
        outcome, failed = run_tests(pristine, tree, tests, "-x", *options, compiled=compiled)
    by = failed[0][:100] if failed else ""
    return mutant | {"outcome": outcome, "by": by, "seconds": round(time.monotonic() - began)}


def try_all(
    mutants: list[Mutant], jobs: int, kept: Path | None, *, anyway: bool
) -> Iterator[Mutant]:
    """Results as they come. First the tests run on the sources as they are: numba compiles
    kernels. They are not run again on a copy that was `kept`."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        pristine = (kept or Path(folder)).absolute() / "pristine"
        failing = pristine.with_name("failing.txt")
        if not failing.exists():
            copy_sources(pristine)
            failed = run_pristine(pristine, mutants, pool)
            print("These fail on the sources as they are:" * bool(failed), *failed, sep="\n")
            if failed and not anyway:
                sys.exit(1)
            failing.write_text("\n".join(failed))
        options = [
            f"--deselect={test}" if "::" in test else f"--ignore={test}"
            for test in failing.read_text().splitlines()
        ]
        tried = [pool.submit(try_out, pristine, mutant, options) for mutant in mutants]
        yield from (future.result() for future in as_completed(tried))


def copy_sources(folder: Path) -> None:
    """What the tests need."""
    shutil.rmtree(folder, ignore_errors=True)
    without = shutil.ignore_patterns("node_modules")
    for part in NEEDED:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=without)
        else:
            shutil.copy(ROOT / part, folder / part)


def run_pristine(folder: Path, mutants: list[Mutant], pool: ThreadPoolExecutor) -> list[str]:
    """Run the tests of all mutants on the sources as they are; which failed."""
    needed = sorted({test for mutant in mutants for test in tests_of(mutant)})
    results = pool.map(lambda test: run_tests(folder, folder, [test]), needed)
    return [test for _, failed in results for test in failed]


def main() -> None:
    """Draw mutants or read them, try those that have no result yet, and say which survive."""
    parser = argparse.ArgumentParser(
        description="Change the source at random places; do the tests notice?"
    )
    parser.add_argument("--count", type=int, default=300, help="how many to draw (300)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (0)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="how many at once (one for each core)"
    )
    parser.add_argument(
        "--mutants",
        type=Path,
        help="JSON lines; drawn, unless the file exists (mutants-SEED.jsonl)",
    )
    parser.add_argument(
        "--keep", type=Path, help="where the sources are kept with their kernels, for the next call"
    )
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="leave out tests that fail on the sources as they are",
    )
    parser.add_argument(
        "--draw-only",
        action="store_true",
        help="try nothing: another machine will, without cosmic-ray",
    )
    parser.add_argument(
        "--outdated", action="store_true", help="only print listed rows whose statement is gone"
    )
    options = parser.parse_args()
    if options.outdated:
        print(*outdated(), sep="\n")
        return
    path: Path = options.mutants or Path(f"mutants-{options.seed}.jsonl")
    if not path.exists():
        drawn = islice(draw(options.seed), options.count)
        path.write_text("".join(json.dumps(mutant) + "\n" for mutant in drawn))
    results_path = path.with_suffix(".results.jsonl")
    results_path.touch()
    mutants, results = (
        [json.loads(line) for line in file.read_text().splitlines()]
        for file in (path, results_path)
    )
    tried = {(result["file"], result["line"], result["new"]) for result in results}
    left = [m for m in mutants if (m["file"], m["line"], m["new"]) not in tried]
    if options.draw_only:
        left = []
    for result in try_all(left, options.jobs, options.keep, anyway=options.anyway) if left else ():
        results.append(result)
        with results_path.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(f"{len(results)}/{len(mutants)} {told(result)}", flush=True)
    counted = [result for result in results if not is_equivalent(result)]
    survivors = [r for r in counted if r["outcome"] not in ("killed", "timeout")]
    print("", *map(told, survivors), sep="\n")
    slow = sum(result["outcome"] == "timeout" for result in counted)
    killed, total = len(counted) - len(survivors), len(counted)
    print(
        f"{killed} of {total} killed ({killed / max(total, 1):.1%}), {slow} of them by the clock."
    )


def told(mutant: Mutant) -> str:
    """A mutant and what became of it."""
    place = f"{mutant['file']}:{mutant['line']}"
    outcome = f"{mutant['outcome']} after {mutant['seconds']} s: {place} {mutant['by']}"
    return f"{outcome}\n  - {mutant['statement']}\n  + {mutant['becomes']}"


if __name__ == "__main__":
    main()
