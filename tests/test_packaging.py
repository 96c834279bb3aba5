"""The package as git and pip see it: no data are committed, and dependencies are those that are
imported."""

import ast
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hardmax

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Where what is installed is not called as it is imported.
MODULES = {
    "python-flint": "flint",
    "scikit-learn": "sklearn",
    "huggingface-hub": "huggingface_hub",
}
DATA = re.compile(
    r"\.(parquet|arrow|feather|npy|npz|pth?|pkl|pickle|safetensors|gz|zip)$", re.IGNORECASE
)
SHIPPED = ("src/hardmax/models/", "src/hardmax/train/english.npz", "tests/samples/")
LARGEST = 1_500_000  # bytes


def imported() -> set[str]:
    """The packages that are imported anywhere in ours, besides the standard library."""
    found: set[str] = set()
    for path in Path(hardmax.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            if isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    return found - {*sys.stdlib_module_names, "hardmax", "mpl_toolkits", ""}


def names(requirements: list[str]) -> list[str]:
    """The names of what is required, without versions and conditions."""
    return [re.split(r"[\[<>=; ]", requirement)[0] for requirement in requirements]


def files_with(words: str) -> list[str]:
    """The files at the root of the project, and a few below it, that have these words."""
    folders = [ROOT, *map(ROOT.joinpath, ("conda", "docs", "src/hardmax/text"))]
    files = [path for folder in folders for path in folder.iterdir() if path.is_file()]
    files = [path for path in files if path.name not in ("RELEASING.md", ".git")]
    having = [path for path in files if words in path.read_text(encoding="utf-8", errors="replace")]
    return sorted(path.relative_to(ROOT).as_posix() for path in having)


def test_dependencies_and_extras_are_what_is_imported():
    needed = names(PROJECT["dependencies"])
    for name, requirements in PROJECT["optional-dependencies"].items():
        if name != "all":
            needed += names(requirements)
    assert {MODULES.get(name, name) for name in needed} == imported()


def test_all_is_every_extra():
    extras = PROJECT["optional-dependencies"]
    (listed,) = extras["all"]
    assert listed == f"hardmax[{','.join(name for name in extras if name != 'all')}]"


def test_no_dependency_has_an_upper_bound():
    extras = PROJECT["optional-dependencies"].values()
    wanted = [*PROJECT["dependencies"], *(one for extra in extras for one in extra)]
    bounded = [one for one in wanted if re.search("<|~=|(?<!sys_platform )==", one)]
    assert bounded == []
    assert len(PROJECT["dependencies"]) <= 7


def test_the_citation_agrees_with_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {hardmax.__version__}\n" in citation
    for author in PROJECT["authors"]:
        assert author["name"] in citation
    assert PROJECT["urls"]["Repository"] in citation


def test_every_file_that_has_the_version_has_the_same():
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    citing = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert zenodo["version"] == hardmax.__version__
    assert f'\n  version: "{hardmax.__version__}"\n' in recipe
    assert f"version = {{{hardmax.__version__}}}" in citing


def test_the_conda_recipe_requires_what_the_package_requires():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("\n  run:\n")[2].partition("\n\n")[0]
    required = {line.strip(" -").replace(" ", "") for line in run.splitlines()}
    assert required == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}


def test_the_notice_names_the_sources_of_every_shipped_model():
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    for model in (ROOT / "src" / "hardmax" / "models").iterdir():
        sources = json.loads((model / "metrics.json").read_text(encoding="utf-8"))["sources"]
        assert model.name in notice
        for source in sources:
            named = re.findall(r"[A-Z]\w{2,}(?= (?:et al|and|reviews|\d{4}))", source["what"])
            assert named
            assert named == [name for name in named if name in notice]
            assert source["rights"] in ("unknown", "CC BY 4.0", "MIT", "Apache 2.0")


def test_what_a_person_fills_in_is_listed_in_one_place():
    listed = (ROOT / "RELEASING.md").read_text(encoding="utf-8")
    steps = re.split(r"^\d+\. ", listed, flags=re.M)
    for placeholder, step in (("The hardmax authors", steps[1]), ("OWNER", steps[2])):
        files = files_with(placeholder)
        assert len(files) > 2
        assert [name for name in files if f"`{name}`" not in step] == []


def test_links_of_the_readme_lead_to_files():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!\w+:)([^)#]+)", readme)
    assert len(targets) > 15
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_readme_of_the_package_index_has_absolute_links():
    pytest.importorskip("hatchling", reason="needs hatchling, of the group test")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    text = "![A](a.png) [b\nc](docs/c.md#d) [e](https://e.org) [f](#f)"
    assert hook.absolute_links(text, "https://h/o/n", "v1") == (
        "![A](https://h/o/n/raw/v1/a.png) [b\nc](https://h/o/n/blob/v1/docs/c.md#d)"
        " [e](https://e.org) [f](#f)"
    )


def test_figures_of_the_paper_are_those_of_the_documentation():
    paper = " ".join((ROOT / "paper.md").read_text(encoding="utf-8").split())
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    documented = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in pages)
    figures = re.findall(r"[\d.,]*\d (?:ms|s|layers|final)\b", paper)
    figures += re.findall(r"\d+\.\d+ ± \d+\.\d+ %", paper)
    assert len(figures) >= 7
    assert [figure for figure in figures if figure not in documented] == []


def test_the_paper_cites_what_its_bibliography_has():
    cited = re.findall(r"@(\w+)", (ROOT / "paper.md").read_text(encoding="utf-8"))
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper.bib").read_text(encoding="utf-8"), re.M)
    assert set(cited) == set(listed)


def test_no_data_are_committed_beside_what_ships_and_nothing_large():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git folder, or no git")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True
    ).stdout
    paths = [
        path
        for path in listed.split("\0")
        if (ROOT / path).is_file() and not path.startswith(SHIPPED)
    ]
    assert "pyproject.toml" in paths
    assert [
        path for path in paths if DATA.search(path) or (ROOT / path).stat().st_size > LARGEST
    ] == []
