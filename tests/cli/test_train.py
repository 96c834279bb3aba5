"""`hardmax train` as people use it: from a file to a folder, interrupted and gone on with, and refused in one line."""

import hashlib
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Command, Outcome
from planted_files import QUICK, TEST, TRAIN, write_csv, write_recipe
from terminal import on_a_terminal_here

pytest.importorskip("torch", reason="the extra `train` is not installed")

from hardmax.cli.reports import train_progress
from hardmax.text.data import imdb
from hardmax.text.text_model import TextModel
from hardmax.train.log import Epoch, read_log


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with data.csv and quick.json."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "data.csv")
    write_recipe(tmp_path / "quick.json")
    return tmp_path


def train(hardmax: Command, *options: object, file: str = "data.csv") -> Outcome:
    return hardmax("train", file, "--recipe", "quick.json", "-o", "model", *options)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def without_seconds(folder: Path) -> dict[str, bytes]:
    """What decides anything: all but what tells how long it took."""
    return {name: data for name, data in files(folder).items() if name in ("model.safetensors", "vocabulary.txt")}


def interrupt_after(epochs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, pressed when so many epochs are done."""
    from contextlib import contextmanager

    @contextmanager
    def table(recipe):
        def update(report: Epoch) -> None:
            if report.epoch == epochs:
                raise KeyboardInterrupt

        yield update

    monkeypatch.setattr(train_progress, "training_table", table)


def test_a_model_is_trained_and_written_with_its_log_and_curve(hardmax: Command, here: Path):
    outcome = train(hardmax)
    assert outcome.code == 0
    assert outcome.err.splitlines()[0] == "80 texts (negative: 40, positive: 40); 4 epochs, seed 0"
    assert "wrote model" in outcome.err
    model = TextModel.load(here / "model")
    assert (model.predict(TEST.texts) == TEST.labels).mean() >= 0.9
    assert [report.epoch for report in read_log(here / "model" / "training.jsonl")] == [1, 2, 3, 4]
    assert (here / "model" / "training.png").read_bytes().startswith(b"\x89PNG")
    assert "validation_accuracy" in (here / "model" / "README.md").read_text()
    assert not (here / "model.training").exists()


def test_the_summary_tells_what_was_measured_on_what_was_held_out(hardmax: Command, here: Path):
    outcome = train(hardmax)
    facts = dict(line.split(": ", 1) for line in outcome.out.splitlines())
    measured = TextModel.load(here / "model").metrics
    assert facts["model"] == "12 tokens, dimension 2, 4 layers, alpha 1"
    assert facts["validation texts"] == "20"
    assert facts["validation accuracy"] == f"{measured['validation_accuracy']:.4f}"
    assert facts["validation leaders a text"] == f"{measured['validation_leaders_per_text']:.2f}"


def test_without_validation_the_summary_tells_of_the_training(hardmax: Command, here: Path):
    outcome = train(hardmax, "--validation", "0")
    assert [line.split(":")[0] for line in outcome.out.splitlines()] == [
        *("model", "training loss", "training accuracy", "leaders a text"),
    ]


def test_json_is_one_document(hardmax: Command, here: Path):
    document = json.loads(train(hardmax, "--json").out)
    assert document["output"] == "model"
    assert document["classes"] == ["negative", "positive"]
    assert document["model"]["dimension"] == 2
    assert len(document["training"]) == 4
    assert document["recipe"]["epochs"] == 4


def test_options_overrule_the_recipe(hardmax: Command, here: Path):
    options = ("--dimension", 3, "--layers", 2, "--alpha", "1/2", "--epochs", 2, "--seed", 7)
    document = json.loads(train(hardmax, *options, "--json").out)
    assert {name: document["recipe"][name] for name in ("dimension", "layers", "alpha", "epochs", "seed")} == {
        "dimension": 3,
        "layers": 2,
        "alpha": 0.5,
        "epochs": 2,
        "seed": 7,
    }
    assert (document["model"]["dimension"], document["model"]["layers"]) == (3, 2)


def test_a_recipe_may_go_by_its_name():
    from hardmax.train import IMDB_16D
    from hardmax.train.reading import read_recipe

    assert read_recipe("imdb-16d") == read_recipe("imdb_16d") == IMDB_16D


def test_columns_are_named_where_their_names_are_unusual(hardmax: Command, here: Path):
    write_csv(here / "odd.csv", header=("words", "mood"))
    assert "--text" in train(hardmax, file="odd.csv").err
    assert train(hardmax, "--text", "words", "--label", "mood", file="odd.csv").code == 0


def test_a_folder_with_a_folder_for_each_class_is_read(hardmax: Command, here: Path):
    for number, (text, label) in enumerate(zip(TRAIN.texts, TRAIN.labels, strict=True)):
        (here / "texts" / label).mkdir(parents=True, exist_ok=True)
        (here / "texts" / label / f"{number}.txt").write_text(text)
    assert train(hardmax, file="texts").code == 0


def test_the_same_seed_gives_the_same_weights(hardmax: Command, here: Path):
    train(hardmax)
    first = without_seconds(here / "model")
    assert train(hardmax, "--force").code == 0
    assert without_seconds(here / "model") == first


def test_numbers_in_a_table_stay_numbers(hardmax: Command, here: Path):
    rows = (
        {"text": text, "label": int(label == "positive")} for text, label in zip(TRAIN.texts, TRAIN.labels, strict=True)
    )
    (here / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert json.loads(train(hardmax, "--json", file="data.jsonl").out)["classes"] == [0, 1]


def test_bad_rows_are_listed_and_left_out_or_refused(hardmax: Command, here: Path):
    with (here / "data.csv").open("a") as stream:
        stream.write(',positive\n"no label",\nthree,cells,here\n')
    refused = train(hardmax, "--on-bad-rows", "refuse")
    assert (refused.code, refused.out) == (2, "")
    assert "3 rows" in refused.err
    assert "line 82" in refused.err
    assert not (here / "model").exists()
    skipped = train(hardmax)
    assert skipped.code == 0
    assert "3 rows left out (line 82: the text is empty; line 83: no label; line 84:" in skipped.err


# ---------------------------------------------------------------- interrupted


def test_an_interrupted_training_goes_on_to_the_same_bits(
    hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch
):
    train(hardmax)
    whole = without_seconds(here / "model")
    shutil.rmtree(here / "model")
    with monkeypatch.context() as pressed:
        interrupt_after(2, pressed)
        cut = train(hardmax)
    assert (cut.code, cut.out) == (130, "")
    assert "hardmax train data.csv --recipe quick.json -o model --resume" in cut.err
    assert not (here / "model").exists()
    refused = train(hardmax)
    assert refused.code == 2
    assert "--resume" in refused.err
    before = [json.loads(line) for line in (here / "model.training" / "log.jsonl").read_text().splitlines()]
    resumed = train(hardmax, "--resume", "--json")
    assert resumed.code == 0
    reports = json.loads(resumed.out)["training"]
    assert [report["epoch"] for report in reports] == [1, 2, 3, 4]
    assert reports[:2] == before  # their seconds, too: they were not trained again
    assert without_seconds(here / "model") == whole
    assert not (here / "model.training").exists()


def test_a_training_that_was_interrupted_can_begin_again(hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as pressed:
        interrupt_after(2, pressed)
        train(hardmax)
    assert train(hardmax, "--force", "--epochs", "3").code == 0


def test_another_recipe_cannot_go_on(hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as pressed:
        interrupt_after(2, pressed)
        train(hardmax)
    refused = train(hardmax, "--resume", "--seed", "5")
    assert refused.code == 2
    assert "another recipe" in refused.err


@pytest.mark.parametrize(("signal", "code"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_an_interruption_before_the_first_epoch_leaves_nothing(
    signal: BaseException, code: int, hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch
):
    def interrupted(*arguments, **options):
        raise signal

    monkeypatch.setattr("hardmax.train.fitting.fit", interrupted)
    cut = train(hardmax)
    assert cut.code == code
    assert "nothing is kept" in cut.err


def test_on_a_terminal_every_epoch_has_a_row(here: Path):
    screen = on_a_terminal_here("train", "data.csv", "--recipe", "quick.json", "-o", "model", columns=100)
    assert "leaders a text" in screen
    assert "epoch 1 of 4" in screen
    assert "done" in screen


def test_without_matplotlib_there_is_no_curve_but_a_model(
    hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in [name for name in sys.modules if name.startswith(("matplotlib", "hardmax.figures"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = train(hardmax)
    assert outcome.code == 0
    assert "no curve is drawn: Drawing needs the extra `figures`" in outcome.err
    assert not (here / "model" / "training.png").exists()


# ---------------------------------------------------------------- refused


BAD_FILES = {
    "an empty file": ("data.csv", b"", ["data.csv", "empty"]),
    "a header alone": ("data.csv", b"text,label\n", ["data.csv", "no text with a label"]),
    "one label only": ("data.csv", b"text,label\na good film,pos\na fine film,pos\n", ["'pos' alone", "at least two"]),
    "wrong columns": ("data.csv", b"a,b\n1,2\n", ["--text", "a, b"]),
    "a foreign file": ("data.parquet", b"GIF89a, not a table", ["data.parquet", "not a Parquet file"]),
    "a truncated file": ("data.parquet", b"PAR1\x15\x04\x15", ["data.parquet", "broken"]),
    "a binary file": ("data.csv", bytes(range(256)), ["data.csv"]),
    "an unknown suffix": ("data.docx", b"PK", ["data.docx", ".csv"]),
    "no JSON": ("data.jsonl", b"text: good\n", ["data.jsonl", "JSON"]),
    "texts that are numbers": (
        "data.jsonl",
        b'{"text": 3, "label": 1}\n{"text": 4, "label": 0}\n',
        ["the text is a int"],
    ),
    "missing texts": ("data.jsonl", b'{"text": NaN, "label": 1}\n{"text": null, "label": 0}\n', ["no text", "line 2"]),
    "missing labels": ("data.jsonl", b'{"text": "a", "label": NaN}\n{"text": "b"}\n', ["no label", "line 2"]),
    "texts that share no word": ("data.csv", b"text,label\none,a\ntwo,b\n", ["no word", "share"]),
}
BAD_OPTIONS = {
    "a column that is not there": (["--text", "story"], ["--text", "story", "review, sentiment"]),
    "a dimension of zero": (["--dimension", 0], ["--dimension", "at least 1"]),
    "an alpha of zero": (["--alpha", 0], ["--alpha"]),
    "an empty alpha": (["--alpha", ""], ["--alpha", "such as 0.5 or 1/2", "''"]),
    "an alpha over zero": (["--alpha", "1/0"], ["--alpha", "such as 0.5 or 1/2", "'1/0'"]),
    "a share in words": (["--validation", "half"], ["--validation", "'half'"]),
    "a share of more than all": (["--validation", "3/2"], ["--validation", "a share"]),
    "everything held out": (["--validation", 1], ["--validation", "share"]),
    "a strange rule for bad rows": (["--on-bad-rows", "mend"], ["--on-bad-rows", "skip", "refuse", "mend"]),
    "nothing to resume": (["--resume"], ["--resume", "no unfinished training"]),
    "an unknown recipe": (["--recipe", "stew"], ["--recipe", "imdb-2d", "stew"]),
    "a recipe that is not there": (["--recipe", "stew.json"], ["--recipe", "`stew.json` does not exist"]),
    "no such file": (["--output", "data.csv"], ["--output", "is a file"]),
}


def is_refused(outcome: Outcome, words: list[str]) -> None:
    """Exit code 2, nothing on stdout, one line."""
    assert (outcome.code, outcome.out) == (2, "")
    lines = outcome.err.splitlines()
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith("error: ")
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused_in_one_line(case: str, hardmax: Command, here: Path):
    name, content, words = BAD_FILES[case]
    (here / name).write_bytes(content)
    outcome = train(hardmax, file=name)
    if case == "texts that share no word":  # the texts are read by then, and counted on stderr
        outcome = Outcome(outcome.code, outcome.out, outcome.err.split("\n", 1)[1])
    is_refused(outcome, words)
    assert not (here / "model").exists()


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_a_bad_option_is_refused_in_one_line(case: str, hardmax: Command, here: Path):
    options, words = BAD_OPTIONS[case]
    is_refused(train(hardmax, *options), words)


def test_a_file_that_is_not_there_is_refused(hardmax: Command, here: Path):
    is_refused(train(hardmax, file="nowhere.csv"), ["nowhere.csv", "does not exist"])


def test_a_recipe_with_an_unknown_entry_is_refused(hardmax: Command, here: Path):
    (here / "quick.json").write_text(json.dumps(QUICK | {"heat": 3}))
    is_refused(train(hardmax), ["'heat'"])


def test_a_model_is_not_overwritten_unless_asked(hardmax: Command, here: Path):
    train(hardmax)
    before = files(here / "model")
    is_refused(train(hardmax), ["--output", "holds a model", "--force"])
    assert files(here / "model") == before


def test_a_folder_of_other_things_is_never_overwritten(hardmax: Command, here: Path):
    (here / "model").mkdir()
    (here / "model" / "thesis.txt").write_text("years of work")
    is_refused(train(hardmax, "--force"), ["--output", "other things"])
    assert (here / "model" / "thesis.txt").read_text() == "years of work"


def test_without_torch_the_extra_is_named(hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    outcome = train(hardmax)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == "error: Training needs the extra `train`: pip install 'hardmax[train]'\n"


# ---------------------------------------------------------------- imdb


def hub(monkeypatch: pytest.MonkeyPatch, download) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=download))


def test_imdb_comes_from_the_hub_and_is_checked(hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    import pyarrow
    import pyarrow.parquet

    labels = [int(label == "positive") for label in TRAIN.labels]
    stored = here / "train.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": TRAIN.texts, "label": labels}), stored)
    asked = []

    def download(repository: str, name: str, **options: str) -> str:
        asked.append((repository, name, options))
        return str(stored)

    hub(monkeypatch, download)
    is_refused(train(hardmax, file="imdb"), ["train.parquet", "SHA-256 differs"])
    monkeypatch.setitem(imdb.SHA256, "train", hashlib.sha256(stored.read_bytes()).hexdigest())
    assert train(hardmax, file="imdb").code == 0
    options = {"repo_type": "dataset", "revision": imdb.REVISION}
    assert asked[0] == ("stanfordnlp/imdb", "plain_text/train-00000-of-00001.parquet", options)


def test_without_a_network_imdb_says_what_to_do(hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    def download(*_: str, **__: str) -> str:
        raise ConnectionError("no route to host")

    hub(monkeypatch, download)
    is_refused(train(hardmax, file="imdb"), ["`imdb`", "ConnectionError", "aclImdb"])


def test_without_the_extra_imdb_says_what_to_do(hardmax: Command, here: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    outcome = train(hardmax, file="imdb")
    assert (outcome.code, outcome.out) == (1, "")
    assert "hardmax[hub]" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_infinitely_many_layers_are_trained_saved_and_explained(hardmax: Command, here: Path):
    document = json.loads(train(hardmax, "--layers", "inf", "--json").out)
    assert (document["recipe"]["layers"], document["model"]["layers"]) == ("inf", "inf")
    told = json.loads(hardmax("explain", "superb", "--model", "model", "--json").out)
    assert told["layers"] == "inf"
    assert told["leaders"][0]["mass"] == 1.0
    refused = train(hardmax, "--layers", "deep")
    assert refused.code != 0
    assert "`--layers` must be a whole number from 0 to 10000, or math.inf" in refused.err
