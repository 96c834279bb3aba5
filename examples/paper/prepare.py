"""Turn the 50,000 IMDb reviews into what the paper's classifier is trained on: rows of 128 word
numbers.

    python examples/paper/prepare.py IMDB-FOLDER ids.npz [--head authors_first_2000.parquet]
    [--wordnet FOLDER]

The folder holds `train.parquet` and `test.parquet` with the columns `text` and `label`. Every step
is the authors': capitals stay, the stop words (with *not* and *no* among them) are removed, nouns
become singular by WordNet, the vocabulary is counted over training and test reviews together, and
padding is word 0. On the full data this gives the 121,296 rows of the embedding that the authors
saved.

The authors read the reviews in the order of a public file. `--head` names a table (`part`, `row`)
of its first reviews; all others follow in random order. Words that occur equally often are numbered
in order of appearance, so the head also decides which row of the authors' embedding most words
have."""

import argparse
import re
import string
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

LENGTH = 128
PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))
ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("ves", "f"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
)
ENDINGS += (("men", "man"), ("ies", "y"))
# The only rules of the Penn Treebank tokenizer that apply once punctuation is gone.
CONTRACTIONS = re.compile(
    r"\b(?:can(?=not\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)|wan(?=na\s))", re.I
)
# NLTK's 179 English stop words. They are lower case, so `The` and `I` stay.
STOP_WORDS = """
i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves he him
his himself she she's her hers herself it it's its itself they them their theirs themselves what which who
what this that that'll these those am is are was were be been being have has had having do does did doing a
an the and but if or because as until while of at by for with about against between into through during
before after above below to from up down in out on off over under again further then once here there when
where why how all any both each few more most other some such no nor not only own same so than too very s t
can will just don don't should should've now d ll m o re ve y ain aren aren't couldn couldn't didn didn't
doesn doesn't hadn hadn't hasn hasn't haven haven't isn isn't ma mightn mightn't mustn mustn't needn needn't
shan shan't shouldn shouldn't wasn wasn't weren weren't won won't wouldn wouldn't
"""


def clean(text: str) -> str:
    """Remove links, tags, punctuation, digits and characters beyond ASCII; shorten runs of a
    character to two."""
    text = re.sub(r"<.*?>", "", re.sub(r"https?://\S+|www\.\S+", "", text))
    # Any white space is folded, but only where two characters of it meet: a lone U+00A0 is removed
    # below with the other non-ASCII characters, which joins its neighbours. This changes 238 words
    # of IMDb.
    text = re.sub(r"\s{2,}", " ", re.sub(r"[.,!?-]", r" \g<0> ", text))
    text = re.sub(r" {2,}", " ", re.sub(r"\d+", "", text.translate(PUNCTUATION)))
    return re.sub(r"(.)\1{2,}", r"\1\1", text.encode("ascii", "ignore").decode("ascii"))


class Lemmatizer:
    """Noun lemmas from WordNet's files `index.noun` and `noun.exc`: the shortest noun a word can be
    a form of."""

    def __init__(self, folder: Path):
        index = (folder / "index.noun").read_text("utf-8").splitlines()
        exceptions = (folder / "noun.exc").read_text("utf-8").splitlines()
        self.nouns = {
            line.split(" ", 1)[0] for line in index if not line.startswith(" ")
        }  # indented: the licence
        self.irregular = {form: lemmas for form, *lemmas in map(str.split, exceptions)}

    def __call__(self, word: str) -> str:
        """The lemma, or the word itself."""
        if word in self.irregular:
            return self._shortest([word, *self.irregular[word]]) or word
        forms = _singular([word])
        found = self._shortest([word, *forms])
        while forms and not found:
            forms = _singular(forms)
            found = self._shortest(forms)
        return found or word

    def _shortest(self, forms: list[str]) -> str:
        return min((form for form in forms if form in self.nouns), key=len, default="")


def _singular(forms: Iterable[str]) -> list[str]:
    return [form[: -len(old)] + new for form in forms for old, new in ENDINGS if form.endswith(old)]


def words_of(texts: Iterable[str], lemmatize) -> list[list[str]]:
    """The words of each review: cleaned, split, without stop words before and after they become
    lemmas."""
    stop_words = set(STOP_WORDS.split())

    @cache
    def kept(word: str) -> str:
        lemma = "" if word in stop_words else lemmatize(word)
        return "" if lemma in stop_words else lemma

    split = (CONTRACTIONS.sub(r"\g<0> ", clean(text) + " ").split() for text in texts)
    return [[lemma for word in words if (lemma := kept(word))] for words in split]


def encode(reviews: list[list[str]]) -> tuple[np.ndarray, list[str], np.ndarray]:
    """The reviews as (reviews, 128) word numbers, the words by number, and how often each occurs; 0
    is padding."""
    counts = Counter(word for review in reviews for word in review)
    ranked = [("", 0), *counts.most_common()]  # equally frequent words in order of appearance
    number = {word: place for place, (word, _) in enumerate(ranked)}
    ids = np.zeros((len(reviews), LENGTH), dtype=np.int32)
    for row, review in zip(ids, reviews, strict=True):
        row[: len(review)] = [number[word] for word in review[:LENGTH]]
    return ids, [word for word, _ in ranked], np.array([count for _, count in ranked])


def load_imdb(
    folder: Path, head: Path | None = None, seed: int = 0
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Texts, labels (1 is positive) and places in (train, test), the reviews of `head` first."""
    import pyarrow.parquet as parquet

    parts = [
        parquet.read_table(folder / f"{part}.parquet", columns=["text", "label"])
        for part in ("train", "test")
    ]
    texts = [text for part in parts for text in part["text"].to_pylist()]
    labels = np.concatenate([part["label"].to_numpy() for part in parts]).astype(np.int8)
    order = np.random.default_rng(seed).permutation(len(texts))
    if head is not None:
        table = parquet.read_table(head).to_pydict()
        first = [
            row + (len(parts[0]) if part == "test" else 0)
            for part, row in zip(table["part"], table["row"], strict=True)
        ]
        order = np.concatenate([first, order[~np.isin(order, first)]])
    return [texts[place] for place in order], labels[order], order


def prepare(folder: Path, out: Path, head: Path | None, wordnet: Path) -> None:
    """Read the reviews and write `ids`, `labels`, `order`, `words` and `counts` to one compressed
    file."""
    texts, labels, order = load_imdb(folder, head)
    ids, words, counts = encode(words_of(texts, Lemmatizer(wordnet)))
    joined = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    np.savez_compressed(
        out,
        ids=ids,
        labels=labels,
        order=order.astype(np.int32),
        words=joined,
        counts=counts,
        rows=len(words),
    )
    print(f"{len(texts):,} reviews, {len(words):,} rows: {', '.join(words[1:7])}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--head", type=Path)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    prepare(**vars(parser.parse_args()))
