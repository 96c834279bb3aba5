"""The tutorial runs from top to bottom, without complaints, and its numbers are those that follow by hand."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hardmax as hm
from hardmax.text import Corpus, Tokeniser, Vocabulary, encode, plant
from hardmax.train import Recipe

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"
NEEDS = ("matplotlib", "pandas", "sklearn", "torch", "nbformat", "nbclient", "ipykernel")
EXPECTED = ("hardmax: compiling kernels", "the theorem does not apply to the metric")  # on stderr


@pytest.fixture
def executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The code cells with their outputs, run in an empty folder by this very interpreter."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    import nbformat
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class ThisInterpreter(AsyncKernelManager):
        """A kernel of `sys.executable`, whatever else is called python3 on this machine."""

        @property
        def kernel_spec(self) -> KernelSpec:
            return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"])

    # What is tested here is what the kernel imports; and no settings of the user's own come in.
    source = str(Path(hm.__file__ or "").parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")])))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    folder = tmp_path / "work"
    folder.mkdir()
    notebook = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    assert not any(cell.outputs for cell in cells.values())  # committed without them
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, kernel_manager_class=ThisInterpreter, resources=resources, timeout=600).execute()
    return cells


def printed(cell: Any, name: str = "stdout") -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == name)


def plain(cell: Any) -> str:
    """The `repr` of the last expression."""
    (result,) = (output for output in cell.outputs if output.output_type == "execute_result")
    return result.data["text/plain"]


@pytest.mark.slow
def test_the_tutorial_runs_and_shows_what_follows_by_hand(executed: dict[str, Any]):
    complaints = {name: printed(cell, "stderr") for name, cell in executed.items()}
    assert not {name: text for name, text in complaints.items() if text and not any(some in text for some in EXPECTED)}
    assert plain(executed["attended"]) == "AttendedSets([[0], [1], [2], [3], [0, 3], [1, 2], …])"
    assert plain(executed["step"]).endswith("array([0.66666667, 0.        ]))")  # 1/2 and a third of the way to 1
    assert printed(executed["leaders"]) == "leaders [0 1 2 3] · settled at layer 0 · token 4 attends to [0 3]\n"
    assert plain(executed["polytope"]) == "Polytope(dimension 2 in R^2, f-vector (4, 4))"
    assert plain(executed["verdict"]).startswith("Verdict(accepted=True, ")
    assert plain(executed["forged"]).startswith("Verdict(accepted=False, ")
    assert plain(executed["turned"]) == "array([Fraction(3, 5), Fraction(4, 5)], dtype=object)"
    assert "the metric is not symmetric positive definite" in printed(executed["skew"])
    assert plain(executed["theorem"]) == "TheoremReport(11 statements; holds: 11)"
    assert printed(executed["probabilities"]) == "['positive' 'negative' 'negative']\n"
    assert float(plain(executed["score"])) > 0.9
    assert plain(executed["saved"]) == "True"


def check_everything_is_shown(cells: dict[str, Any]) -> None:
    last = [output.data for output in outputs(cells, "execute_result")]
    shown = {data["text/plain"].partition("(")[0] for data in last}
    # An explanation's `repr` is the account itself; its HTML says whose it is.
    shown |= {"Explanation" for data in last if 'class="hardmax"' in data.get("text/html", "")}
    assert shown >= SHOWN, SHOWN - shown
    cards = {name for data in last for name in re.findall(r"<strong>(\w+)</strong>", data.get("text/html", ""))}
    expected = {"Dynamics", "Trajectory", "Trajectories", "Limit", "Limits", "TextModel", "TheoremReport"}
    assert cards >= expected, expected - cards
    assert not any(" object at 0x" in data["text/plain"] for data in last if "image/gif" not in data)
    assert len([output for output in outputs(cells, "display_data") if "image/png" in output.data]) == 2


def check_dynamics(cells: dict[str, Any]) -> None:
    """The numbers follow from the square by hand."""
    assert plain(cells["attended"]) == "AttendedSets([[0], [1], [2], [3], [0, 3], [1, 2], …])"
    assert plain(cells["step"]).endswith("array([0.66666667, 0.        ]))")  # 1/2 and a third of the way to 1
    assert printed(cells["leaders"]) == "leaders [0 1 2 3] · settled at layer 0 · token 4 attends to [0 3]\n"
    assert plain(cells["leaders"]).startswith("(31, (31, 10, 2), ")
    assert "leader=3" in plain(cells["kinds"])
    assert "vertices=(0, 3)" in plain(cells["kinds"])
    assert plain(cells["polytope"]) == "Polytope(dimension 2 in R^2, f-vector (4, 4))"
    assert plain(cells["verdict"]).startswith("Verdict(accepted=True, ")
    assert plain(cells["forged"]).startswith("Verdict(accepted=False, ")
    assert "sha256" not in plain(cells["forged"])  # refused for what it says
    assert printed(cells["turned"]).splitlines()[-1] == "layer 200   floats [1.4 0.2]   exact [0.6 0.8]"
    assert plain(cells["turned"]) == "array([Fraction(3, 5), Fraction(4, 5)], dtype=object)"
    assert plain(cells["margins"]).startswith("('certified', ")
    assert "the metric is not symmetric positive definite" in printed(cells["skew"])
    assert plain(cells["theorem"]) == "TheoremReport(11 statements; holds: 11)"
    assert plain(cells["pickle"]) == "[[0, 1, 2, 3], [0, 1, 2], [0, 1, 2, 3, 4, 5, 6]]"


def check_texts(cells: dict[str, Any]) -> None:
    assert printed(cells["probabilities"]) == "['positive' 'negative' 'negative']\n"
    assert "awful" in plain(cells["explanation"])
    planted, leading = (set(line.split()[1:]) for line in printed(cells["score"]).splitlines())
    assert len(planted) == 12
    assert leading <= planted
    assert float(plain(cells["score"])) > 0.9
    assert plain(cells["saved"]) == "True"


def test_the_tutorial_runs_and_shows_what_it_says(executed: dict[str, Any]):
    check_nothing_is_complained_of(executed)
    check_everything_is_shown(executed)
    check_dynamics(executed)
    check_texts(executed)


def test_the_tutorial_is_committed_without_what_it_puts_out():
    notebook = read()
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    cells = code_cells(notebook)
    assert {name for name, cell in cells.items() if cell.outputs or cell.execution_count is not None} == set()
    assert NOTEBOOK.read_text(encoding="utf-8") == nbformat.writes(notebook) + "\n"


def test_every_public_class_is_shown_or_left_out_on_purpose():
    assert public_classes(hm) | public_classes(text) <= SHOWN | NOT_SHOWN


def large_objects() -> list[tuple[Any, str]]:
    """Objects that hold much, and what their `repr` tells of it."""
    sphere = hm.clouds.gaussian(300, 3) / np.linalg.norm(hm.clouds.gaussian(300, 3), axis=1, keepdims=True)
    many = hm.limit(np.vstack([sphere, np.zeros((1, 3))]), hm.Dynamics(1))
    # A token on the diagonal ties all forty unit vectors, and ends in the middle of their face.
    wide = hm.limit(np.vstack([np.eye(40), np.full((1, 40), 0.01)]), hm.Dynamics(1))
    surfaces = ["word" + "a" * number for number in range(1000)]
    known, planted = Vocabulary(surfaces, np.ones((1000, 2))), plant(300, classes=tuple("abcdefgh"))
    return [
        (many.clusters, f"{len(many.clusters)} clusters of 301 tokens; vertex 0: "),
        (wide.clusters, "41 clusters of 41 tokens; vertex 0: 1; "),
        (Clusters(np.zeros(1, dtype=int), np.zeros((1, 40)), (wide.kind[40],)), "; face 0, 1, 2, 3, 4, 5,…: 1)"),
        (hm.check_theorem(wide), "TheoremReport(11 statements; holds: 11)"),
        (hm.Ragged(np.ones((3000, 2)), [0, 1, 3000]), "Ragged(2 clouds, 3,000 tokens in 2 dimensions)"),
        (hm.Ragged([[1.0]], [0, 1], [7]), "Ragged(1 cloud, 1 token in 1 dimension, with multiplicities)"),
        (known, "Vocabulary(1,000 tokens: 'word', 'worda', 'wordaa', …)"),
        (Vocabulary(["good", "bad"], [[1], [2]]), "Vocabulary(2 tokens: 'good', 'bad')"),
        (planted, "Planted(300 texts, classes a, b, c, d, …)"),
        (Corpus(planted.texts, planted.labels), "Corpus(300 texts, 0 rows left out)"),
        (encode(["word worda word"], known, Tokeniser()), "Encoded(1 text, 3 known tokens)"),
        (Recipe(epochs=5), "Recipe(layers=8, alpha=1.0, epochs=5)"),
    ]


def test_what_holds_much_tells_of_itself_in_one_line():
    for thing, told in large_objects():
        shown = repr(thing)
        assert told in shown
        assert len(shown) < 200
        assert "\n" not in shown


def test_a_recipe_is_what_its_repr_says():
    for recipe in (Recipe(), Recipe(dimension=3, seed=7, init="odds"), Recipe(extra=True, patience=2, layers=1)):
        assert eval(repr(recipe)) == recipe
