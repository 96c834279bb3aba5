"""How a model is trained, as data: everything that decides the weights, besides the texts, is in a recipe."""

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from hardmax._validation import InputError, check_bool, check_choice, shorten

LARGEST, LARGEST_SEED = 10**9, 2**63 - 1
INFINITE = "inf"  # infinitely many layers, in files and on the command line
INITS = ("noise", "odds", "linear", "bag")
# What entries were called in version 0.1, whose files still load.
OLD_NAMES = {
    "batch_size": "batch",
    "binary": "counts",
    "learning_rate": "rate",
    "alpha_learning_rate": "alpha_rate",
    "decoder_learning_rate": "decoder_rate",
    "weight_decay": "decay",
    "init_std": "start",
    "init": "start_from",
    "decoder_norm": "decoder",
    "validation_fraction": "validation",
    "max_words": "words",
    "max_phrases": "phrases",
    "min_df": "fewest_texts",
    "max_tokens": "tokens",
    "bag_of_words_epochs": "bag_epochs",
    "alpha_warmup_epochs": "rise_epochs",
    "min_log_odds": "least_odds",
}
_MODEL = ("dimension", "layers", "alpha")
# What version 0.1 knew nothing of, and what it did: a recipe in its words means that.
_SINCE = {
    "neutral": 0.0,
    "bias": True,
    "marks": False,
    "overlapping": True,
    "counting": 1.0,
    "sparsity": 0.0,
    "relaxed_epochs": 0,
    "evidence": 0.0,
    "bag_strength": 30.0,
    "refit": False,
}
_COUNTS = ("presence", "all")  # what `binary` was told by then


