"""Folders scored by several processes, and lazy tables: every row once, with the values of one
process in memory."""

import multiprocessing
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock
from refusals import refuses
from running import HARDMAX
from text.small_models import random_texts, small_model
from text.test_scoring import OURS, flipped

from hardmax._kernels.parallel import _limit
from hardmax.text import read_corpus, scoring
from hardmax.text.score_files import ScoringReport, score_file
from hardmax.text.scoring import ScoreOptions
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel

TEXTS = [f"{text} film" for text in random_texts(60)]
TABLE = pa.table({"id": range(60), "wide": ["x" * 100] * 60, "text": TEXTS})
NAMES = ["lang=de/a.parquet", "lang=en/a.parquet", "lang=en/deeper/b.parquet"]


@pytest.fixture
def model(tmp_path):
    small_model().save(tmp_path / "model")
    return TextModel.load(tmp_path / "model")


@pytest.fixture
def folder(tmp_path):
    for number, name in enumerate(NAMES):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(TABLE.slice(20 * number, 20), tmp_path / "in" / name)
    return tmp_path / "in"


def score(model: TextModel, folder: Path, *, force: bool = False, **options) -> ScoringReport:
    return score_file(
        model, str(folder), folder.parent / "out", ScoreOptions(**options), force=force
    )


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# ---------------------------------------------------------------- folders


def test_every_file_becomes_one_of_its_name(model, folder):
    report = score(model, folder)
    assert files(folder.parent / "out") == NAMES
    expected = model.score_table(TABLE)
    for number, name in enumerate(NAMES):
        stored = pq.ParquetFile(folder.parent / "out" / name).read()
        assert stored.replace_schema_metadata().equals(
            expected.slice(20 * number, 20).replace_schema_metadata()
        )
    assert (report.rows, report.parts, report.scored_before) == (60, 3, 0)
    assert report.labels == {
        str(k): n for k, n in pd.Series(expected["label"].to_pylist()).value_counts().items()
    }
    times = [(folder.parent / "out" / name).stat().st_mtime_ns for name in NAMES]
    again = score(model, folder)
    assert (again.rows, again.scored_before, again.labels) == (60, 60, report.labels)
    assert times == [(folder.parent / "out" / name).stat().st_mtime_ns for name in NAMES]


def test_columns_that_are_not_wanted_are_neither_read_nor_written(model, folder):
    score(model, folder, columns=("id",))
    found = pq.ParquetFile(folder.parent / "out" / NAMES[0]).read()
    assert found.column_names[:2] == ["id", "label"]
    assert found["label"].equals(model.score_table(TABLE.slice(0, 20))["label"])
    with refuses(r"`columns` is 'name', but .* has the columns id, wide, text"):
        score(model, folder, columns=("name",), force=True)
    frame = TABLE.to_pandas()
    frame.to_csv(folder.parent / "in.csv", index=False)
    frame.to_json(folder.parent / "in.jsonl", orient="records", lines=True)
    for name in ("in.csv", "in.jsonl"):
        out = folder.parent / f"{name}.parquet"
        score_file(model, str(folder.parent / name), out, ScoreOptions(columns=("wide", "id")))
        assert pq.read_schema(out).names[:3] == ["wide", "id", "label"]


@pytest.mark.parametrize("columns", [("id", "lang"), ("lang",), ("late", "id"), ()])
def test_columns_of_partitions_and_of_some_files_may_be_wanted(columns, model, folder):
    late = pq.ParquetFile(folder / NAMES[2]).read()
    pq.write_table(late.append_column("late", [range(20)]), folder / NAMES[2])
    score(model, folder, columns=columns)
    out = folder.parent / "out"
    for name in NAMES:
        stored = [name for name in pq.read_schema(out / name).names if name not in OURS]
        has = {"id", "late"} if name == NAMES[2] else {"id"}
        assert stored == [column for column in columns if column in has]
    languages = pq.read_table(out, columns=["lang"]).to_pydict()["lang"]
    assert languages == ["de"] * 20 + ["en"] * 40
    with refuses(r"'year', but .* columns id, wide, text, lang, late"):
        score(model, folder, columns=("id", "year"), force=True)


def test_a_damaged_part_is_named_and_force_scores_it_alone(model, folder):
    score(model, folder)
    part = folder.parent / "out" / NAMES[1]
    whole = part.read_bytes()
    part.write_bytes(whole[:200])
    with refuses(r"lang=en/a.parquet` is damaged, .*: `force=True` scores"):
        score(model, folder)
    assert part.read_bytes() == whole[:200]
    assert score(model, folder, force=True).scored_before == 40
    assert pq.ParquetFile(part).read().num_rows == 20


