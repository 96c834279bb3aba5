"""The classifier: words, their vectors, the layers, and a line that decides. Prediction is explanation, to the bit."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.checking import a_text, file_path, instance, truth_value
from hardmax.compiling import is_asleep, letting_numba_sleep
from hardmax.dynamics import Dynamics
from hardmax.text.model.analysis import Analysis, analyse, join, weigh
from hardmax.text.model.checks import check_model, read_classes
from hardmax.text.model.prepared import Decoding, Prepared
from hardmax.text.tokens.encoding import Encoded
from hardmax.text.tokens.lexicon import lexicon_of
from hardmax.text.tokens.one_text import SHORT, Read, read_one
from hardmax.text.tokens.places import read_long
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary
from hardmax.tokens.tables import float_array

if TYPE_CHECKING:
    from hardmax.text.explain.explanation import Explanation


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TextModel:
    """A classifier of texts.

    The distinct known words of a text, with multiplicities (or once each), and the extra token, if there is one, are a
    cloud. It goes through `layers` layers of the dynamics; the mean of its points is `sum of mass_w z_w`, and

        logit = (bias + sum over words of mass_w <decoder, z_w>) / temperature.

    Two classes have one row of the decoder (a positive logit means the second class), more have a row each.

    >>> known = Vocabulary(["great", "awful", "film"], [[0, 9], [9, 0], [9, 9]])
    >>> model = TextModel(vocabulary=known, embeddings=[[2, 0], [-2, 0.5], [0.1, 0.1]], decoder=[[1, 0]], bias=[0.0],
    ...                   classes=["negative", "positive"], layers=8)
    >>> model.predict(["A great film.", "Awful, awful film!"]).tolist()
    ['positive', 'negative']
    """

    vocabulary: Vocabulary
    embeddings: np.ndarray  # (tokens, d) float32
    decoder: np.ndarray  # (rows, d) float32
    bias: np.ndarray  # (rows,) float32
    classes: tuple[str | int | float | bool, ...]
    layers: int
    alpha: Any = "1"
    metric: np.ndarray | None = None  # (d, d) float64, symmetric positive definite; None: the identity
    extra: np.ndarray | None = None  # (d,) float32
    temperature: float = 1.0
    counts: str = "all"  # a word counts as often as it is said; "presence": once
    tokeniser: Tokeniser = field(default_factory=Tokeniser)
    metrics: dict[str, Any] = field(default_factory=dict)
    """What was measured, for the model card: any plain data."""

    def __post_init__(self) -> None:
        for name, dtype in (("embeddings", "f4"), ("decoder", "f4"), ("bias", "f4"), ("extra", "f4"), ("metric", "f8")):
            value = getattr(self, name)
            if value is not None or name not in ("extra", "metric"):
                object.__setattr__(self, name, float_array(value, f"`{name}`", dtype))
        object.__setattr__(self, "classes", read_classes(self.classes))
        check_model(self)
        object.__setattr__(self, "alpha", str(self.dynamics.alpha))

    @property
    def dimension(self) -> int:
        return self.embeddings.shape[1]

    @cached_property
    def dynamics(self) -> Dynamics:
        """The parameters of a layer."""
        return Dynamics(self.alpha, self.metric)

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
        """The most probable class of each text."""
        return np.array(self.classes)[self.predict_proba(texts).argmax(axis=1)]

    def explain(self, text: str) -> "Explanation":
        """Why: the words that lead, and what every word adds to the logit."""
        from hardmax.text.explain.explaining import explain

        return explain(self, text)

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder, whole or not at all; a model that is there is replaced."""
        from hardmax.text.files.folder import write_model

        write_model(self, file_path(folder, "`folder`"))

    save_pretrained = save

    @classmethod
    def load(cls, folder: str | Path) -> "TextModel":
        """Read a model from a folder, with every check."""
        from hardmax.text.files.folder import read_model

        return read_model(file_path(folder, "`folder`"))

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path, *, download: bool = False) -> "TextModel":
        """A model from a folder, one that is shipped, or, with `download`, one from the Hub (`owner/name`)."""
        from hardmax.text.files.hub import from_pretrained

        return from_pretrained(file_path(name_or_path, "`name_or_path`"), truth_value(download, "`download`"))

    def push_to_hub(self, repository: str, *, private: bool = True) -> str:
        """Upload the model to the Hub as `owner/name`; gives back its address."""
        from hardmax.text.files.hub import push

        return push(self, a_text(repository, "`repository`"), truth_value(private, "`private`"))

    def __repr__(self) -> str:
        named = ", ".join(str(name) for name in self.classes[:4]) + (", …" if len(self.classes) > 4 else "")
        return (
            f"TextModel({len(self.vocabulary):,} tokens in {self.dimension} dimensions, {self.layers} layers, "
            f"alpha {self.alpha}, classes {named})"
        )

    def read(self, text: str) -> Read:
        """The known tokens of one text, and where they stand."""
        if len(a_text(text, "`text`")) <= SHORT:
            return read_one(text, self.vocabulary, self.tokeniser, self.extra is not None)
        return read_long(text, lexicon_of(self.vocabulary), self.tokeniser, self.extra is not None)

    def weigh(self, found: Encoded) -> Analysis:
        """All that follows from the known tokens of texts."""
        found = instance(found, Encoded, "`found`", "what `encode` or `read` found")
        return weigh(found, self.prepared, self.dynamics, self.layers)

    def _parts(self, texts: Any) -> Iterator[Analysis]:
        texts = read_texts(texts)
        if is_asleep() and len(texts.data) <= SHORT and (few := texts.strings()) is not None:
            with letting_numba_sleep():
                return iter([self.weigh(self.read(text).encoded) for text in few])
        lexicon = lexicon_of(self.vocabulary)
        return analyse(texts, lexicon, self.tokeniser, self.prepared, self.dynamics, self.layers)

    @cached_property
    def prepared(self) -> Prepared:
        """The model in the arrays that kernels read."""
        table = self.embeddings if self.extra is None else np.vstack([self.embeddings, self.extra])
        decoding = Decoding(self.decoder, self.bias, self.temperature)
        return Prepared.of(table, decoding, self.dynamics, self.layers, self.counts == "presence")
