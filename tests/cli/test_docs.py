"""What the pages show is what happens: their blocks run as typed, one after the other, in an empty
folder.

A block that needs what is not there says so in the line above it: `<!-- not run: needs reviews.csv
-->`."""

import re
import shlex
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from running import Command

import hardmax as hm
from hardmax._common.validation import InputError
from hardmax.cli.main import COMMANDS, make_parser

ROOT = Path(__file__).parents[2]
MADE = {"cli.md", "tutorial.md"}  # by the builder of the site; tested on its own
PAGES = [
    "README.md",
    *(
        f"docs/{page.name}"
        for page in sorted((ROOT / "docs").glob("*.md"))
        if page.name not in MADE
    ),
]
NEEDS = {
    "README.md": ("matplotlib",),
    "docs/install.md": ("matplotlib",),
    "docs/own_csv.md": ("matplotlib", "pandas", "pyarrow", "narwhals", "sklearn"),
    "docs/streams.md": ("pyarrow", "pandas", "dask", "joblib"),
    "docs/any_attention.md": ("torch",),
    "docs/page.md": ("anywidget",),
    "docs/text.md": ("sklearn", "matplotlib", "pyarrow", "narwhals"),
}
_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]*) -->\n)?```(?P<kind>\w+)\n(?P<code>.*?)^```$",
    flags=re.M | re.S,
)
# What a block of Python prints, below it.
_PRINTED = re.compile(r"\n```text\n(?P<out>.*?)^```$", flags=re.M | re.S)
# What a command that is refused prints, below it.
_TOLD = re.compile(r"\n\n```text\n(?P<err>error: [^\n]*\n)```$", flags=re.M)


def run_line(line: str, hardmax: Command) -> None:
    """Commands of ours, joined by pipes; the first may be printf."""
    out = ""
    for command in line.split(" | "):
        name, *arguments = shlex.split(command)
        if name == "printf":
            (out,) = (text.replace("\\n", "\n") for text in arguments)
            continue
        assert name == "hardmax", line
        outcome = hardmax(*arguments, stdin=out.encode())
        assert outcome.code == 0, f"{line}: {outcome.err}"
        out = outcome.out


@pytest.mark.parametrize(
    "page", ["README.md", *(pytest.param(page, marks=pytest.mark.docs) for page in PAGES[1:])]
)
def test_a_page_runs_from_top_to_bottom(page, hardmax, tmp_path, monkeypatch, capsys):
    missing = [name for name in NEEDS.get(page, ()) if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in _BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        if block["why"]:
            if told := _TOLD.match(block.string, block.end()):
                assert hardmax(*shlex.split(block["code"])[1:]).err == told["err"]
        elif block["kind"] == "text":
            continue  # what the block above it prints
        elif block["kind"] == "python":
            capsys.readouterr()
            exec(compile(block["code"], page, "exec"), names)
            if printed := _PRINTED.match(block.string, block.end() + 1):
                lines = capsys.readouterr().out.splitlines()
                assert [line.rstrip() for line in lines] == printed["out"].splitlines()
        else:
            assert block["kind"] == "sh"
            for line in block["code"].splitlines():
                run_line(line, hardmax)


@pytest.mark.docs
def test_every_call_in_the_table_of_functions_works(tmp_path, monkeypatch):
    for module in ("matplotlib", "anywidget", "joblib", "narwhals"):
        pytest.importorskip(module)
    pyarrow = pytest.importorskip("pyarrow")
    estimators = pytest.importorskip("hardmax.sklearn")
    monkeypatch.chdir(tmp_path)
    cloud, dynamics = hm.clouds.square(), hm.Dynamics("1/2")
    lim, model = hm.limit(cloud, dynamics), hm.load_model("sentiment-en")
    texts, labels = ["A superb film.", "An awful script."] * 9, ["good", "bad"] * 9
    table = pyarrow.table({"text": texts})
    names = {
        "hm": hm,
        "hardmax": hm,
        "cloud": cloud,
        "dynamics": dynamics,
        "lim": lim,
        "run": lim.run,
    }
    names |= {"k": 2, "n": 9, "d": 2, "token": 4, "claim": "every token ends at a leader"}
    names |= {"grid": {"n": [3, 4], "d": 2, "seeds": 2}, "model": model, "table": table}
    names |= {"text": texts[1], "texts": texts, "labels": labels}
    names["clf"] = estimators.HardmaxClassifier().fit(texts, labels)
    page = (ROOT / "docs/which.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|", page, flags=re.M)
    calls = [call for row in rows for call in re.findall(r"`([^`]+)`", row)]
    assert len(calls) > 20
    for call in calls:
        eval(call, names)


def test_pages_import_public_modules_only():
    for page in (*PAGES, "docs/tutorial.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert not re.findall(
            r"^(?:from|import) hardmax[\w.]*\._.*|^from hardmax\S* import _.*", text, flags=re.M
        )


def told_in_passing() -> list[str]:
    """The command lines that stand in sentences, of the pages and of `--help`."""
    words = [(ROOT / page).read_text(encoding="utf-8") for page in (*PAGES, "docs/tutorial.md")]
    words += [import_module(f"hardmax.cli.{command}").__doc__ or "" for command in COMMANDS]
    return [line for each in words for line in re.findall(r"`hardmax (?!-)([^`]+)`", each)]


@pytest.mark.parametrize("line", told_in_passing())
def test_command_lines_in_sentences_name_options_that_exist(line):
    arguments, problem = shlex.split(line), ""
    try:
        make_parser(arguments).parse_args(arguments)
    except InputError as error:  # `hardmax train --force` leaves out what is trained on
        problem = str(error)
    assert problem == "" or "required: " in problem