def test_a_part_with_a_flipped_bit_is_scored_again_alone(model, folder):
    score(model, folder)
    part = folder.parent / "out" / NAMES[1]
    whole = part.read_bytes()
    for place in (50, len(whole) // 2, whole.index(b'"rows"') + 2):
        part.write_bytes(flipped(whole, 8 * place))
        assert score(model, folder).scored_before == 40
        assert part.read_bytes() == whole


def test_a_column_may_have_whole_numbers_in_one_file_and_floats_in_another(model, tmp_path):
    (tmp_path / "in").mkdir()
    for name, numbers in (("a", [1, 2]), ("b", [0.5, None]), ("c", [None, None])):
        table = pa.table({"text": TEXTS[:2], "label": [0, 1], "n": numbers})
        pq.write_table(table, tmp_path / "in" / f"{name}.parquet")
    assert len(read_corpus(tmp_path / "in")) == 6
    score_file(model, str(tmp_path / "in"), tmp_path / "out.parquet", ScoreOptions())
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist() == [1, 2, 0.5, *[None] * 3]
    assert score(model, tmp_path / "in").rows == 6


def test_suffixes_of_any_case_are_scored_and_the_rest_is_named(model, folder):
    (folder / NAMES[0]).rename((folder / NAMES[0]).with_suffix(".PARQUET"))
    (folder / "c.csv").write_text("text\ngreat\n")
    (folder / "linked").symlink_to(folder / "lang=en")
    for out in ("out", "out.parquet"):
        with pytest.warns(UserWarning, match=r"left out of .*in`: c.csv, linked \(only") as caught:
            report = score_file(model, str(folder), folder.parent / out, ScoreOptions())
        assert len(caught) == 1
        assert report.rows == 60
    assert files(folder.parent / "out") == ["lang=de/a.PARQUET", *NAMES[1:]]


def test_files_are_read_in_the_order_of_their_names(model, tmp_path):
    (tmp_path / "in").mkdir()
    for number in (1, 2, 10):
        pq.write_table(TABLE.slice(number, 1), tmp_path / "in" / f"part-{number}.parquet")
    score_file(model, str(tmp_path / "in"), tmp_path / "out.parquet", ScoreOptions())
    assert pq.read_table(tmp_path / "out.parquet")["id"].to_pylist() == [1, 10, 2]


def test_parts_of_another_job_and_other_files_are_refused(model, folder):
    score(model, folder)
    (folder / NAMES[1]).touch()
    with refuses("another input, model or options"):
        score(model, folder)
    assert score(model, folder, force=True).scored_before == 40
    (folder / NAMES[2]).unlink()  # its rows would stay in the output
    (folder / NAMES[2]).parent.rmdir()
    with refuses("other files"):
        score(model, folder, force=True)
    (folder.parent / "out" / NAMES[2]).unlink()
    (folder.parent / "out" / NAMES[0]).write_bytes(b"mine")
    with refuses("other files"):
        score(model, folder, force=True)


def test_a_part_that_another_process_has_is_waited_for(model, folder):
    """The lock is held by a process that is killed: nothing else would end this."""
    out = folder.parent / "out"
    (out / NAMES[0]).parent.mkdir(parents=True)
    lock = (out / NAMES[0]).with_name(".a.parquet.lock")
    held = f"from filelock import FileLock; lock = FileLock({str(lock)!r}); lock.acquire()"
    held += "; print(1, flush=True); input()"
    with subprocess.Popen(
        [HARDMAX[0], "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout
        other.stdout.read(1)
        scorer = subprocess.Popen(
            [*HARDMAX, "score", "in", "-o", "out", "--model", "model"], cwd=folder.parent
        )
        while len(list(out.rglob("*.parquet"))) < 2:
            time.sleep(0.01)
        assert scorer.poll() is None
        assert not (out / NAMES[0]).exists()
        other.kill()
        assert scorer.wait(600) == 0
    assert files(out) == NAMES


def test_one_file_is_written_by_one_process(model, folder):
    target = folder.parent / "out.parquet"
    with (
        FileLock(target.with_name(".out.parquet.lock")),
        refuses("by another process"),
    ):
        score_file(model, str(folder / NAMES[0]), target, ScoreOptions())


def test_processes_that_are_killed_again_and_again_score_every_row_once(
    model, tmp_path, monkeypatch
):
    (tmp_path / "in").mkdir()
    for part in range(16):
        texts = [f"{TEXTS[(part + row) % 60]} {row}" for row in range(500)]
        ids = range(500 * part, 500 * part + 500)
        pq.write_table(pa.table({"id": ids, "text": texts}), tmp_path / "in" / f"{part}.parquet")
    from text.slow_scoring import score_slowly  # loads kernels

    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join(sys.path)
    )  # for the process that others are forked from
    starter = multiprocessing.get_context("forkserver")
    starter.set_forkserver_preload(["text.slow_scoring"])
    rng, kills = random.Random(0), 0

    def start():
        process = starter.Process(target=score_slowly, args=(tmp_path,))
        process.start()
        return process

    def parts(kind):
        return set((tmp_path / "out").glob(kind))

    started = [start(), start()]
    for victims in ([0, 1], [0], [0, 1], [1], [0, 1], [0, 1]):
        before = parts(".*.hardmax-draft-*")
        # Until one is in the middle of a part.
        while parts(".*.hardmax-draft-*") <= before and any(
            process.is_alive() for process in started
        ):
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.1))
        kills += all(started[victim].is_alive() for victim in victims)
        for victim in victims:
            started[victim].kill()
        for victim in victims:
            started[victim].join()
            started[victim] = start()
    for process in started:
        process.join(600)
    assert kills >= 5, "it was done before it could be killed"
    assert [process.exitcode for process in started] == [0, 0]
    assert set((tmp_path / "reports").read_text().split()) == {"8000"}
    assert files(tmp_path / "out") == files(tmp_path / "in")
    found = pq.read_table(tmp_path / "out").sort_by("id")
    assert found["id"].to_pylist() == list(range(8000))
    assert found.equals(model.score_table(found.select(["id", "text"])))


