"""`hardmax card --dashboard`, `hardmax diff` and `hardmax drift`: what the package computes."""

import json

import pytest
from planted_files import TEST, TRAIN, make_model, write_csv
from running import in_a_shell

import hardmax.text as hardmax_text
from hardmax.text import Corpus

pd = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def files(with_model):
    make_model().edit({"film": 4.0}).save(with_model / "edited")
    write_csv(with_model / "old.csv", TRAIN)
    numbers = [str(int(label == "positive")) for label in TEST.labels]
    write_csv(with_model / "new.csv", Corpus(TEST.texts, numbers))


MAP = "--label sentiment --map 0=negative --map 1=positive"


def test_two_models_and_two_tables_are_compared(hardmax):
    found = json.loads(hardmax(f"diff model edited --data new.csv {MAP} --json").out)
    other = make_model().edit({"film": 4.0})
    table = pd.DataFrame({"text": TEST.texts, "label": TEST.labels})
    told = hardmax_text.diff(make_model(), other, table, label="label")
    assert [word["index"] for word in found["words"]] == told["words"].index.tolist() == ["film"]
    assert found["pairs"][0]["gain"] == told["pairs"]["gain"][0]
    assert "\nfilm " in hardmax("diff model edited").out
    found = json.loads(hardmax("drift old.csv new.csv --model model --json").out)
    facts = {row["index"]: (row["first"], row["second"]) for row in found["facts"]}
    assert facts["texts"] == (len(TRAIN), len(TEST))
    assert facts["model"] == ("model", "model")


def test_a_process_of_its_own_may_import_pandas(here):
    pd.DataFrame({"text": TRAIN.texts}).to_parquet(here / "old.parquet")
    outcome = in_a_shell("drift old.parquet new.csv --model model")
    assert (outcome.code, outcome.err) == (0, "")
    assert "unknown" in outcome.out


def test_the_dashboard_is_written_with_labels_that_are_mapped(hardmax, here):
    outcome = hardmax(f"card model --dashboard page.html --data new.csv {MAP}")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.splitlines()[-1] == "wrote page.html"
    page = (here / "page.html").read_text()
    assert "On 40 texts" in page
    assert "Calibration" in page
