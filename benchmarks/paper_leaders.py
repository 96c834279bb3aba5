"""Who leads in the test reviews of paper mode: the small documents from which `hardmax reproduce` draws.

python benchmarks/paper_leaders.py PREPARED.npz RESULTS IMDB-FOLDER AUTHORS.pth KEPT-FOLDER
    [--wordnet FOLDER] [--only-plane]

PREPARED.npz and RESULTS are what benchmarks/paper_mode.py wrote, IMDB-FOLDER has test.parquet, AUTHORS.pth are the
weights that the authors saved for d = 2. Texts and weights do not go into the documents, but numbers and single words,
and the vectors of those in two reviews of our own. It takes some minutes.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from hardmax._files import write_whole
from hardmax._format import EXTRA_TOKEN
from hardmax._validation import InputError
from hardmax.paper.authors.model import model_of, weigh_rows
from hardmax.paper.authors.weights import Weights, read_weights
from hardmax.paper.mode.plan import DIMENSIONS, Plan
from hardmax.paper.mode.split import split_rows
from hardmax.paper.results import histogram, reviews, table1
from hardmax.paper.results.counting import Counted, count_first_indices, count_leaders
from hardmax.paper.results.leading import leading_words
from hardmax.paper.results.texts import REVIEWS
from hardmax.paper.reviews.encoding import encode
from hardmax.paper.reviews.lemmas import find_lemmas, read_lemmas
from hardmax.paper.reviews.preparing import Kept, PaperReviews, words_of
from hardmax.paper.reviews.stored import read_reviews
from hardmax.text._analysis import Analysis
from hardmax.text.corpora import Corpus, read_corpus
from hardmax.text.shipped import load

OWN = ("imdb-2d", "imdb-2d-best")
MOST = 25  # words
WEIGHTS = {"last": "last", "best": "chosen"}  # what the table calls them, and the files


@dataclass(frozen=True)
class Named:
    """Weights, and what is said of them."""

    weights: Weights
    source: str
    name: str
    epoch: int | None


def say(line: str) -> None:
    print(line, flush=True)


def trained(results: Path, dimension: int) -> Iterator[Named]:
    folder = results / f"d{dimension}-paper"
    held, document = load_file(folder / "weights.safetensors"), json.loads((folder / "result.json").read_text())
    for name, own in WEIGHTS.items():
        weights = Weights(
            embeddings=held[f"{own}/embedding"],
            alpha=held[f"{own}/alpha"][0],
            decoder=held[f"{own}/decoder"],
            bias=held[f"{own}/bias"][0],
            layers=document["plan"]["layers"],
            sha256="",
        )
        yield Named(weights, table1.OURS, name, document[own]["epoch"])


def count_paper(named: Named, ids: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    weights, layers = named.weights, (table1.LAYERS, table1.READ)
    found = [weigh_rows(model_of(replace(weights, layers=layer)), ids) for layer in layers]
    padding, padded = found[0].ids == 0, (ids == 0).any(axis=1)
    leaders = count_leaders(found[0]).leaders
    indices = count_first_indices(weights, ids, layers)
    counted = [count_leaders(own).document(table1.LEADERS, layer) for own, layer in zip(found, layers, strict=True)]
    counted += [own.document(table1.FIRST_INDEX, layer) for own, layer in zip(indices, layers, strict=True)]
    return {
        "source": named.source,
        "dimension": weights.dimension,
        "weights": named.name,
        "epoch": named.epoch,
        "alpha": round(float(weights.alpha), 6),
        "layers": table1.LAYERS,
        "accuracy": round(float(((found[0].logits[:, 0] > 0) == labels).mean()), 6),
        "padding_leads": round(float((found[0].leader_since[padding] >= 0).mean()), 6),
        "mean_leaders": {
            "with_padding": round(float(leaders[padded].mean()), 4),
            "without_padding": round(float(leaders[~padded].mean()), 4),
        },
        "counted": counted,
    }


def count_own(name: str, corpus: Corpus) -> dict[str, Any]:
    model = load(name)
    found, layers = model.analyse(corpus.texts), int(model.layers)
    extra = len(model.vocabulary)
    words = Counted(found.active_per_text, np.zeros(len(found), dtype=np.int64))
    counted = [
        count_leaders(found, without=extra).document(table1.LEADERS, layers),
        count_leaders(found).document(table1.WITH_NEUTRAL, layers),
        words.document(table1.COUNTING, layers) | {"share_from_start": None},
    ]
    labels = np.array(corpus.labels) == 1
    return {
        "source": table1.OWN,
        "dimension": model.dimension,
        "weights": name,
        "epoch": None,
        "alpha": float(model.dynamics.alpha),
        "layers": layers,
        "accuracy": round(float(((found.logits[:, 0] > 0) == labels).mean()), 6),
        "counted": counted,
    }


def words_of_paper(source: str, weights: Weights, prepared: PaperReviews, rows: np.ndarray) -> dict[str, Any]:
    model, second = model_of(weights), prepared.labels[rows] == 1
    found = weigh_rows(model, prepared.ids[rows])
    vocabulary = prepared.vocabulary
    words = leading_words(model, found, second, vocabulary.words, MOST)
    unique = {vocabulary.words[row] for row in alone_in_count(vocabulary.counts)}
    for word in words:
        word["sure"] = source != histogram.AUTHORS or word["word"] in unique
    return {"source": source, "reviews": len(found), "correct": correct(found, second), "words": words}


def words_of_own(corpus: Corpus) -> dict[str, Any]:
    model, second = load(OWN[0]), np.array(corpus.labels) == 1
    found = model.analyse(corpus.texts)
    words = leading_words(model, found, second, (*model.vocabulary.surfaces, EXTRA_TOKEN), MOST)
    return {
        "source": histogram.OWN,
        "reviews": len(found),
        "correct": correct(found, second),
        "words": [word | {"sure": True} for word in words],
    }


def clouds_of(source: str, weights: Weights, prepared: PaperReviews, wordnet: Path | None) -> dict[str, Any]:
    """The vectors of the words of two reviews of our own, and of no others."""
    lemmas = read_lemmas(wordnet) if wordnet else find_lemmas()
    if lemmas is None:
        raise InputError("The words of reviews need WordNet for their lemmas: name its folder with --wordnet.")
    vocabulary, kept = prepared.vocabulary, Kept(lemmas)
    number, sure = vocabulary.ids(), set(alone_in_count(vocabulary.counts))
    found = []
    for name, text in REVIEWS.items():
        words = words_of(text, kept)
        unknown = [word for word in words if word not in number]
        say(f"{source}, {name}: {len(words)} words, not in the vocabulary: {', '.join(unknown) or 'none'}")
        known = [word for word in words if word in number]
        (ids,) = encode([known], vocabulary)
        rows, counts = np.unique(ids, return_counts=True)
        vectors = [[float(str(value)) for value in weights.embeddings[row]] for row in rows]
        found.append(
            {
                "words": [vocabulary.words[row] for row in rows],
                "rows": rows.tolist(),
                "counts": counts.tolist(),
                "vectors": vectors,
                "sure": [source != reviews.AUTHORS or row == 0 or row in sure for row in rows.tolist()],
            }
        )
    return {
        "source": source,
        "alpha": str(Fraction(float(weights.alpha))),
        "layers": weights.layers,
        "decoder": [float(str(value)) for value in weights.decoder],
        "bias": float(str(weights.bias)),
        "reviews": found,
    }


def alone_in_count(counts: Sequence[int]) -> list[int]:
    """The rows of words whose count no other has: these stand in the same row with everybody."""
    often = Counter(counts)
    return [row for row, count in enumerate(counts) if often[count] == 1]


def correct(found: Analysis, second: np.ndarray) -> int:
    return int(((found.logits[:, 0] > 0) == second).sum())


def write(folder: Path, name: str, document: dict[str, Any]) -> None:
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    write_whole(folder / f"{name}.json", data)
    say(f"{name}.json: {len(data):,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("prepared", "results", "imdb", "authors", "kept"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--wordnet", type=Path, help="the folder of index.noun and noun.exc, if it is not a usual one")
    parser.add_argument("--only-plane", action="store_true", help="what is about d = 2 alone: less than a minute")
    options = parser.parse_args()
    prepared = read_reviews(options.prepared)
    rows = split_rows(len(prepared.ids), Plan(dimension=2)).judging
    ids, labels = prepared.ids[rows], prepared.labels[rows] == 1
    corpus = read_corpus(options.imdb / "test.parquet", on_bad_rows="refuse")
    authors = Named(read_weights(options.authors), table1.AUTHORS, "last", None)
    models = [named for d in DIMENSIONS for named in trained(options.results, d)]
    in_plane = {histogram.OURS: models[0].weights, histogram.AUTHORS: authors.weights}
    clouds = [clouds_of(source, weights, prepared, options.wordnet) for source, weights in in_plane.items()]
    write(options.kept, reviews.DOCUMENT, {"models": clouds})
    words = [words_of_paper(source, weights, prepared, rows) for source, weights in in_plane.items()]
    write(options.kept, histogram.DOCUMENT, {"models": [*words, words_of_own(corpus)]})
    if options.only_plane:
        return
    counted = []
    for named in (*models, authors):
        say(f"leaders: {named.source}, d = {named.weights.dimension}, {named.name}")
        counted.append(count_paper(named, ids, labels))
    counted += [count_own(name, corpus) for name in OWN]
    document = {
        "reviews": len(ids),
        "with_padding": int((ids == 0).any(axis=1).sum()),
        "own_reviews": len(corpus.texts),
    }
    write(options.kept, table1.DOCUMENT, document | {"models": counted})


if __name__ == "__main__":
    main()
