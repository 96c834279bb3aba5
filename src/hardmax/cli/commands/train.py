"""`hardmax train`: from texts with labels to a model in a folder."""

import re
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hardmax._validation import InputError
from hardmax.cli.corpus import ColumnOptions, CorpusFile, OnBadRows, check_corpus, read_texts_with_labels
from hardmax.cli.options import AsJson, grouped, read_number
from hardmax.cli.output import narrate, print_json, progress_bar

if TYPE_CHECKING:
    from hardmax.train.reading import Wish
    from hardmax.train.writing import Target


@dataclass(frozen=True)
class RecipeOptions:
    """A recipe, and what shall be otherwise."""

    recipe: Annotated[str | None, typer.Option(help="A recipe by name (imdb-2d, …), or a .json file of one.")] = None
    dimension: Annotated[
        int | None, typer.Option(help="Of the space in which words lie; usually as the classes need, 2 for two.")
    ] = None
    layers: Annotated[str | None, typer.Option(help="How many layers, or inf for all of them; usually 1.")] = None
    alpha: Annotated[str | None, typer.Option(help="Step of a layer, positive: 1/2 or 0.5; usually 1.")] = None
    epochs: Annotated[int | None, typer.Option(help="How often all texts are gone through.")] = None
    validation_fraction: Annotated[
        str | None,
        typer.Option(
            "--validation-fraction",
            "--validation",
            help="Share held out to calibrate and to stop early: 1/10.",
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(help="Of every random choice.")] = None
    budget: Annotated[
        str | None, typer.Option(help="Time to search for a better recipe: 90s, 10m, 1h; usually some seconds.")
    ] = None

    def read(self) -> "Wish":
        """What the options ask for."""
        from hardmax.train.reading import read_wish

        share = self.validation_fraction
        return read_wish(
            self.recipe,
            None if self.budget is None else read_duration(self.budget),
            dimension=self.dimension,
            layers=None if self.layers is None else read_depth(self.layers),
            alpha=None if self.alpha is None else read_number(self.alpha, "--alpha"),
            epochs=self.epochs,
            validation_fraction=None if share is None else read_number(share, "--validation-fraction"),
            seed=self.seed,
        )


def read_depth(text: str) -> int | float:
    """How many layers.

    >>> read_depth("8"), read_depth("inf")
    (8, inf)
    """
    from hardmax.text.model.checks import read_layers

    return read_layers(int(text) if text.isdecimal() else text)


def read_duration(text: str) -> float:
    """A time in seconds.

    >>> read_duration("90s"), read_duration("10m"), read_duration("1.5h")
    (90.0, 600.0, 5400.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([smh])", text.strip().lower())
    if found is None or float(found[1]) == 0:
        raise InputError(f"`--budget` must be a time such as 90s, 10m or 1h, not {text!r:.40}.")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


@grouped
def train_command(
    file: CorpusFile,
    output: Annotated[str, typer.Option("--output", "-o", help="The folder that the model is written to.")],
    *,
    columns: ColumnOptions,
    entries: RecipeOptions,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a training that was cut short.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
    on_bad_rows: OnBadRows = "skip",
    as_json: AsJson = False,
) -> None:
    """Train a classifier on texts with labels.

    Without a recipe, what matters is chosen on texts that are held out, and the model is then trained on all of them.
    Writes a folder that `hardmax evaluate` and `hardmax explain` read, with a model card, the log and its curve.
    """
    from hardmax.cli.files.train import curve_of
    from hardmax.cli.reports import train as train_report
    from hardmax.cli.reports.train_progress import training_table
    from hardmax.train.writing import Target

    wish = entries.read()
    target = Target(output, force=force, resume=resume)
    check_corpus(file)
    with target.claimed():
        corpus = read_texts_with_labels(file, "train", columns, on_bad_rows)
        corpus.numbered()  # which refuses one class alone

        if wish.recipe is None:
            narrate(f"{train_report.begin(corpus)}; choosing what suits them")

        # Only now, since torch takes seconds to come.
        from hardmax.train import fit_corpus

        target.start()
        try:
            with progress_bar("trying bags of words") as bar:
                chosen = target.choice(wish, lambda: wish.suit(corpus.texts, corpus.numbered()[1], narrate, bar))
            for line in train_report.choices(corpus, chosen):
                narrate(line)
            with training_table(chosen.recipe) as progress:
                model = fit_corpus(corpus, chosen, folder=target.checkpoint, progress=progress)
        except (KeyboardInterrupt, SystemExit):  # Ctrl-C, or a signal to end
            narrate(_way_on(target))
            raise
        for path in target.write(model, curve_of(model)):
            narrate(f"wrote {path}")
    if as_json:
        print_json(train_report.document(model, output))
    else:
        train_report.show(model)


def _way_on(target: "Target") -> str:
    """What to do after an interruption."""
    if not target.is_begun:
        return "interrupted before the end of the first epoch: nothing is kept."
    again = [word for word in sys.argv[1:] if word not in ("--force", "--resume")]
    forced = ["--force"] if target.force else []
    return f"interrupted; go on with: {shlex.join(['hardmax', *again, *forced, '--resume'])}"
