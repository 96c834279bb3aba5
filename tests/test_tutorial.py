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
    assert plain(executed["theorem"]) == "TheoremReport(6 statements; holds: 6)"
    assert printed(executed["probabilities"]) == "['positive' 'negative' 'negative']\n"
    assert float(plain(executed["score"])) > 0.9
    assert plain(executed["saved"]) == "True"


def test_the_repr_of_a_large_object_is_one_short_line():
    many = hm.limit(np.vstack([hm.clouds.gaussian(300, 3), np.zeros((1, 3))]), hm.Dynamics(1))
    # A token on the diagonal ties all forty unit vectors, and ends in the middle of their face.
    wide = hm.limit(np.vstack([np.eye(40), np.full((1, 40), 0.01)]), hm.Dynamics(1))
    known, planted = Vocabulary(["word" + "a" * k for k in range(1000)], np.ones((1000, 2))), plant(300)
    things = [many.clusters, wide.clusters, hm.check_theorem(wide), known, planted]
    things += [hm.Ragged(np.ones((3000, 2)), [0, 1, 3000]), Corpus(planted.texts, planted.labels)]
    things += [encode(["word worda word"], known, Tokeniser())]
    for thing in things:
        assert repr(thing).startswith(f"{type(thing).__name__}(")
        assert len(repr(thing)) < 200
        assert "\n" not in repr(thing)
