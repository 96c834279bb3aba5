"""The texts of a training run, in memory or in files of a temporary folder, chunk by chunk."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path

import numpy as np

from hardmax.text._texts import TextBytes
from hardmax.text.encoding import NOT_READ, encode
from hardmax.text.reading import Reader
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary
from hardmax.train.bag import Bags, LabelledTexts, SpilledArrays, to_matrix
from hardmax.train.vectors import Vectors

_SENTENCES, _SHORTEST = 3, 15  # of a text, and the bytes of one
_LATIN_ENDS = re.compile(rb"\s(?<=[.!?]\s)\s*|<br ?/?>|\n+")
_WIDE_ENDS = re.compile("[。！？]".encode())
_SENTENCE_ENDS = re.compile(
    rb"%s|(?<=%s)|(?<=%s)|(?<=%s)" % (_LATIN_ENDS.pattern, *map(str.encode, "。！？"))
)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Texts with some sentences of each after them, in memory or in a file."""

    stored: SpilledArrays
    """The bytes of all, their offsets, and the text that each comes from, itself for a text."""
    labels: np.ndarray
    """The class of each text."""
    lengths: np.ndarray
    """The number of characters of each text."""

    @classmethod
    def of(
        cls,
        texts: TextBytes,
        labels: np.ndarray,
        *,
        rng: np.random.Generator | None,
        folder: Path | None = None,
    ) -> "Chunk":
        """Texts, and sentences that are drawn from them if there is a generator."""
        data, sentences, owners = texts.data.tobytes(), [], []
        bounds = pairwise(texts.offsets.tolist())
        for text, (first, last) in enumerate(bounds if rng is not None else ()):
            candidates = [s for s in cut_sentences(data[first:last]) if len(s) >= _SHORTEST]
            if rng is not None and len(candidates) > 1:  # else there is nothing new
                chosen = rng.permutation(len(candidates))[:_SENTENCES].tolist()
                sentences += [candidates[number] for number in chosen]
                owners += [text] * len(chosen)
        start, end = texts.offsets[[0, -1]]
        whole, added = texts.data[start:end], np.frombuffer(b"".join(sentences), dtype=np.uint8)
        ends = len(whole) + np.cumsum([len(s) for s in sentences], dtype=int)
        offsets = np.concatenate([texts.offsets - start, ends])
        owner = np.concatenate([np.arange(len(texts)), owners]).astype(int)
        stored = SpilledArrays(folder, np.concatenate([whole, added]), offsets, owner)
        return cls(stored, labels, _count_characters(texts))

    def read(self) -> tuple[TextBytes, np.ndarray]:
        """The texts and sentences, and the text that each comes from."""
        data, offsets, owners = self.stored.load()
        return TextBytes(data, offsets), owners


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingCorpus(LabelledTexts):
    """All texts, their classes and weights."""

    chunks: list[Chunk]
    vectors: Vectors | None = None

    def __iter__(self) -> Iterator[tuple[TextBytes, np.ndarray]]:
        """The texts of each chunk, without the sentences, and their classes."""
        for chunk in self.chunks:
            yield chunk.read()[0].part(0, len(chunk.labels)), chunk.labels

    def encode(
        self, vocabulary: Vocabulary, tokeniser: Tokeniser, reader: Reader = NOT_READ
    ) -> Bags:
        """The texts and sentences with the tokens of a vocabulary, as modifiers change them."""
        stored, first = [], 0
        for chunk in self.chunks:
            texts, owners = chunk.read()
            matrix = to_matrix(encode(texts, vocabulary, tokeniser, reader), len(vocabulary))
            whole = len(chunk.labels)
            for is_whole, rows in ((True, slice(0, whole)), (False, slice(whole, None))):
                part, of_text = matrix[rows], owners[rows] + first
                if len(of_text):
                    arrays = part.data, part.indices, part.indptr, of_text
                    stored.append((is_whole, SpilledArrays(self.folder, *arrays)))
            first += whole
        about = {part.name: getattr(self, part.name) for part in fields(LabelledTexts)}
        vectors = self.vectors and self.vectors.of(vocabulary)
        return Bags(stored=stored, tokens=len(vocabulary), vectors=vectors, **about)


def cut_sentences(text: bytes) -> list[bytes]:
    """The sentences of a text, also of one without spaces."""
    return (_SENTENCE_ENDS if _WIDE_ENDS.search(text) else _LATIN_ENDS).split(text)


def _count_characters(texts: TextBytes) -> np.ndarray:
    starts = (texts.data & 0xC0) != 0x80  # other bytes continue a character
    before = np.append(0, np.cumsum(starts))
    return np.diff(before[texts.offsets])
