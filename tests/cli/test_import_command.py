"""`hardmax import`: from the authors' file to a folder, with nothing run on the way."""

import json
from pathlib import Path

import numpy as np
import pytest
from command import Command
from paper.authors.making import EMBEDDINGS, REAL, Call, Name, archive, members, pickled, small_file

import hardmax as hm
from hardmax.paper.authors.direct import evaluate_directly
from hardmax.paper.authors.model import weigh_rows
from hardmax.paper.authors.weights import read_weights


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_becomes_a_model(hardmax: Command, here: Path):
    small_file(here)
    told = hardmax("import", "small.pth", "-o", "model", "--json")
    assert told.code == 0
    assert told.err.splitlines() == [
        "read Weights(5 rows in 2 dimensions, 8 layers, alpha 2.5); nothing of the pickle was run",
        "wrote model",
    ]
    facts = json.loads(told.out)
    assert (facts["rows"], facts["rows_that_texts_can_have"], facts["dimension"], facts["layers"]) == (5, 0, 2, 8)
    assert (facts["alpha"], facts["decoder"], facts["bias"]) == (2.5, [-3.0, 1.5], -0.25)
    assert "of texts it knows no word" in facts["reads"]
    assert (hm.load("model").embeddings == EMBEDDINGS).all()


def test_without_json_the_same_facts_stand_in_lines(hardmax: Command, here: Path):
    small_file(here)
    told = hardmax("import", "small.pth", "-o", "model")
    assert told.code == 0
    assert {"folder: model", "rows: 5", "alpha: 2.5000", "decoder: -3.0000, 1.5000"} <= set(told.out.splitlines())


def test_words_name_the_rows(hardmax: Command, here: Path):
    small_file(here)
    (here / "words.txt").write_text("PAD\ngreat\nThe\n\nmovie\n")
    told = hardmax("import", "small.pth", "-o", "model", "--words", "words.txt", "--json")
    assert told.code == 0
    assert json.loads(told.out)["rows_that_texts_can_have"] == 2
    model = hm.load("model")
    assert model.vocabulary.surfaces == ("row 0 pad", "great", "row 2 the", "row 3", "movie")
    explained = hardmax("explain", "The great movie!", "--model", "model")
    assert explained.code == 0
    assert "great" in explained.out


def test_a_list_that_does_not_fit_leaves_nothing(hardmax: Command, here: Path):
    small_file(here)
    (here / "words.txt").write_text("PAD\ngreat\n")
    told = hardmax("import", "small.pth", "-o", "model", "--words", "words.txt")
    assert told.code == 2
    assert "has 2 lines, and the embedding 5 rows" in told.err
    assert not (here / "model").exists()


def test_a_model_is_replaced_only_by_force(hardmax: Command, here: Path):
    small_file(here)
    assert hardmax("import", "small.pth", "-o", "model").code == 0
    before = (here / "model" / "model.safetensors").read_bytes()
    small_file(here, **{"data/1": np.float32(7).tobytes()})
    told = hardmax("import", "small.pth", "-o", "model")
    assert (told.code, told.out) == (2, "")
    assert told.err == "error: `--output` 'model' holds a model: name a new folder, or add --force.\n"
    assert (here / "model" / "model.safetensors").read_bytes() == before
    assert hardmax("import", "small.pth", "-o", "model", "--force").code == 0
    assert hm.load("model").alpha == "7"


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_folder_of_other_things_and_a_file_are_left_alone(force: tuple[str, ...], hardmax: Command, here: Path):
    small_file(here)
    (here / "letters").mkdir()
    (here / "letters" / "dear.txt").write_text("dear")
    for target in ("letters", "small.pth"):
        told = hardmax("import", "small.pth", "-o", target, *force)
        assert told.code == 2
        assert told.err.splitlines()[-1].startswith("error: ")
    assert [path.name for path in (here / "letters").iterdir()] == ["dear.txt"]
    assert (here / "small.pth").is_file()


def test_what_would_run_is_refused_in_one_line_and_not_run(hardmax: Command, here: Path):
    evil = pickled(Call(Name("os", "system"), ("touch canary",)))
    (here / "evil.pth").write_bytes(archive(members(evil)))
    told = hardmax("import", "evil.pth", "-o", "model")
    assert (told.code, told.out) == (2, "")
    assert told.err.count("\n") == 1
    assert "`evil.pth`: its pickle names 'os.system'; nothing of it was run." in told.err
    assert [path.name for path in here.iterdir()] == ["evil.pth"]


def test_a_name_that_a_terminal_would_obey_is_shown_as_text(hardmax: Command, here: Path):
    (here / "evil.pth").write_bytes(archive(members(pickled(Name("\x1b[31mos", "system")))))
    told = hardmax("import", "evil.pth", "-o", "model")
    assert told.code == 2
    assert "\x1b" not in told.err


def test_the_authors_file_becomes_their_model(hardmax: Command):
    if not REAL.exists():
        pytest.skip(f"the authors' weights are not there ({REAL.name})")
    told = hardmax("import", REAL, "-o", "model", "--json")
    assert told.code == 0
    facts = json.loads(told.out)
    assert (facts["rows"], facts["dimension"], facts["layers"]) == (121_296, 2, 8)
    review = np.random.default_rng(0).integers(0, 121_296, (1, 128))
    directly = evaluate_directly(read_weights(REAL), review[0])
    assert weigh_rows(hm.load("model"), review).logits[0, 0] == pytest.approx(directly.logit, abs=1e-9)
