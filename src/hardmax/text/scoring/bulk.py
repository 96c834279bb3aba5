"""Files of tables scored: in parts, which an interruption cannot harm, joined at the end."""

import json
import os
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from hardmax._validation import InputError
from hardmax.text.data.corpora import BadRow
from hardmax.text.scoring.ahead import ahead, behind
from hardmax.text.scoring.answers import Answerer
from hardmax.text.scoring.arrow import pa
from hardmax.text.scoring.forms import Form, asked_form
from hardmax.text.scoring.joining import Joiner, joining
from hardmax.text.scoring.parts_folder import PartsFolder
from hardmax.text.scoring.rows import Part, cut
from hardmax.text.scoring.scored import Asked, ScoredPart, Scorer, Useless, our_names
from hardmax.text.scoring.source import Source, open_source
from hardmax.text.scoring.writing import encode
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel

VERSION = 1
# A part has so many rows, or the fewer that make so many bytes. Who changes these changes the bytes of Parquet files.
PART_ROWS, PART_BYTES = 50_000, 1 << 25
_LISTED = 1000  # bad rows that are told one by one

Progress = Callable[[int, int, int], None]  # bytes read, bytes of all, rows scored now


@dataclass
class Account:
    """What became of the rows."""

    text: str  # the column that was scored
    names: dict[str, str]  # what our columns are called
    rows: int = 0  # read
    scored: int = 0
    bad: int = 0
    listed: list[BadRow] = field(default_factory=list)  # the first of the bad ones
    lost: list[BadRow] = field(default_factory=list)  # files that could not be read, or not to their end
    labels: Counter[Any] = field(default_factory=Counter)
    abstained: int = 0
    kept: int = 0  # rows that an earlier run had scored
    parts: int = 0
    others: int = 0  # files of a folder that are no tables

    def add(self, told: dict[str, Any]) -> None:
        """Count the rows of a part."""
        self.parts += 1
        self.rows += told["rows"]
        self.bad += told["bad"]
        self.scored += sum(count for _, count in told["labels"])
        self.listed += [BadRow(*one) for one in told["listed"][: _LISTED - len(self.listed)]]
        self.lost += [BadRow(*one) for one in told["lost"]]
        self.labels.update(dict(told["labels"]))
        self.abstained += told["abstained"]


@dataclass(frozen=True)
class Plan:
    """How the work is done."""

    batch_size: int = 4096  # rows that are scored at a time; changes nothing that is written
    force: bool = False  # replace a file that is there
    made_by: str = ""  # the version of the package: another one begins anew
    part_rows: int = field(default_factory=lambda: PART_ROWS)
    part_bytes: int = field(default_factory=lambda: PART_BYTES)


def score_file(
    model: TextModel,
    source: str | Path,
    target: Path,
    asked: Asked,
    plan: Plan | None = None,
    progress: Progress | None = None,
) -> Account:
    """Score every row of a table in a file, a folder, or on standard input (`-`), and write it with our columns.

    The file is whole or not there. An interrupted job goes on after the last part that was done, if input, model and
    what is asked are the same; the bytes written are then the same as well, as they are for any size of batches and any
    number of threads.
    """
    plan = plan or Plan()
    form = check_places(source, target, plan.force)
    folder = PartsFolder.beside(target)
    try:
        found = open_source(source, asked.text, skip_damaged=asked.on_bad_rows == "skip", spool=folder.spool)
        names = our_names(found.schema.names, asked.prefix)
        scorer = Scorer(Answerer.of(model), found.schema, found.text, names, asked, plan.batch_size)
        _agree(folder, _job(model, found, asked, form, plan), plan.force)
        with folder.joined(partial(joining, scorer.out_schema(), form)) as joiner:
            account = _score(found, scorer, folder, joiner, form, plan, progress)
            _check_whole(found, account)
    except Useless:
        folder.remove()
        raise
    finally:
        folder.release()
    return account


