"""The house in numbers: `python tools/census.py [FOLDER]`, for a table of before and after.

Files, lines, functions that take too much or go on for too long, circles of imports, public names.
"""

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

MOST_PARAMETERS, MOST_LINES = 8, 60
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> None:
    """Print the census of a source tree."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "src" / "hardmax")
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.py"))}
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in trees]
    print(f"files {len(lines)}, median lines {statistics.median(lines):.0f}, most {max(lines)}")
    functions = [(path, node) for path, tree in trees.items() for node in functions_in(tree)]
    crowded = [(path, node) for path, node in functions if parameters(node) > MOST_PARAMETERS]
    triton = [each for each in crowded if is_triton(each[1])]
    show(f"functions with more than {MOST_PARAMETERS} parameters, in triton", triton, parameters)
    show("elsewhere", [each for each in crowded if each not in triton], parameters)
    show(f"functions over {MOST_LINES} lines", [each for each in functions if length(each[1]) > MOST_LINES], length)


def functions_in(tree: ast.AST) -> Iterator[Function]:
    """All of them, methods and inner ones too."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def parameters(node: Function) -> int:
    """How many there are, `self` and `cls` aside."""
    given = node.args
    named = [*given.posonlyargs, *given.args]
    own = bool(named and named[0].arg in ("self", "cls"))
    return len(named) + len(given.kwonlyargs) + bool(given.vararg) + bool(given.kwarg) - own


def length(node: Function) -> int:
    """Its lines, docstring and all."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def is_triton(node: Function) -> bool:
    """Whether it is compiled for a GPU, where groups of arguments are unknown."""
    return any("triton" in ast.unparse(each) or ast.unparse(each) == "jit" for each in node.decorator_list)


def show(title: str, found: list[tuple[Path, Function]], measure) -> None:
    """How many, and which, the largest first."""
    print(f"{title}: {len(found)}")
    for path, node in sorted(found, key=lambda each: -measure(each[1])):
        print(f"  {measure(node):3} {path.name}:{node.lineno} {node.name}")


if __name__ == "__main__":
    main()
