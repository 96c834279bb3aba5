"""What a model of texts is and computes: words, their vectors, the layers, and a line that decides."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hardmax._compile import interpreted
from hardmax._tokens.batches import float_array
from hardmax._validation import InputError, check_bool, check_instance, check_int, check_real, check_str, shorten
from hardmax.dynamics import Dynamics
from hardmax.text.model.analysis import Analysis, analyse, find_words, join, weigh
from hardmax.text.model.checks import check_finite, check_shape, read_classes, read_layers
from hardmax.text.model.prepared import Decoding, Prepared, Words
from hardmax.text.tokens.encoding import Encoded
from hardmax.text.tokens.kernels.encoding import encode_texts
from hardmax.text.tokens.kernels.reading import read_text
from hardmax.text.tokens.lexicon import lexicon_of
from hardmax.text.tokens.one_text import SHORT, Read, read_one
from hardmax.text.tokens.places import read_long
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Model:
    """The parameters of a classifier, checked, and its predictions. People have a `TextModel`, which also explains
    itself and is written to folders; what does that works with a `Model`."""

    vocabulary: Vocabulary
    embeddings: np.ndarray  # (tokens, d) float32
    decoder: np.ndarray  # (rows, d) float32
    bias: np.ndarray  # (rows,) float32
    classes: tuple[str | int | float | bool, ...]
    layers: int | float  # math.inf: every word goes all the way to its leader
    alpha: Any = "1"
    metric: np.ndarray | None = None  # (d, d) float64, symmetric positive definite; None: the identity
    extra: np.ndarray | None = None  # (d,) float32
    gate: float | None = None
    """A token is active if its strength, its largest |coordinate|, is more than this share of the largest in its text;
    the others start at extra / 2 and follow the extra token. None: all tokens start at their embeddings."""
    neutral_weight: int = 1
    """How many words the extra token weighs in the mean: short texts get modest probabilities."""
    temperature: float = 1.0
    binary: bool = False  # a word counts once, however often it is said; else as often as that
    tokeniser: Tokeniser = field(default_factory=Tokeniser)
    metrics: dict[str, Any] = field(default_factory=dict)
    """What was measured, for the model card: any plain data."""
    name: str = ""
    """How pages call it: the name of the folder that it was loaded from."""

    def __post_init__(self) -> None:
        for name, dtype in (("embeddings", "f4"), ("decoder", "f4"), ("bias", "f4"), ("extra", "f4"), ("metric", "f8")):
            value = getattr(self, name)
            if value is not None or name not in ("extra", "metric"):
                array = float_array(value, f"`{name}`", dtype).copy()
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        object.__setattr__(self, "classes", read_classes(self.classes))
        self._check()
        object.__setattr__(self, "alpha", str(self.dynamics.alpha))

    @property
    def dimension(self) -> int:
        return self.embeddings.shape[1]

    @cached_property
    def dynamics(self) -> Dynamics:
        """The parameters of a layer."""
        return Dynamics(self.alpha, self.metric).check_definite()

    @property
    def has_neutral(self) -> bool:
        """Whether there is a neutral leader: an extra token of which the decoder says nothing (a single row: exactly 0;
        several: the same for every class). A word that follows it adds nothing to the answer; the others count."""
        return self.prepared.has_neutral

    def analyse(self, texts: Any) -> Analysis:
        """All that is found in the texts: known words, masses, leaders, logits, probabilities."""
        return join(list(self._parts(texts)), len(self.bias))

    def decision_function(self, texts: Any) -> np.ndarray:
        """The logits: (texts,) for two classes, positive for the second; else (texts, classes)."""
        logits = np.concatenate([np.empty((0, len(self.bias))), *(part.logits for part in self._parts(texts))])
        return logits[:, 0] if len(self.bias) == 1 else logits

    def predict_proba(self, texts: Any) -> np.ndarray:
        """The probabilities of the classes, (texts, classes). Those of a text depend on that text alone, to the bit."""
        parts = [part.probabilities for part in self._parts(texts)]
        return np.concatenate([np.empty((0, len(self.classes))), *parts])

    def predict(self, texts: Any) -> np.ndarray:
        """The most probable class of each text; where it is undecided, the most frequent class."""
        return np.array(self.classes)[self.class_numbers(texts)]

    def class_numbers(self, texts: Any) -> np.ndarray:
        """The same as places in `classes`."""
        return np.concatenate([np.empty(0, np.int64), *(self.predicted(part) for part in self._parts(texts))])

    def predicted(self, found: Analysis) -> np.ndarray:
        """The same of texts that are analysed already."""
        usual = int(self.vocabulary.counts.sum(axis=0).argmax()) if len(self.vocabulary) else 0
        return np.where(found.decided, found.probabilities.argmax(axis=1), usual)

    def decided(self, texts: Any) -> np.ndarray:
        """Whether each text is decided: one of its tokens is active, and one class is ahead of all others."""
        return np.concatenate([np.empty(0, bool), *(part.decided for part in self._parts(texts))])

    def read(self, text: str) -> Read:
        """The known tokens of one text, and where they stand."""
        with interpreted(read_text, if_small=len(check_str(text, "`text`")) <= SHORT) as in_python:
            if in_python:
                return read_one(text, self.vocabulary, self.tokeniser, self.extra is not None)
        return read_long(text, lexicon_of(self.vocabulary, self.tokeniser), self.tokeniser, self.extra is not None)

    def weigh(self, found: Encoded) -> Analysis:
        """All that follows from the known tokens of texts."""
        found = check_instance(found, Encoded, "`found`", "what `encode` or `read` found")
        return weigh(found, self.prepared, self.dynamics, self.layers)

    def weigh_words(self, found: Encoded) -> tuple[Analysis, np.ndarray]:
        """The same, and where each word ends, (words, d)."""
        ends = np.empty((len(found.ids), self.dimension))
        return weigh(found, self.prepared, self.dynamics, self.layers, ends), ends

    def weigh_texts(self, texts: Any) -> Iterator[tuple[Analysis, np.ndarray]]:
        """All that follows from many texts, a few megabytes at a time, and what each word says where it ends,
        (words, rows): <decoder, z(layers)> / temperature."""
        lexicon = lexicon_of(self.vocabulary, self.tokeniser)
        for found in find_words(read_texts(texts), lexicon, self.tokeniser, self.prepared):
            analysis, ends = self.weigh_words(found)
            yield analysis, self.prepared.decoding.says(ends)

    def _parts(self, texts: Any) -> Iterator[Analysis]:
        texts = read_texts(texts)
        with interpreted(encode_texts, if_small=len(texts.data) <= SHORT) as in_python:
            if in_python and (few := texts.strings()) is not None:
                return iter([self.weigh(self.read(text).encoded) for text in few])
        lexicon = lexicon_of(self.vocabulary, self.tokeniser)
        return analyse(texts, lexicon, self.tokeniser, self.prepared, self.dynamics, self.layers)

    @cached_property
    def prepared(self) -> Prepared:
        """The model in the arrays that kernels read."""
        vectors = Words(self.embeddings, self.extra, self.binary, self.gate, self.neutral_weight)
        return Prepared.of(vectors, Decoding(self.decoder, self.bias, self.temperature), self.dynamics, self.layers)

    def _check(self) -> None:
        """Shapes, finiteness and sizes; raises InputError with one line."""
        check_instance(self.vocabulary, Vocabulary, "`vocabulary`", "a Vocabulary")
        check_instance(self.tokeniser, Tokeniser, "`tokeniser`", "a Tokeniser, such as Tokeniser()")
        check_instance(self.metrics, dict, "`metrics`", "a dict of plain data")
        tokens, classes = len(self.vocabulary), len(self.classes)
        if self.embeddings.ndim != 2 or len(self.embeddings) != tokens or self.embeddings.shape[1] < 1:
            shape = f"({tokens}, d), a row for each token of the vocabulary"
            raise InputError(f"`embeddings` has shape {shorten(self.embeddings.shape)}: expected {shape}.")
        d, rows = self.embeddings.shape[1], 1 if classes == 2 else classes
        check_shape("decoder", self.decoder, (rows, d))
        check_shape("bias", self.bias, (rows,))
        check_shape("extra", self.extra, (d,))
        check_shape("metric", self.metric, (d, d))
        for name in ("embeddings", "decoder", "bias", "extra", "metric"):
            check_finite(name, getattr(self, name))
        if self.vocabulary.counts.shape[1] != classes:
            counted = self.vocabulary.counts.shape[1]
            raise InputError(f"`vocabulary` counts {counted} classes: expected {classes}, as in `classes`.")
        object.__setattr__(self, "temperature", check_real(self.temperature, "`temperature`", above=0))
        check_bool(self.binary, "`binary`")
        object.__setattr__(self, "neutral_weight", check_int(self.neutral_weight, "`neutral_weight`", at_least=1))
        if self.gate is not None:
            object.__setattr__(self, "gate", check_real(self.gate, "`gate`", at_least=0))
            if self.gate >= 1:
                raise InputError(f"`gate` is {self.gate:g}, and no token would be active: expected less than 1.")
        if self.extra is None and (self.gate is not None or self.neutral_weight != 1):
            raise InputError("`gate` and `neutral_weight` need an extra token: give `extra`.")
        object.__setattr__(self, "layers", read_layers(self.layers))
        self.dynamics.check_dimension(d)  # alpha and the metric are checked when it is made
