"""From texts with labels to a model: vocabulary, folds, settings that suit the texts, weights, calibration."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from hardmax._compile import interpreted
from hardmax._validation import InputError
from hardmax.text._texts import TextBytes, read_texts
from hardmax.text.encoding import encode
from hardmax.text.explain import LENGTHS
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser, cut_surface
from hardmax.text.vocabulary import Vocabulary, choose_tokens, take_tokens, with_counts
from hardmax.train.bag import TYPICAL_WEIGHT, Bag, regress, scales, to_matrix
from hardmax.train.kernels import gather
from hardmax.train.settings import Settings

FOLDS = 3
MANY_TEXTS = 20_000  # of more, one fold is enough to choose the strength
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
ALPHAS = ("0", "1/4", "1/2", "1", "2")
NEUTRAL_WEIGHTS = (1, 2, 5, 10, 20, 50, 100, 200)
SHORT = 8  # known tokens: probabilities of texts cut to so many count as much as those of whole texts
MOST_WORDS, MOST_PHRASES = 60_000, 120_000
_SENTENCES, _SHORTEST = 3, 15  # of a text, and the bytes of one
_LATIN_ENDS = re.compile(rb"\s(?<=[.!?]\s)\s*|<br ?/?>|\n+")
_WIDE_ENDS = re.compile("[。！？]".encode())
_SENTENCE_ENDS = re.compile(rb"%s|(?<=%s)|(?<=%s)|(?<=%s)" % (_LATIN_ENDS.pattern, *map(str.encode, "。！？")))
_SMALL = 4096  # tokens that are gathered without waiting for numba
Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class _Corpus:
    texts: TextBytes
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    classes: int
    is_whole: np.ndarray
    """False for sentences, which come from texts that are here, too."""
    candidates: Any
    """The candidate tokens that each text has, a sparse matrix."""

    def pick(self, rows: np.ndarray) -> "_Corpus":
        parts = self.labels[rows], self.weights[rows], self.groups[rows]
        return _Corpus(self.texts.pick(rows), *parts, self.classes, self.is_whole[rows], self.candidates[rows])

    @property
    def whole(self) -> "_Corpus":
        """The texts without their sentences."""
        return self if self.is_whole.all() else self.pick(np.flatnonzero(self.is_whole))

    def with_sentences(self, weight: float, seed: int) -> "_Corpus":
        """Some sentences of each text after all texts, as texts of their own."""
        rng, data = np.random.default_rng(seed), self.texts.data.tobytes()
        chosen, owners = [], []
        for text, (first, last) in enumerate(pairwise(self.texts.offsets.tolist())):
            found = [each for each in _cut_sentences(data[first:last]) if len(each) >= _SHORTEST]
            if len(found) > 1:  # else there is nothing new
                taken = rng.permutation(len(found))[:_SENTENCES].tolist()
                chosen += [found[each] for each in taken]
                owners += [text] * len(taken)
        if not owners or not weight:
            return self
        rows = np.concatenate([np.arange(len(self.labels)), owners])
        weights = np.concatenate([self.weights, weight * self.weights[owners]])
        ends = self.texts.offsets[-1] + np.cumsum([len(each) for each in chosen])
        every = TextBytes(
            np.concatenate([self.texts.data, np.frombuffer(b"".join(chosen), dtype=np.uint8)]),
            np.concatenate([self.texts.offsets, ends]),
        )
        is_whole = np.arange(len(rows)) < len(self.labels)
        return _Corpus(every, self.labels[rows], weights, self.groups[rows], self.classes, is_whole, None)

    def bag(self, tokens: Any) -> Bag:
        """The texts with the tokens that a sparse matrix has for each."""
        return Bag(tokens, self.labels, self.weights, self.groups, self.classes)

    def encode(self, vocabulary: Vocabulary, tokeniser: Tokeniser) -> Bag:
        """The texts with the tokens of a vocabulary."""
        return self.bag(to_matrix(encode(self.texts, vocabulary, tokeniser), len(vocabulary)))


def _cut_sentences(text: bytes) -> list[bytes]:
    return (_SENTENCE_ENDS if _WIDE_ENDS.search(text) else _LATIN_ENDS).split(text)


def fit(
    texts: Any,
    labels: Any,
    settings: Settings | None = None,
    *,
    sample_weight: np.ndarray | None = None,
    groups: Any = None,
    progress: Progress | None = None,
) -> TextModel:
    """Train a classifier of texts.

    Parameters
    ----------
    texts : sequence of str
        Training texts.
    labels : sequence
        The class of each.
    settings : Settings, optional
        What is not to be chosen by folds.
    sample_weight : ndarray, optional
        How much each text counts.
    groups : sequence, optional
        Texts that belong together, such as reviews of one film: they are held out together, and a token that several
        of them have counts once.
    progress : callable, optional
        Called with a line for each step.

    Returns
    -------
    TextModel
        The model; `model.metrics` says what was chosen, and what was measured on held-out texts.

    Examples
    --------
    >>> model = fit(["a good film", "so good", "a bad film", "so bad"] * 5, [1, 1, 0, 0] * 5)
    >>> model.decided(["good", "nothing known"]).tolist()
    [True, False]
    """
    settings, say = settings or Settings(), progress or (lambda line: None)
    found = read_texts(texts)
    classes, numbers = np.unique(np.asarray(labels), return_inverse=True)
    if len(numbers) != len(found):
        raise InputError(f"`labels` has {len(numbers)} entries: expected {len(found)}, one for each text.")
    if len(classes) < 2:
        raise InputError("`labels` has only one class: expected at least two.")
    weights = np.ones(len(found)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weights = weights / weights.mean()  # equal weights are as none
    of_group = np.arange(len(found)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    whole = np.ones(len(found), dtype=bool)
    corpus = _Corpus(found, numbers.astype(np.int64), weights, of_group, len(classes), whole, None)
    say(f"{len(found):,} texts, {len(classes)} classes")
    candidates, corpus = _find_candidates(corpus, corpus.with_sentences(settings.sentences, settings.seed), settings)
    say(f"{len(candidates):,} candidate tokens")
    tuned, chosen = _tune(corpus, candidates, settings, say)
    return _model(*_weigh(corpus, candidates, tuned), plain_names(classes), tuned, chosen | _lengths(found))


def plain_names(classes: np.ndarray) -> tuple[Any, ...]:
    """Classes as a model folder can hold them: texts, numbers, truth values; anything else by what it says."""
    return tuple(value if isinstance(value, str | int | float | bool) else str(value) for value in classes.tolist())


def _lengths(texts: TextBytes) -> dict[str, list[int]]:
    """The 1 % and 99 % quantiles of the lengths in characters; of fewer than 100 texts they would mean nothing."""
    starts = (texts.data & 0xC0) != 0x80  # other bytes continue a character
    lengths = [np.count_nonzero(starts[first:last]) for first, last in pairwise(texts.offsets.tolist())]
    return {LENGTHS: np.quantile(lengths, [0.01, 0.99]).round().astype(int).tolist()} if len(lengths) >= 100 else {}


def _find_candidates(texts: _Corpus, every: _Corpus, settings: Settings) -> tuple[Vocabulary, _Corpus]:
    """All words and phrases that enough texts, and enough groups, have; and the texts and sentences with them."""
    tokeniser = replace(settings.tokeniser, overlapping=True)
    most, min_df = {"words": MOST_WORDS, "phrases": MOST_PHRASES}, max(1, settings.min_df)
    known = choose_tokens(texts.texts, texts.labels, settings.longest_phrase, **most, min_df=min_df)
    found = every.encode(known, tokeniser).matrix
    bag = texts.bag(found[: len(texts.labels)])
    known = with_counts(known, replace(bag, groups=np.arange(len(bag))).counts(weighted=False))
    keep = bag.counts(weighted=False).sum(axis=1) >= settings.min_df
    if settings.exclude or settings.stop_words:
        excluded, stop_words = set(settings.exclude), set(settings.stop_words)
        words = [set(surface.split(" ") if surface.isascii() else cut_surface(surface)) for surface in known.surfaces]
        keep &= [excluded.isdisjoint(each) and not each <= stop_words for each in words]
    if not keep.any():
        raise InputError(f"`texts`: no token occurs in {settings.min_df} of them; lower `min_df`, or give more texts.")
    kept = np.flatnonzero(keep)
    return take_tokens(known, kept), replace(every, candidates=found if keep.all() else found[:, kept])


def _weigh(
    corpus: _Corpus, candidates: Vocabulary, settings: Settings
) -> tuple[Vocabulary, np.ndarray, np.ndarray, float]:
    """The vocabulary, the weight of each of its tokens for each class, the bias, and the
    mean number of tokens of a text."""
    assert settings.strength is not None
    bag = corpus.bag(corpus.candidates)
    typical = float(bag.sizes[corpus.is_whole].mean())
    weights, bias = regress(bag, settings.strength, scales(bag, settings.smoothing), typical, with_bias=settings.bias)
    if settings.max_tokens is None and settings.overlapping:
        return candidates, weights, bias, typical
    vocabulary = _best(candidates, bag, weights, settings.max_tokens)
    bag = corpus.encode(vocabulary, settings.tokeniser)
    typical = float(bag.sizes[corpus.is_whole].mean())
    found = regress(bag, settings.strength, scales(bag, settings.smoothing), typical, with_bias=settings.bias)
    return vocabulary, *found, typical


def _best(candidates: Vocabulary, bag: Bag, weights: np.ndarray, most: int | None) -> Vocabulary:
    """The tokens that matter most, the heaviest first: where places count once, these take them."""
    heaviest = np.abs(weights).max(axis=1)
    documents = np.bincount(bag.matrix.indices, minlength=len(candidates))
    kept = np.argsort(-heaviest * np.sqrt(documents), kind="stable")[:most]
    return take_tokens(candidates, kept[np.argsort(-heaviest[kept], kind="stable")])


def _tune(
    corpus: _Corpus, candidates: Vocabulary, settings: Settings, say: Progress
) -> tuple[Settings, dict[str, Any]]:
    """The settings with what was None chosen on held-out texts, and what was measured there."""
    folds = _folds(corpus, settings.seed)
    parts = [
        (corpus.pick(np.flatnonzero(folds != fold)), corpus.pick(np.flatnonzero(folds == fold)).whole)
        for fold in range(FOLDS)
    ]
    texts = int(corpus.is_whole.sum())
    few = 1 if texts > MANY_TEXTS else FOLDS
    best: tuple[float, float, list[_HeldOut]] | None = None
    for strength in STRENGTHS if settings.strength is None else (settings.strength,):
        tried = replace(settings, strength=strength)
        held_out = [_HeldOut.of(*part, candidates, tried) for part in parts[:few]]
        loss = _calibrate(held_out, 0, 1.0, TYPICAL_WEIGHT)[1]
        say(f"strength {strength:g}: held-out log loss {loss:.4f}")
        if best is not None and loss > best[0]:
            break
        best = loss, strength, held_out
    assert best is not None
    _, strength, held_out = best
    held_out += [_HeldOut.of(*part, candidates, replace(settings, strength=strength)) for part in parts[few:]]
    alphas = ALPHAS if settings.alpha is None else (settings.alpha,)
    table = {(g, alpha): _accuracy(held_out, g, _share(alpha)) for g in range(len(settings.gates)) for alpha in alphas}
    top = max(table.values())
    slack = 0.25 * np.sqrt(top * (1 - top) / texts)
    # As few active tokens as possible, and as much gathering, at hardly any price.
    g, alpha = max(
        (pair for pair, accuracy in table.items() if accuracy >= top - slack),
        key=lambda pair: (pair[0], _share(pair[1]) < 1, table[pair]),
    )
    choices = NEUTRAL_WEIGHTS if settings.neutral_weight is None else (settings.neutral_weight,)
    weight = min(choices, key=lambda weight: _calibrate(held_out, g, _share(alpha), weight, short=True)[1])
    temperature, loss = _calibrate(held_out, g, _share(alpha), weight)
    gate = settings.gates[g]
    active = float(np.mean(np.concatenate([part.active[g] for part in held_out])))
    chosen = f"gate {gate:g}, alpha {alpha}, neutral weight {weight}"
    say(f"{chosen}: held-out accuracy {table[g, alpha]:.4f}, {active:.1f} active tokens per text")
    measured = {
        "held_out_accuracy": table[g, alpha],
        "held_out_log_loss": loss,
        "held_out_active_tokens": active,
        "temperature": temperature,
    }
    return replace(settings, strength=strength, gate=gate, alpha=alpha, neutral_weight=weight), measured


def _bias(bias: np.ndarray, typical: float, neutral_weight: int) -> np.ndarray:
    """The bias of a mean: what it is beside the tokens of a text of typical size does not depend on the weight."""
    return bias / (typical + neutral_weight)


def _share(alpha: str) -> float:
    """What a token keeps of its own in one layer."""
    return 1.0 if alpha == "0" else float(1 / (1 + Fraction(alpha)))


def _folds(corpus: _Corpus, seed: int) -> np.ndarray:
    """The fold of each text: groups stay together, and every class is spread over the folds."""
    rng = np.random.default_rng(seed)
    fold_of_group = np.empty(int(corpus.groups.max()) + 1, dtype=np.int64)
    label_of_group = np.zeros(len(fold_of_group), dtype=np.int64)
    label_of_group[corpus.groups] = corpus.labels
    for label in range(corpus.classes):
        members = rng.permutation(np.flatnonzero(label_of_group == label))
        fold_of_group[members] = (np.arange(len(members)) + label) % FOLDS
    return fold_of_group[corpus.groups]


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Held-out texts: sums of weights of active tokens and of their leaders, by gate, text and class."""

    labels: np.ndarray
    sizes: np.ndarray
    own: np.ndarray
    lead: np.ndarray
    active: np.ndarray
    bias: np.ndarray
    typical: float
    short: "tuple[np.ndarray, np.ndarray, np.ndarray]"

    @classmethod
    def of(cls, train: _Corpus, test: _Corpus, candidates: Vocabulary, settings: Settings) -> "_HeldOut":
        vocabulary, weights, bias, train_size = _weigh(train, candidates, settings)
        has_all = vocabulary is candidates
        bag = test.bag(test.candidates) if has_all else test.encode(vocabulary, settings.tokeniser)
        ids, starts, sizes = bag.matrix.indices, bag.matrix.indptr, bag.sizes
        cut = np.minimum(sizes, SHORT)
        places = np.arange(cut.sum()) + np.repeat(starts[:-1] - np.cumsum(cut) + cut, cut)
        short = _gather(ids[places], np.concatenate([[0], np.cumsum(cut)]), weights, settings.gates)
        whole = _gather(ids, starts, weights, settings.gates)
        return cls(test.labels, sizes, *whole, bias, train_size, (cut, *short[:2]))

    def logits(self, gate: int, share: float, neutral_weight: int, short: bool = False) -> np.ndarray:
        """Before they are divided by the temperature."""
        sizes, own, lead = self.short if short else (self.sizes, self.own, self.lead)
        return (share * own[gate] + (1 - share) * lead[gate]) / (sizes + neutral_weight)[:, None] + _bias(
            self.bias, self.typical, neutral_weight
        )