@dataclass(frozen=True, kw_only=True, repr=False)
class Recipe:
    """A recipe. The stages: choose tokens; train a bag of words (alpha 0); raise alpha; go on with alpha as it is.

    >>> Recipe(dimension=3).alpha_at(epoch=0.0), Recipe().alpha_at(epoch=99.0)
    (0.0, 1.0)
    >>> Recipe.from_json(Recipe(epochs=5).to_json()) == Recipe(epochs=5)
    True
    """

    # the model
    dimension: int | None = None  # None: as many axes as the classes need
    layers: int | float = 8  # math.inf: all of them
    alpha: float = 1.0
    extra: bool = False  # one learned token more in every text
    neutral: float = 0.0  # the height of words on the last axis, where the neutral leader is at 1; 0: there is none
    binary: bool = True  # a word said twice counts once, or twice
    # the vocabulary
    marks: bool = False  # every ! and ? is a token
    overlapping: bool = True  # a word may stand in several tokens at once, or each place of a text belongs to one
    longest_phrase: int = 3
    max_words: int = 60_000  # candidates, by frequency
    max_phrases: int = 700_000  # candidates, by how unevenly the classes use them
    min_df: int = 2  # candidates that fewer training texts have are left out; three words need one more
    max_tokens: int = 60_000  # kept, by their say in a linear model
    thrift: float = 3.0  # twice the tokens must tell so many more texts apart, or are left out; 0: none is left out
    min_log_odds: float = 0.0  # tokens with log-odds closer to zero are left out
    smoothing: float = 1.0  # texts added to every count in log-odds: the larger, the less rare tokens say
    strength: float = 0.3  # of the linear model: the larger, the closer to the data
    counting: float = 1.0  # the share of the words of texts that are kept: those that say most in a bag of words
    # the training
    epochs: int = 12
    bag_of_words_epochs: float = 3.0  # with alpha 0
    alpha_warmup_epochs: float = 3.0  # in which alpha rises to what it shall be
    batch_size: int = 256
    learning_rate: float = 0.02  # of Adam, warmed up over one epoch, then falling as a cosine
    alpha_learning_rate: float = (
        0.0  # as a share of `learning_rate`, of alpha's logarithm once it has risen; 0: alpha is given
    )
    bag_strength: float = 30.0  # of the bag of words that training starts from, if it does: the larger, the closer
    decoder_learning_rate: float = 0.0  # as a share of `learning_rate`; a fixed decoder loses nothing with two classes
    decoder_norm: float = 8.0  # the length of its rows at the start
    init_std: float = 0.1  # the spread of embeddings at the start
    bias: bool = True  # what is said without any word is learned, or is nothing
    # From noise, log-odds, weights in the linear model, or a bag of words solved to its end (decoder and bias, too).
    init: Literal["noise", "odds", "linear", "bag"] = "noise"
    word_dropout: float = 0.5
    norm_penalty: float = 0.0  # on the mean square of the embeddings in a text
    weight_decay: float = 0.0  # Adam's weight decay of embeddings
    sparsity: float = 0.0  # penalty on what the words of a text say, in the mean: what is not worth it says nothing
    relaxed_epochs: int = 0  # the last ones, without that penalty; words that can count nowhere are silent by then
    evidence: float = 0.0  # the share that evidence has in the lengths of words, and so in who leads, from then on
    # what is held out
    validation_fraction: float = 0.1  # share of the texts, to calibrate, so that probabilities are honest
    refit: bool = False  # once that is done, train again on all texts; what was measured is of the first training
    patience: int = 0  # epochs without a smaller validation loss before training stops; 0: never stop early
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) is not None or name not in _LEFT_OPEN:
                _check_number(name, getattr(self, name), least)
        check_choice(self.init, INITS, "`init`")
        for name in ("extra", "binary", "marks", "overlapping", "bias", "refit"):
            check_bool(getattr(self, name), f"`{name}`")
        for name in ("word_dropout", "validation_fraction"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"`{name}` must be a share from 0 up to, but not including, 1.", argument=name)
        for name in ("evidence", "counting"):
            if getattr(self, name) > 1:
                raise InputError(f"`{name}` must be a share of at most 1, not {getattr(self, name)}.", argument=name)
        if self.neutral >= 1:
            raise InputError("`neutral` must be a height from 0 up to, but not including, 1.", argument="neutral")
        if self.neutral and self.extra:
            message = "`neutral` and `extra` both ask for the one token more in every text: give one of them."
            raise InputError(message, argument="neutral", also=("`extra`",))
        if self.neutral and self.dimension == 1:
            message = "`dimension` must be at least 2 where there is a neutral leader, which has an axis of its own."
            raise InputError(message, argument="dimension", also=("`neutral`",))
        if self.evidence and not self.relaxed_epochs:
            message = "`evidence` has its say from the relaxed epochs on: set `relaxed_epochs` to 1 or more."
            raise InputError(message, argument="evidence", also=("`relaxed_epochs`",))
        if self.refit and self.patience:
            message = "`refit` trains as long as the first time: leave `patience` at 0, or `refit` out."
            raise InputError(message, argument="refit", also=("`patience`",))
        if self.patience and not self.validation_fraction:
            message = "`patience` needs texts to judge by: set `validation_fraction` to a share such as 0.1."
            raise InputError(message, argument="patience", also=("`validation_fraction`",))

    def __repr__(self) -> str:
        # Of thirty entries those that tell what comes out, and those that are not as usual.
        entries = {each.name: getattr(self, each.name) for each in fields(self)}
        usual = {each.name for each in fields(self) if entries[each.name] == each.default}
        told = [name for name, value in entries.items() if name not in usual or (name in _MODEL and value is not None)]
        return f"Recipe({', '.join(f'{name}={entries[name]!r}' for name in told)})"

    def alpha_at(self, epoch: float) -> float:
        """The step at a moment of the training, in epochs; from the end of the rise on it may be learned."""
        since = epoch - self.bag_of_words_epochs
        if since < 0:
            return 0.0
        return self.alpha * min(1.0, since / self.alpha_warmup_epochs if self.alpha_warmup_epochs else 1.0)

    def has_risen(self, epoch: float) -> bool:
        """Whether alpha has risen to what is given."""
        return self.alpha_at(epoch) >= self.alpha

    def to_dict(self) -> dict[str, Any]:
        """The entries by name, as JSON can hold them."""
        return asdict(self) | ({"layers": INFINITE} if self.layers == math.inf else {})

    def to_json(self) -> str:
        """The recipe as a JSON object."""
        return json.dumps(self.to_dict(), indent=2)

    def fingerprint(self) -> str:
        """The recipe as version 0.1 wrote it: what a checkpoint is known by."""
        return json.dumps(self._in_old_words(), indent=2)

    def _in_old_words(self) -> dict[str, Any]:
        told = {OLD_NAMES.get(name, name): value for name, value in self.to_dict().items()}
        told = {name: value for name, value in told.items() if name not in _SINCE or value != _SINCE[name]}
        if self.dimension is None:
            told["dimension"] = 2  # which was never left open
        return told | {"counts": "presence" if self.binary else "all"}

    @classmethod
    def from_json(cls, text: str) -> "Recipe":
        """A recipe from a JSON object; what it does not mention is as usual."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise InputError(f"The recipe is not JSON: {error}. Write it with `to_json`.") from None
        return cls.from_dict(given)

    @classmethod
    def from_dict(cls, given: Any) -> "Recipe":
        """A recipe from its entries by name; the names of version 0.1 are understood."""
        names = [field.name for field in fields(cls)]
        if isinstance(given, dict):
            new_names = {old: new for new, old in OLD_NAMES.items()}
            if any(name in new_names for name in given):
                given = _SINCE | given
            if given.get("layers") == INFINITE:
                given = given | {"layers": math.inf}
            given = {new_names.get(name, name): value for name, value in given.items()}
            if given.get("binary") in _COUNTS:
                given["binary"] = given["binary"] == "presence"
        unknown = [name for name in given if name not in names] if isinstance(given, dict) else [given]
        if unknown:
            raise InputError(f"The recipe has {shorten(unknown[0])}: expected some of {', '.join(names)}.")
        return cls(**given)


# The smallest value of every number; those whose smallest is a whole number must be whole.
_LEAST: dict[str, int | float] = {
    "dimension": 1,
    "layers": 0,
    "alpha": 1e-6,
    "neutral": 0.0,
    "longest_phrase": 1,
    "max_words": 1,
    "max_phrases": 0,
    "min_df": 1,
    "max_tokens": 1,
    "thrift": 0.0,
    "min_log_odds": 0.0,
    "smoothing": 1e-9,
    "strength": 1e-9,
    "counting": 1e-6,
    "bag_strength": 1e-9,
    "epochs": 1,
    "bag_of_words_epochs": 0.0,
    "alpha_warmup_epochs": 0.0,
    "batch_size": 1,
    "learning_rate": 1e-12,
    "alpha_learning_rate": 0.0,
    "decoder_learning_rate": 0.0,
    "decoder_norm": 1e-6,
    "init_std": 1e-9,
    "word_dropout": 0.0,
    "norm_penalty": 0.0,
    "weight_decay": 0.0,
    "sparsity": 0.0,
    "relaxed_epochs": 0,
    "evidence": 0.0,
    "validation_fraction": 0.0,
    "patience": 0,
    "seed": 0,
}


_LEFT_OPEN = ("dimension",)  # to be chosen by what the texts are like


def _check_number(name: str, value: Any, least: int | float) -> None:
    if name == "layers" and isinstance(value, float) and value == math.inf:
        return
    kinds, wish = ((int,), "a whole number") if isinstance(least, int) else ((int, float), "a number")
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < float("inf"):
        raise InputError(f"`{name}` must be {wish} of at least {least}, not {shorten(value)}.", argument=name)
    if value > (LARGEST_SEED if name == "seed" else LARGEST):
        raise InputError(
            f"`{name}` must be {wish} that a training can be made with, not {shorten(value)}: take less.", argument=name
        )