def _score(
    source: Source,
    scorer: Scorer,
    folder: PartsFolder,
    joiner: Joiner,
    form: Form,
    plan: Plan,
    progress: Progress | None,
) -> Account:
    account = Account(source.text, scorer.names, lost=list(source.lost), others=source.others)
    start = (0, 0)
    for told in folder.accounts():
        account.add(told)
        start = tuple(told["end"])
    account.kept = account.rows
    before = 0
    parts = ahead(cut(source.rows(start), plan.part_rows, plan.part_bytes))
    with closing(parts), behind() as later:
        later(_join_kept, folder, joiner, account.parts)
        for part in parts:
            scored = scorer.score(part, progress and partial(_report, progress, account, before, part, source.size))
            before = part.position
            told = _told(scored) | {"end": part.end}
            later(_keep, folder, account.parts, scored, list(scorer.names.values()), form, told, joiner)
            account.add(told)
    return account


def _report(progress: Progress, account: Account, before: int, part: Part, size: int, rows: int) -> None:
    """Tell how far the work is, with so many rows of a part scored."""
    done = before + (part.position - before) * rows // max(len(part), 1)
    progress(done, size, account.rows - account.kept + rows)


def _join_kept(folder: PartsFolder, joiner: Joiner, parts: int) -> None:
    with folder.told():
        for number in range(parts):
            joiner.add_kept(folder.kept(number))


def _keep(
    folder: PartsFolder,
    number: int,
    scored: ScoredPart,
    ours: list[str],
    form: Form,
    told: dict[str, Any],
    joiner: Joiner,
) -> None:
    data = encode(scored.table, scored.lines, ours, form)
    folder.add(number, data, told)
    with folder.told():
        joiner.add(scored.table, data)


def _told(scored: ScoredPart) -> dict[str, Any]:
    return {
        "rows": scored.rows,
        "bad": len(scored.bad),
        "listed": [[one.place, one.reason] for one in scored.bad[:_LISTED]],
        "lost": [[one.place, one.reason] for one in scored.lost],
        "labels": list(scored.labels.items()),
        "abstained": scored.abstained,
    }


def _job(model: TextModel, source: Source, asked: Asked, form: Form, plan: Plan) -> dict[str, Any]:
    """All that decides which bytes are written."""
    return {
        "format": "hardmax scoring",
        "version": VERSION,
        "versions": [plan.made_by, pa.__version__],
        "model": digest(model),
        "input": source.marks,
        "asked": asdict(asked) | {"text": source.text},
        "form": asdict(form),
        "parts": [plan.part_rows, plan.part_bytes],
    }


def _agree(folder: PartsFolder, job: dict[str, Any], force: bool) -> None:
    """Go on with the parts that are there if they are of this job; else begin, if nothing of value is there."""
    there = folder.job()
    if there == json.loads(json.dumps(job)):
        return
    if not force and there is not None and folder.accounts():
        differs = [name for name in job if there.get(name) != json.loads(json.dumps(job[name]))]
        raise InputError(
            f"`{folder.folder}` holds parts of another job ({', '.join(differs)} changed): force=True starts over.",
            also=("force=True",),
        )
    if not force and folder.target.exists():
        raise _exists(folder.target)
    folder.begin(job)


def check_places(source: str | Path, target: Path, force: bool) -> Form:
    """The form of the file that is written; refuses before the work what is not there, or must not be written."""
    form = asked_form(target, "`out`")
    if not target.parent.is_dir():
        raise InputError(f"`{target}` cannot be written: the folder `{target.parent}` does not exist. Make it first.")
    if target.is_dir():
        raise InputError(f"`{target}` cannot be written: it is a folder. Name a file.")
    if source != "-":
        if not Path(source).exists():
            wish = "expected a table of texts, a folder of tables, or - for standard input"
            raise InputError(f"`{source}` does not exist: {wish}.")
        place, read = Path(os.path.realpath(target)), Path(os.path.realpath(source))
        if place == read:
            raise InputError(f"`{target}` is the input: name another file for the output.")
        if read.is_dir() and read in place.parents:
            raise InputError(f"`{target}` lies in the folder that is read: name a file elsewhere for the output.")
    if target.exists() and not force and not target.with_name(f"{target.name}.parts").is_dir():
        raise _exists(target)
    return form


def _exists(target: Path) -> InputError:
    return InputError(f"`{target}` exists: force=True replaces it.", also=("force=True",))


def _check_whole(source: Source, account: Account) -> None:
    if source.has_changed():
        raise Useless(f"{source.name} changed while it was read: score it again.")
    if not account.rows:
        raise Useless(f"{source.name} has no rows: expected a text in each.")