def _gather(
    ids: np.ndarray, offsets: np.ndarray, weights: np.ndarray, gates: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    texts, rows = len(offsets) - 1, weights.shape[1]
    own, lead = np.zeros((len(gates), texts, rows)), np.zeros((len(gates), texts, rows))
    active = np.zeros((len(gates), texts), dtype=np.int64)
    with interpreted(gather, if_small=len(ids) <= _SMALL):
        gather(ids.astype(np.int64), offsets.astype(np.int64), weights, np.array(gates), own, lead, active)
    return own, lead, active


def _accuracy(held_out: list[_HeldOut], gate: int, share: float) -> float:
    """Share of texts whose class is found; texts without an active token count half."""
    right = []
    for part in held_out:
        logits = part.logits(gate, share, TYPICAL_WEIGHT)
        if logits.shape[1] == 1:
            right.append(np.where(logits[:, 0] == 0, 0.5, (logits[:, 0] > 0) == part.labels))
        else:
            right.append(np.where(part.active[gate] == 0, 0.5, logits.argmax(axis=1) == part.labels))
    return float(np.concatenate(right).mean())


def _calibrate(
    held_out: list[_HeldOut], gate: int, share: float, neutral_weight: int, *, short: bool = False
) -> tuple[float, float]:
    """The temperature at which held-out texts have the smallest log loss, and this loss; with texts cut short, too."""
    whole, cut = (
        np.concatenate([part.logits(gate, share, neutral_weight, short=is_cut) for part in held_out])
        for is_cut in (False, short)
    )
    labels = np.concatenate([part.labels for part in held_out])

    def loss(exponent: float, logits: np.ndarray) -> float:
        z = np.hstack([np.zeros_like(logits), logits] if logits.shape[1] == 1 else [logits]) * np.exp(exponent)
        z = z - z.max(axis=1, keepdims=True)
        logs = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        right = logs[np.arange(len(z)), labels].mean()
        # As if one text more had been of any class: no text is certain, however well the classes are separated.
        return float(-(len(z) * right + logs.mean()) / (len(z) + 1))

    found: Any = minimize_scalar(loss, bounds=(-6, 12), args=(whole,), method="bounded", options={"xatol": 1e-3})
    more = loss(found.x, cut) if short else 0.0
    return float(np.exp(-found.x)), float(found.fun) + more


def _told(settings: Settings) -> dict[str, Any]:
    """The settings as plain data; of lists of words, how many."""
    return asdict(settings) | {name: len(getattr(settings, name)) for name in ("exclude", "stop_words")}


def _model(
    vocabulary: Vocabulary,
    weights: np.ndarray,
    bias: np.ndarray,
    typical: float,
    names: tuple[Any, ...],
    settings: Settings,
    measured: dict[str, Any],
) -> TextModel:
    assert settings.alpha is not None
    assert settings.neutral_weight is not None
    rows = weights.shape[1]
    gathers = settings.alpha != "0"
    return TextModel(
        vocabulary=vocabulary,
        embeddings=np.hstack([weights, np.zeros((len(weights), 1))]),
        decoder=np.eye(rows, rows + 1),
        bias=_bias(bias, typical, settings.neutral_weight),
        extra=np.eye(rows + 1)[-1],
        classes=names,
        layers=1 if gathers else 0,
        alpha=settings.alpha if gathers else "1",
        gate=settings.gate,
        neutral_weight=settings.neutral_weight,
        temperature=measured["temperature"],
        binary=True,
        tokeniser=settings.tokeniser,
        metrics={"settings": _told(settings)} | measured,
    )
