"""`hardmax train`: from labelled texts to a model folder."""

import warnings
from pathlib import Path
from typing import Annotated

from typer import Option

from hardmax._common.validation import InputError
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_facts, print_json


def train_command(
    file: opt.CorpusFile,
    output: opt.ModelFolder,
    text: opt.TextColumn = None,
    label: opt.LabelColumn = None,
    encoding: opt.Encoding = None,
    longest_phrase: Annotated[int, Option(help="Longest phrase that is a token, in words.")] = 2,
    max_features: Annotated[int | None, Option(help="Largest size of the vocabulary.")] = None,
    min_df: Annotated[int | None, Option(help="Leave out tokens of fewer texts.")] = None,
    stop_words: Annotated[
        str | None,
        Option(metavar="WORDS", help="Words that are no tokens, separated by commas, or english."),
    ] = None,
    consistent: Annotated[
        bool, Option("--consistent", help="Tokens speak for their most frequent class.")
    ] = False,
    inverse_regularisation: Annotated[
        float | None, Option("--C", help="Inverse of the regularisation strength.")
    ] = None,
    gate: Annotated[
        float | None, Option(help="Share of the strongest above which a token is active.")
    ] = None,
    alpha: Annotated[
        str | None, Option(metavar="NUMBER", help="Step towards the leaders: 0, 1/2, 1.")
    ] = None,
    neutral_weight: Annotated[
        int | None, Option(help="Silent words that are added to each text.")
    ] = None,
    vectors: Annotated[
        str | None,
        Option(
            metavar="NAME", help="Word vectors: auto, english, none, or a file of GloVe or npz."
        ),
    ] = "auto",
    seed: Annotated[int, Option(help="Random seed of the cross-validation.")] = 0,
    force: opt.Force = False,
    on_bad_rows: opt.OnBadRows = "skip",
    as_json: opt.AsJson = False,
) -> None:
    """Train a classifier on labelled texts.

    Takes seconds for thousands of texts. Settings that are not given are chosen by
    cross-validation. Writes a folder with a model card, which `hardmax evaluate` and `hardmax
    explain` can read.

    The files of a folder are read in the order of their names, part-10 before part-2; the order
    decides which texts are held out together. Anything else in the folder is named on stderr.
    """
    from hardmax.train import Settings

    if vectors == "none":
        vectors = None
    listed = stop_words is not None and stop_words != "english"
    settings = Settings(
        ngram_range=(1, longest_phrase),
        max_features=max_features,
        min_df=min_df,
        stop_words=stop_words.split(",") if listed else stop_words,
        consistent=consistent,
        C=inverse_regularisation,
        gate=gate,
        alpha=alpha,
        neutral_weight=neutral_weight,
        vectors=vectors,
        random_state=seed,
    )
    folder = Path(output)
    if folder.exists() and not force and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"`--output` `{output}` exists: name another folder, or replace it with --force."
        )
    from hardmax.text.corpora import stream_corpus

    how = {"text": text, "label": label, "encoding": encoding, "on_bad_rows": on_bad_rows}
    with warnings.catch_warnings(action="ignore"):  # the file is read once more
        next(stream_corpus(file, **how, characters=1))  # scipy is not needed to refuse a file
    from hardmax.train import fit_tables

    model = fit_tables(file, settings, **how, progress=notify)
    model.save(folder)
    notify(f"wrote {output}")
    if as_json:
        about = {"output": output, "model": opt.describe(model)}
        print_json(about | {"classes": list(model.classes)} | model.metrics)
        return
    from hardmax.text.card import MEASURES, evaluation_row

    chosen = ("C", "gate", "alpha", "neutral_weight", "vectors")
    [measured] = model.metrics["evaluations"]
    facts = {"model": repr(model)} | dict(zip(MEASURES, evaluation_row(measured), strict=True))
    print_facts(model.metrics["settings"] | facts, "model", *chosen, *MEASURES)