# ---------------------------------------------------------------- lazy tables


def test_a_lazy_frame_of_polars_stays_lazy(model, folder):
    lazy = pl.scan_parquet(folder / "**/*.parquet", hive_partitioning=False)
    scored = model.score_table(lazy, abstain=0.8)
    assert isinstance(scored, pl.LazyFrame)
    expected = model.score_table(pl.DataFrame(TABLE), abstain=0.8)
    assert scored.collect_schema() == expected.schema
    assert scored.collect().equals(expected)
    assert (
        scored.select("id", "label")
        .collect(engine="streaming")
        .sort("id")
        .equals(expected.select("id", "label"))
    )


def test_a_stream_of_arrow_stays_one(model):
    batches = TABLE.to_batches(max_chunksize=7)
    taken = []
    given = pa.RecordBatchReader.from_batches(
        TABLE.schema, (taken.append(1) or each for each in batches)
    )
    scored = model.score_table(given)
    assert not taken
    assert scored.read_all().equals(model.score_table(TABLE))


def test_a_relation_of_duckdb_becomes_a_stream_of_arrow(model):
    duckdb = pytest.importorskip("duckdb")
    given = duckdb.from_arrow(TABLE).filter("id < 30").order("id")
    scored = model.score_table(given)
    assert duckdb.connect().from_arrow(scored).aggregate("count(*), sum(id)").fetchall() == [
        (30, 435)
    ]
    assert (
        model.score_table(given)
        .read_all()["label"]
        .equals(model.score_table(TABLE.slice(0, 30))["label"])
    )


@pytest.mark.parametrize(
    "scheduler", ["threads", pytest.param("processes", marks=pytest.mark.slow)]
)
def test_a_dask_frame_stays_lazy_and_empty_partitions_have_all_columns(model, scheduler):
    dd = pytest.importorskip("dask.dataframe")
    frame = TABLE.to_pandas()
    frame.loc[3, "text"] = None
    table = dd.from_pandas(frame, npartitions=4)
    table = table[table["id"] >= 20]  # the first partition is empty now
    scored = model.score_table(table, on_bad_rows="skip")
    parts = [part.compute(scheduler=scheduler) for part in scored.partitions]
    assert [len(part) for part in parts] == [0, 10, 15, 15]
    for part in parts:
        assert part.dtypes.equals(scored.dtypes)
    expected = model.score_table(TABLE.slice(20)).to_pandas()
    found = pd.concat(parts)
    assert found.index.tolist() == list(range(20, 60))
    assert found["probability"].tolist() == expected["probability"].tolist()
    assert [list(each) for each in found["active"]] == [list(each) for each in expected["active"]]


def test_dask_loads_a_model_once_by_name_and_threads_do_not_multiply(monkeypatch):
    dd = pytest.importorskip("dask.dataframe")
    cloudpickle = pytest.importorskip("cloudpickle")
    loads, threads = [], []
    load_model, answer = scoring.load_model, scoring.Scorer.answer
    scored = load_model("sentiment-en").score_table(
        dd.from_pandas(TABLE.to_pandas(), npartitions=6)
    )
    scoring._load.cache_clear()
    monkeypatch.setattr(
        scoring, "load_model", lambda name: (loads.append(name), load_model(name))[1]
    )
    monkeypatch.setattr(
        scoring.Scorer, "answer", lambda *given: (threads.append(_limit.get()), answer(*given))[1]
    )
    assert len(scored.compute(scheduler="threads", num_workers=3)) == 60
    assert loads == ["sentiment-en"]
    assert threads == [1] * 6
    assert len(cloudpickle.dumps(scored.dask)) < 40_000  # the model has megabytes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_while_a_model_is_loaded_loads_one_itself(model):
    folder, mark = str(scoring.saved_in(model)), digest(model)
    part = TABLE.to_pandas()
    with scoring._loading():  # as a thread of this process would, which a child does not have
        context = multiprocessing.get_context("fork")
        child = context.Process(
            target=scoring._score_partition, args=(part, folder, mark, ScoreOptions())
        )
        child.start()
        child.join(60)
        child.kill()
    assert child.exitcode == 0


def test_a_model_that_workers_cannot_load_is_refused(model):
    dd = pytest.importorskip("dask.dataframe")
    table = dd.from_pandas(TABLE.to_pandas(), npartitions=2)
    with refuses("save it first"):
        small_model().score_table(table)
    scored = model.score_table(table)
    scoring._load.cache_clear()
    small_model(1).save(scoring.saved_in(model) or "")
    with refuses("is not the one that was asked for"):
        scored.compute(scheduler="sync")
