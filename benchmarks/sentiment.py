"""The models `sentiment-en` and `sentiment-en-best`: trained on a mixture of corpora, measured once,
beside word lists; and what reading adds.

python benchmarks/sentiment.py train DATA TRAINED NAME [--validation]
python benchmarks/sentiment.py measure DATA TRAINED SHIPPED NAME
python benchmarks/sentiment.py ablate DATA

DATA has the folders imdb, mr, more and sentiment. With --validation a fifth of MR and CR `train`
and 2,500 reviews are held out and judged, with the tweets, and nothing is saved: choices were made
by that. `ablate` trains with and without the layer that reads, and judges the same sentences and
tweets."""

# The peers are not part of the development environment.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false
import csv
import re
import sys
import time
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
from harness import add_rows
from sentences import excluded, with_sentences

from hardmax.text.evaluation import calibration_error, summarize
from hardmax.text.explain import LENGTHS
from hardmax.text.shipped import load_model
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import JOINT
from hardmax.text.vocabulary import take_tokens
from hardmax.train import Settings, fit

CLASSES = np.array(["negative", "positive"])
HERE = Path(__file__).parent


def words_of(name: str) -> tuple[str, ...]:
    """The words of a list beside this file."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return tuple(" ".join(line for line in lines if not line.startswith("#")).split())


COMMON = {
    "ngram_range": (1, 3),
    "min_df": 3,
    "scaling": "evidence",
    "exclude": (*words_of("groups.txt"), "anonymous", "url"),
    "fit_intercept": False,
    "alpha": "0",
    "vectors": "english",
}
SETTINGS = {
    "sentiment-en": Settings(
        C=0.3,
        stop_words="english",
        max_features=25_000,
        gate=0.0,
        neutral_weight=30,
        **COMMON,
    ),
    "sentiment-en-best": Settings(
        C=0.3, stop_words=(), overlapping=True, gate=0.0, neutral_weight=50, **COMMON
    ),
}
# How much a text of each corpus counts, where it is from, and the rights to it as far as they are
# known.
CORPORA = {
    "imdb": (0.5, "IMDb reviews (Maas et al. 2011)", "unknown"),
    "mr": (1.0, "MR, sentences about films (Pang and Lee 2005)", "unknown"),
    "cr": (2.0, "CR, customer reviews (Hu and Liu 2004)", "unknown"),
    "mpqa": (0.5, "MPQA, phrases of news (Wiebe et al. 2005)", "unknown"),
    "uci_sentences": (
        3.0,
        "sentences about products, films, restaurants (Kotzias et al. 2015)",
        "CC BY 4.0",
    ),
    "rated_tweets": (2.0, "tweets (Hutto and Gilbert 2014)", "MIT"),
    "rated_news": (1.0, "sentences of editorials (Hutto and Gilbert 2014)", "MIT"),
    "rated_products": (2.0, "sentences of product reviews (Hutto and Gilbert 2014)", "MIT"),
    "restaurants": (1.0, "sentences about restaurants (MAMS, Jiang et al. 2019)", "Apache 2.0"),
    "sst_phrases": (
        0.4,
        "phrases of the Stanford Sentiment Treebank (Socher et al. 2013)",
        "unknown",
    ),
}
# How sure a phrase of the treebank is to be positive, by its label.
SURENESS = (0.0, 0.1, 0.5, 0.9, 1.0)
PURPOSES = {
    "sentiment-en": "English texts of any kind and length: is it praise or blame? With tokens that a "
    "person would give as reasons.",
    "sentiment-en-best": "English texts of any kind and length: is it praise or blame? As accurate "
    "as possible: tokens overlap, and function words vote, too.",
}
# By how much all votes are multiplied, so that probabilities suit held-out sentences and tweets:
# the texts of the mixture are mostly phrases.
SHARPER = {"sentiment-en": 1.1, "sentiment-en-best": 1.0}
USES = {
    "intended": "finding what people praise or blame in reviews, comments and surveys, where someone "
    "can look at an answer and at the words that it rests on",
    "excluded": "decisions about a person; judgements of people or groups; finding hate, threats or "
    "irony; news that is good or bad without praise or blame",
}
WORD_LISTS = {
    "groups.txt": "words for groups of people (benchmarks/groups.txt)",
    "groups_judging.txt": "words for groups that also judge: {}",
}
TEMPLATE = "My {} neighbour came to visit."
JUDGED = {
    "imdb": "test reviews of IMDb, once",
    "mr": "test sentences about films (MR), once",
    "cr": "test sentences of customer reviews (CR), once",
    "tweets_val": "tweets (also used to choose settings)",
    "sentences.csv": "plain sentences (also used to choose settings)",
    "plain_sentences.csv": "other plain sentences, once",
}
KEPT = ("training", "settings", LENGTHS)  # of what training says
COLUMNS = ("model", "corpus", "texts", "accuracy", "log_loss", "calibration_error", "undecided")
ABLATED = (
    "texts",
    "judged",
    "accuracy_without",
    "accuracy_with",
    "gain",
    "standard_error",
    "log_loss_percent",
)


@dataclass(frozen=True)
class Part:
    """Texts, whether each is positive, how much it counts, and what it belongs to."""

    texts: list[str]
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    def pick(self, rows: np.ndarray) -> "Part":
        columns = (column[rows] for column in (self.labels, self.weights, self.groups))
        return Part([self.texts[row] for row in rows], *columns)


def part_of(texts: list[str], labels: Any) -> Part:
    count = len(texts)
    return Part(texts, np.array(labels, dtype=bool), np.ones(count), np.arange(count))


def joined(text: str) -> str:
    """Of a text that comes as tokens: "does n't" is one word again."""
    text = re.sub(r"\s+n\s?'\s?t\b", "n't", text)
    return re.sub(r"\s+'\s?(s|re|ve|ll|d|m)\b", r"'\1", text).replace("can n't", "can't")


def path_of(data: Path, name: str, split: str = "train") -> Path:
    """The file of a corpus."""
    folders = {"imdb": "imdb", "mr": "mr", "cr": "more", "mpqa": "more"}
    file = f"imdb/{split}" if name == "imdb" else f"{folders.get(name, 'sentiment')}/{name}"
    return data / f"{file}.parquet"


def read(data: Path, name: str, split: str = "train") -> Part:
    """One split of a corpus."""
    table = parquet.read_table(path_of(data, name, split))
    if name in ("mr", "cr", "mpqa"):
        table = table.filter([each == split for each in table["split"].to_pylist()])
    texts = table["text"].to_pylist()
    is_positive = [str(label) in ("1", "positive") for label in table["label"].to_pylist()]
    return part_of(
        [joined(text) for text in texts] if name in ("mr", "cr", "mpqa") else texts, is_positive
    )


def read_phrases(data: Path) -> Part:
    """The phrases of the treebank; those that are not sure count for both classes."""
    table = parquet.read_table(data / "sentiment/sst_phrases.parquet").to_pydict()
    sure = np.array(SURENESS)[table["label"]]
    texts = [joined(text) for text in table["text"]]
    parts = []
    for label, weights in enumerate((1 - sure, sure)):
        rows = np.flatnonzero(weights > 0)
        labels = np.full(len(texts), label, dtype=bool)
        parts.append(Part(texts, labels, weights, np.array(table["tree"])).pick(rows))
    first, second = parts
    arrays = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("labels", "weights", "groups")
    )
    return Part([*first.texts, *second.texts], *arrays)


def plainly(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def without(parts: dict[str, Part], held_out: list[str]) -> dict[str, Part]:
    """Texts that share thirty characters with held-out ones go, phrases of the treebank with
    their trees."""
    known = {plainly(text) for text in held_out}
    pieces = {text[at : at + 30] for text in known for at in range(max(1, len(text) - 29))}
    left = {}
    for name, part in parts.items():
        plain = [plainly(text) for text in part.texts]
        shares = np.array(
            [
                text in known or any(text[at : at + 30] in pieces for at in range(len(text) - 29))
                for text in plain
            ]
        )
        if name == "sst_phrases":
            trees = np.unique(part.groups[[text in known for text in plain]])
            shares |= np.isin(part.groups, trees)
        left[name] = part if name == "imdb" else part.pick(np.flatnonzero(~shares))
    return left


def read_plain(path: Path) -> Part:
    """The sentences of a table that are positive or negative."""
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] in CLASSES.tolist()]
    return part_of([row["text"] for row in rows], [row["label"] == "positive" for row in rows])


def plain_files(data: Path) -> dict[str, Path]:
    here = Path(__file__).with_name("sentences.csv")
    return {
        "sentences.csv": here,
        "plain_sentences.csv": data / "sentiment" / "plain_sentences.csv",
    }


def learn(parts: dict[str, Part], name: str, **other: Any) -> TextModel:
    """A model of all parts, with its settings, or others."""
    settings = replace(SETTINGS[name], **other)
    if name == "sentiment-en":
        names, _ = excluded(parts["imdb"].texts)
        settings = replace(settings, exclude=(*settings.exclude, *sorted(names)))
    texts, labels, weights, groups = [], [], [], []
    for corpus, part in parts.items():
        texts += part.texts
        labels.append(part.labels)
        weights.append(part.weights * CORPORA[corpus][0])
        groups.append([f"{corpus} {group}" for group in part.groups.tolist()])
    truth = CLASSES[np.concatenate(labels).astype(int)]
    about = np.concatenate(weights), np.concatenate(groups)
    texts, truth, how = with_sentences(texts, truth, *about, seed=0)
    return finished(fit(texts, truth, settings, **how, progress=print), SHARPER[name])


def finished(model: TextModel, sharper: float) -> TextModel:
    """The model with larger votes, without those of judging words for groups outside phrases."""
    judging, surfaces = {*words_of("groups_judging.txt")}, model.vocabulary.surfaces
    kept = np.array([surface not in judging for surface in surfaces]).nonzero()[0]
    moved = (replace(each, shift=each.shift * sharper) for each in model.modifiers)
    tokens = {
        "vocabulary": take_tokens(model.vocabulary, kept),
        "weights": model.weights[kept] * sharper,
    }
    return replace(model, **tokens, modifiers=tuple(moved))


def judge(model: TextModel, part: Part) -> dict[str, float]:
    """Accuracy (undecided texts are wrong), log loss, calibration error, share of undecided
    texts."""
    chances, decided = model.predict_proba(part.texts), model.analyse(part.texts).decided
    truth = part.labels.astype(int)
    right = decided & (chances.argmax(axis=1) == truth)
    return {
        "accuracy": float(right.mean()),
        "log_loss": float(-np.log(np.maximum(chances[np.arange(len(truth)), truth], 1e-12)).mean()),
        "calibration_error": calibration_error(truth, chances),
        "undecided": float((~decided).mean()),
    }


def summarize_part(model: TextModel, part: Part, on: str) -> dict[str, Any]:
    """What the card says of a corpus; undecided texts are wrong."""
    chances, truth = model.predict_proba(part.texts), part.labels.astype(int)
    decided = model.analyse(part.texts).decided
    predicted = np.where(decided, chances.argmax(axis=1), 1 - truth)
    return summarize(on, truth, predicted, chances)


def read_all(data: Path, *, validation: bool) -> tuple[dict[str, Part], dict[str, Part]]:
    """What is learned, and what is held out for choices."""
    parts = {corpus: read(data, corpus) for corpus in CORPORA if corpus != "sst_phrases"}
    parts["sst_phrases"] = read_phrases(data)
    plain = {name: read_plain(path) for name, path in plain_files(data).items()}
    for name, part in parts.items():
        known = {text.strip().lower() for each in plain.values() for text in each.texts}
        keep = [text.strip().lower() not in known for text in part.texts]
        parts[name] = part.pick(np.flatnonzero(keep))
    if not validation:
        return parts, {}
    rng, judged = np.random.default_rng(5), dict[str, Part]()
    for corpus, share in (("imdb", 0.1), ("mr", 0.2), ("cr", 0.2)):
        held_out = rng.random(len(parts[corpus])) < share
        judged[corpus] = parts[corpus].pick(np.flatnonzero(held_out))
        parts[corpus] = parts[corpus].pick(np.flatnonzero(~held_out))
    parts = without(parts, judged["mr"].texts + judged["cr"].texts)
    judged["tweets_val"] = read(data, "tweets_val")
    return parts, judged | {"sentences.csv": plain["sentences.csv"]}


def train(data: Path, folder: Path, name: str, *, validation: bool) -> None:
    began = time.process_time()
    parts, judged = read_all(data, validation=validation)
    model = learn(parts, name)
    seconds = time.process_time() - began
    print(model, *model.modifiers, f"{seconds:.0f} s of processor time", sep="\n")
    model.save(folder)
    for corpus, part in judged.items():
        print(corpus, {key: round(value, 4) for key, value in judge(model, part).items()})
    for factor in np.arange(0.6, 2.0, 0.1).tolist() if validation else ():
        print(f"sharper by {factor:.1f}", judge(finished(model, factor), together(judged)))


def together(judged: dict[str, Part]) -> Part:
    """The held-out sentences and tweets."""
    short = [judged[corpus] for corpus in ("mr", "cr", "tweets_val")]
    texts = [text for part in short for text in part.texts]
    return part_of(texts, np.concatenate([part.labels for part in short]))


def describe_source(what: str, rights: str, path: Path, part: Part) -> dict[str, Any]:
    """What the card says of texts that a model is trained on: where they are from, and how many
    each class has."""
    amounts = [part.weights[part.labels == label].sum() for label in (False, True)]
    counts = [round(float(amount)) for amount in amounts]
    return {
        "what": what,
        "rights": rights,
        "file": path.name,
        "sha256": sha256(path.read_bytes()).hexdigest(),
        "classes": dict(zip(CLASSES.tolist(), counts, strict=True)),
    }


def describe_sources(data: Path) -> list[dict[str, Any]]:
    """The same of all corpora; unsure phrases count in part for both classes."""
    sources = []
    for name, (_, what, rights) in CORPORA.items():
        part = read_phrases(data) if name == "sst_phrases" else read(data, name)
        sources.append(describe_source(what, rights, path_of(data, name), part))
    return sources


def word_changes(model: TextModel) -> list[dict[str, Any]]:
    """What the card says of words for groups: by how much they change the logits of a sentence that
    judges nobody. ⋯ stands where the word was, as in `flip`."""
    without_word = model.analyse([TEMPLATE.format(JOINT)]).logits
    rows = []
    for name, what in WORD_LISTS.items():
        words = words_of(name)
        logits = model.analyse([TEMPLATE.format(word) for word in words]).logits
        changes = np.abs(logits - without_word).max(axis=1)
        row = {
            "sentence": TEMPLATE.format("…"),
            "words": what.format(", ".join(words)),
            "how many": len(words),
            "change the logit": int((changes > 0).sum()),
            "largest change": round(float(changes.max()), 4),
            "by": words[changes.argmax()] if changes.any() else "",
            "mean change": round(float(changes.mean()), 4),
        }
        rows.append(row)
    return rows


def word_lists() -> dict[str, Any]:
    """VADER and AFINN: from a text to a number that is positive, negative, or 0 for undecided."""
    from afinn import Afinn
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    vader, afinn = SentimentIntensityAnalyzer(), Afinn()
    return {"VADER": lambda text: vader.polarity_scores(text)["compound"], "AFINN": afinn.score}


def measure(data: Path, trained: Path, shipped: Path, name: str) -> None:
    model = load_model(trained)
    parts = {name: read(data, name, "test") for name in ("imdb", "mr", "cr")}
    parts |= {"tweets_val": read(data, "tweets_val")}
    parts |= {file: read_plain(path) for file, path in plain_files(data).items()}
    rows, measured = [], list[dict[str, Any]]()
    for corpus, part in parts.items():
        found = judge(model, part)
        rows.append((name, corpus, len(part), *(f"{found[cell]:.4f}" for cell in COLUMNS[3:])))
        measured.append(summarize_part(model, part, JUDGED[corpus]))
        for peer, score in word_lists().items() if name == "sentiment-en" else ():
            scores = np.array([score(text) for text in part.texts])
            right, undecided = (scores != 0) & ((scores > 0) == part.labels), scores == 0
            rows.append(
                (peer, corpus, len(part), f"{right.mean():.4f}", "", "", f"{undecided.mean():.4f}")
            )
    for row in rows:
        print(*row)
    about = {
        "purpose": PURPOSES[name],
        "uses": USES,
        "sources": describe_sources(data),
        "evaluations": measured,
        "words_for_groups": word_changes(model),
    }
    kept = {key: model.metrics[key] for key in KEPT}
    replace(model, name=name, metrics=about | kept).save(shipped / name)
    add_rows("sentiment", COLUMNS, rows)


def ablate(data: Path) -> None:
    """With the layer that reads, and without it, where grammar may vote if that is better."""
    parts, judged = read_all(data, validation=True)
    part = together(judged)
    rows = np.arange(len(part))

    def losses(**other: Any) -> tuple[np.ndarray, np.ndarray, TextModel]:
        model = learn(parts, "sentiment-en", **other)
        chances = np.clip(model.predict_proba(part.texts), 1e-9, 1.0)
        found = chances[rows, part.labels.astype(int)]
        return (found > 0.5).astype(float), -np.log(found), model

    hits, loss, model = losses()
    alike = losses(reading=False)[:2]
    with_grammar = losses(reading=False, stop_words=())[:2]
    best = max(alike, with_grammar, key=lambda found: found[0].mean())
    analysis = model.analyse(part.texts)
    owners = np.repeat(rows, np.diff(analysis.offsets))
    changed = (analysis.factors != 1) | (analysis.shifts != 0)
    modified = np.bincount(owners, changed, minlength=len(rows)) > 0
    table = []
    for others, (hits_without, loss_without) in (("", best), (", grammar silent", alike)):
        for name, chosen in (("all", rows >= 0), ("with a modifier", modified)):
            gain = (hits - hits_without)[chosen]
            percent = 100 * (loss[chosen].mean() / loss_without[chosen].mean() - 1)
            shares = (100 * each[chosen].mean() for each in (hits_without, hits))
            error = 100 * gain.std() / len(gain) ** 0.5
            numbers = (*shares, 100 * gain.mean(), error, percent)
            table.append((name + others, len(gain), *(f"{number:.2f}" for number in numbers)))
            print(*table[-1])
    add_rows("reading", ABLATED, table)


if __name__ == "__main__":
    command, data, *rest = sys.argv[1:]
    if command == "train":
        train(Path(data), Path(rest[0]), rest[1], validation="--validation" in rest)
    elif command == "measure":
        measure(Path(data), Path(rest[0]), Path(rest[1]), rest[2])
    else:
        ablate(Path(data))
