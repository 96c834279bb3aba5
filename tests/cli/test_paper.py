"""`hardmax reproduce` and `hardmax import`."""

import json
from pathlib import Path

import numpy as np
from paper.authors.making import EMBEDDINGS, Call, Name, archive, members, pickled, small_file
from running import Command, assert_refused

import hardmax as hm


def test_one_figure_with_its_numbers_and_the_page(hardmax: Command, here: Path):
    outcome = hardmax("reproduce", "fig1", "-o", "new/folder", "--json")
    assert outcome.code == 0
    assert "fig1: computed in" in outcome.err
    assert "wrote new/folder/report.html" in outcome.err
    folder = here / "new" / "folder"
    assert {path.name for path in folder.iterdir()} >= {"fig1.json", "fig1.pdf", "fig1.png", "report.html"}
    assert json.loads(outcome.out)["fig1"]["numbers"] == json.loads((folder / "fig1.json").read_bytes())["numbers"]
    again = hardmax("reproduce", "fig1", "-o", "new/folder")
    assert "fig1: drawn again" in again.err


def test_data_that_do_not_exist_are_refused(hardmax: Command, here: Path):
    (here / "train.parquet").write_bytes(b"")
    assert_refused(hardmax("reproduce", "accuracy", "-o", "out", "--data", here), "has no test.parquet")
    assert not (here / "out").exists()


def test_a_file_of_weights_becomes_a_model(hardmax: Command, here: Path):
    small_file(here)
    (here / "words.txt").write_text("PAD\ngreat\nThe\n\nmovie\n")
    outcome = hardmax("import", "small.pth", "-o", "model", "--words", "words.txt", "--json")
    assert outcome.code == 0
    assert outcome.err.splitlines()[-1] == "wrote model"
    facts = json.loads(outcome.out)
    assert (facts["rows"], facts["rows_that_texts_can_have"], facts["dimension"], facts["layers"]) == (5, 2, 2, 8)
    assert (facts["alpha"], facts["decoder"], facts["bias"]) == (2.5, [-3.0, 1.5], -0.25)
    model = hm.load("model")
    assert (model.embeddings == EMBEDDINGS).all()
    assert model.vocabulary.surfaces == ("row 0 pad", "great", "row 2 the", "row 3", "movie")
    assert "rows that texts can have: 0" in hardmax("import", "small.pth", "-o", "other").out


def test_a_model_is_replaced_only_by_force(hardmax: Command, here: Path):
    small_file(here)
    assert hardmax("import", "small.pth", "-o", "model").code == 0
    small_file(here, **{"data/1": np.float32(7).tobytes()})
    assert_refused(hardmax("import", "small.pth", "-o", "model"), "`--output` 'model'", "--force")
    assert hm.load("model").alpha == "5/2"
    assert hardmax("import", "small.pth", "-o", "model", "--force").code == 0
    assert hm.load("model").alpha == "7"


def test_code_in_a_pickle_is_refused_and_not_run(hardmax: Command, here: Path):
    evil = pickled(Call(Name("os", "system"), ("touch canary",)))
    (here / "evil.pth").write_bytes(archive(members(evil)))
    assert_refused(hardmax("import", "evil.pth", "-o", "model"), "`evil.pth`: its pickle names 'os.system'")
    assert [path.name for path in here.iterdir()] == ["evil.pth"]
    (here / "evil.pth").write_bytes(archive(members(pickled(Name("\x1b[31mos", "system")))))
    assert "\x1b" not in hardmax("import", "evil.pth", "-o", "model").err
