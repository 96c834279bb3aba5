"""What is not installed is named before the work, by the extra that brings it."""

# pyright: reportArgumentType=false, reportCallIssue=false
import importlib
import sys
from pathlib import Path

import pytest
from door.calls import HALF, SQUARE

import hardmax as hm
from hardmax import _validation as errors
from hardmax._validation import MissingExtra
from hardmax.cli import options
from hardmax.cli.commands.evaluate import evaluate_command
from hardmax.cli.commands.limit import limit_command


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch):
    """Makes a module impossible to import, and whatever of ours imported it forgotten."""

    def hide(module: str, ours: str = "") -> None:
        for name in [name for name in sys.modules if ours and name.startswith(ours)]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, module, None)

    return hide


def test_a_picture_of_a_limit_is_refused_before_the_limit_is_found(without, tmp_path: Path):
    without("matplotlib")
    proof = tmp_path / "proof.json"
    with pytest.raises(MissingExtra, match=r"`--picture` needs the extra `figures`: pip install 'hardmax\[figures\]'"):
        # The file is not there: it is never asked for.
        limit_command(str(tmp_path / "none.csv"), "1/2", certificate=str(proof), picture=str(tmp_path / "limit.png"))
    assert not proof.exists()


@pytest.mark.parametrize("option", ["picture", "embedding"])
def test_pictures_of_a_model_are_refused_before_it_is_read(option: str, without, tmp_path: Path):
    without("matplotlib")
    with pytest.raises(MissingExtra, match=f"`--{option}` needs the extra `figures`"):
        evaluate_command(str(tmp_path / "none"), "none.csv", **{option: str(tmp_path / "picture.svg")})


def test_the_gpu_is_asked_for_before_a_file_is_read(without):
    without("triton")
    with pytest.raises(MissingExtra, match="needs the extra `gpu`"):
        options.WalkOptions(gpu=True).engine()


FIGURES = {path.stem for path in Path(hm.__file__).parent.glob("figures/[!_]*.py")}
WITHOUT_MATPLOTLIB = {"asked", "cards", "flat", "free_places", "markup", "palette", "sketches", "svg"}
WITHOUT_MATPLOTLIB |= {"text_scene", "text_svg"}


@pytest.mark.parametrize("module", sorted(FIGURES - WITHOUT_MATPLOTLIB))
def test_every_file_of_figures_names_the_extra(module: str, without):
    without("matplotlib", "hardmax.figures")
    with pytest.raises(MissingExtra, match="Drawing needs the extra `figures`"):
        importlib.import_module(f"hardmax.figures.{module}")


@pytest.mark.parametrize("module", sorted(WITHOUT_MATPLOTLIB))
def test_cards_need_no_matplotlib(module: str, without):
    without("matplotlib", "hardmax.figures")
    importlib.import_module(f"hardmax.figures.{module}")


@pytest.mark.parametrize(("method", "module"), [("to_arrow", "pyarrow"), ("to_pandas", "pandas")])
def test_tables_of_a_run_name_the_extra(method: str, module: str, without):
    run = hm.simulate(SQUARE, HALF, layers=1)
    without(module)
    with pytest.raises(MissingExtra, match=f"`{method}` needs the extra `tables`"):
        getattr(run, method)()


def test_a_model_of_the_hub_names_the_extra(without):
    without("huggingface_hub")
    with pytest.raises(MissingExtra, match="needs the extra `hub`"):
        hm.load.__globals__["TextModel"].from_pretrained("owner/name", download=True)


def test_only_the_modules_that_are_needed_are_asked_for(without):
    without("pandas")
    errors.require_extra("Half of it", "tables", "json")
    with pytest.raises(MissingExtra, match="All of it needs the extra `tables`"):
        errors.require_extra("All of it", "tables", "json", "pandas")
