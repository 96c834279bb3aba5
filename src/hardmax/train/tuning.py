"""Settings that suit the texts: chosen by the log loss of texts that were held out."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from hardmax.text._analysis import Analysis, kept_share, weigh
from hardmax.text._kernels_votes import Voting
from hardmax.text.card import share_right
from hardmax.text.encoding import Encoded, cut_tokens
from hardmax.text.evaluation import summarize
from hardmax.text.vocabulary import Vocabulary, take_tokens
from hardmax.train.bag import Bags, Fitted, both, losses_of
from hardmax.train.settings import GATES, SCALINGS, Settings, english_silent_words

FOLDS = 3
MANY_TEXTS = 2_000  # of more, one fold is enough to choose the strength
STRENGTHS = (0.05, 0.3, 2.0, 10.0)
FIRST = 1  # of these is tried first
ALPHAS = ("1/4", "1/2", "1", "2")
NEUTRAL_WEIGHTS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
SLACK = 0.25  # standard errors of the mean log loss: so much may be paid for fewer tokens
SILENCE = 2.0  # and so much for silent words
ENOUGH = 1_000  # texts: the loss of fewer is too uncertain to tell which words say little
FREQUENT = 0.002  # of all words, if a word is frequent
SMOOTHING = 10  # as if a word were in this many more texts, as often in each class
EVEN = 2.0  # times as frequent in one class as in another: a word says little
SHORT = 8  # texts cut to this many known tokens count as much for probabilities as whole texts
FEWEST_GROUPS = 10  # of a class, if copies stay together
Weigh = Callable[..., tuple[Bags, Vocabulary, Fitted]]
Say = Callable[[str], None]


def find_folds(bags: Bags, random_state: int) -> np.ndarray:
    """The fold of each text: groups and copies stay together, and every class is spread over the
    folds."""
    groups = _join_copies(bags)
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    if np.bincount(bags.labels[first], minlength=bags.classes).min() < FEWEST_GROUPS:
        # Hardly more than copies: then every fold has to have some.
        _, first, numbers = np.unique(bags.groups, return_index=True, return_inverse=True)
    label_of_group = bags.labels[first]
    fold_of_group = np.zeros(len(first), dtype=int)
    rng = np.random.default_rng(random_state)
    for label in range(bags.classes):
        members = rng.permutation(np.flatnonzero(label_of_group == label))
        fold_of_group[members] = (np.arange(len(members)) + label) % FOLDS
    return fold_of_group[numbers]


def _join_copies(bags: Bags) -> np.ndarray:
    """The group of each text, in which texts of the same tokens are together, too."""
    texts, matrix = np.arange(len(bags.labels)), bags.matrix
    numbers = np.random.default_rng(0).integers(2**62, size=bags.tokens)
    parts = np.ones_like(matrix.indices), matrix.indices, matrix.indptr
    sums = csr_array(parts, shape=matrix.shape) @ numbers  # they wrap around
    links = []
    for keys in (bags.groups, np.where(bags.sizes > 0, sums, -texts)):
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        links.append(first[number])
    pairs = np.tile(texts, 2), np.concatenate(links)
    edges = csr_array((np.ones(2 * len(texts)), pairs), shape=(len(texts), len(texts)))
    return connected_components(edges)[1]


@dataclass(frozen=True, eq=False)
class Trial:
    """Tokens and settings, and what they gave on held-out texts."""

    settings: Settings
    known: Vocabulary
    bags: Bags
    start: dict[int, Fitted] = field(default_factory=dict)
    """Weights that are nearly right, by fold."""
    held_out: "tuple[HeldOut, ...]" = ()
    loss: float = np.inf
    error: float = 0.0
    """The standard error of the loss, if all texts had been held out."""


def tune(
    weigh_tokens: Weigh, known: Vocabulary, bags: Bags, settings: Settings, say: Say
) -> tuple[Trial, dict[str, Any]]:
    """The tokens, the settings with what was None chosen on held-out texts, and what was measured
    there."""
    few = range(1 if len(bags.labels) > MANY_TEXTS else FOLDS)

    def try_out(before: Trial, what: str, **choices: Any) -> Trial:
        trial = _try_out(weigh_tokens, replace(before, held_out=()), few, choices)
        say(f"{what}: held-out log loss {trial.loss:.4f}")
        return trial

    best = _choose_strength(try_out, Trial(settings, known, bags))
    limit = best.loss + SLACK * best.error
    for min_df in (2, 3) if settings.min_df is None else ():
        if known.documents.max() < min_df:
            break
        trial = try_out(best, f"tokens of {min_df} texts", min_df=min_df)
        if trial.loss > limit:
            break
        best = trial
    drops = settings.stop_words is None and len(bags.labels) > ENOUGH
    silent = weak_words(best.known, best.bags) if drops else set()
    keep = telling(best.known, silent)
    if silent and len(keep):
        fewer = {"known": take_tokens(best.known, keep), "bags": best.bags.take(keep), "start": {}}
        what = f"with {len(silent)} silent words"
        trial = try_out(replace(best, **fewer), what, stop_words=tuple(sorted(silent)))
        if trial.loss <= best.loss + SILENCE * best.error:
            best = trial
    if len(few) < FOLDS:
        best = _try_out(weigh_tokens, best, range(len(few), FOLDS), {})
    measured, choices = _choose_voting(best.held_out, best.settings)
    summary = _summarize(best.held_out, choices, measured.temperature)
    texts, right = (sum(column) for column in zip(*summary["classes"], strict=True))
    gate, alpha = choices["gate"], choices["alpha"]
    analyses = [part.analyse(gate, alpha) for part in best.held_out]
    active = np.concatenate([found.active_per_text for found in analyses])
    told = {
        "held_out_accuracy": right / texts,
        "held_out_log_loss": measured.loss,
        "held_out_active_tokens": float(active.mean()),
        "held_out_without_active": float((active == 0).mean()),
        "temperature": measured.temperature,
        "evaluations": [summary],
    }
    chosen = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in choices.items())
    say(
        f"{chosen}: held-out accuracy {share_right(right, texts)}, log loss {measured.loss:.4f}, "
        f"{active.mean():.1f} active tokens per text"
    )
    return replace(best, settings=replace(best.settings, **choices)), told


def _try_out(weigh_tokens: Weigh, before: Trial, folds: range, choices: dict[str, Any]) -> Trial:
    """A trial with other choices, on some of the folds more."""
    settings, held_out, start = replace(before.settings, **choices), [*before.held_out], {}
    for fold in folds:
        # From its own weights: those of other folds know the texts that are held out.
        guess = before.start.get(fold)
        bags, _, fitted = weigh_tokens(before.known, before.bags, settings, fold=fold, start=guess)
        # As if the other tokens were not known.
        seen = bags.held_out(fold).take(fitted.kept)
        held_out.append(HeldOut(seen, fitted.weights[fitted.kept], fitted.bias))
        if bags is before.bags:
            start[fold] = fitted
    weights = NEUTRAL_WEIGHTS[1::3]
    if settings.neutral_weight is not None:
        weights = (settings.neutral_weight,)
    tried = [calibrate(held_out, 0.0, "0", weight) for weight in weights]
    best = min(tried, key=lambda measured: measured.loss)
    error = float(best.losses.std() / np.sqrt(len(before.bags.labels)))
    found = {"settings": settings, "start": start, "held_out": tuple(held_out)}
    return replace(before, **found, loss=best.loss, error=error)


def weak_words(known: Vocabulary, bags: Bags) -> set[str]:
    """Frequent words, and English words of grammar, that each class has about as often, up to a
    factor, as modifiers change them."""
    texts = np.bincount(bags.labels, bags.weights, minlength=bags.classes)
    shares = np.maximum(bags.counts(), 0) / texts + SMOOTHING / texts.sum()
    even = shares.max(axis=1) < EVEN * shares.min(axis=1)
    is_word, documents = cut_tokens(known)[1] == 1, known.documents
    often = documents >= FREQUENT * documents[is_word].sum()
    words, grammar = np.flatnonzero(even & is_word).tolist(), {*english_silent_words()}
    return {
        known.surfaces[word] for word in words if often[word] or known.surfaces[word] in grammar
    }


def telling(known: Vocabulary, silent: Collection[str], *, ends: bool = False) -> np.ndarray:
    """All tokens but those that consist of silent words; or that begin or end with one."""
    words, sizes = cut_tokens(known)
    is_silent = np.array([word in silent for word in words], dtype=bool)
    last = np.cumsum(sizes) - 1
    first = last + 1 - sizes
    if ends:
        return np.flatnonzero(~is_silent[first] & ~is_silent[last])
    return np.flatnonzero(np.add.reduceat(is_silent, first) < sizes)


def _choose_strength(try_out: Callable[..., Trial], first: Trial) -> Trial:
    """The scaling that is best at a middling strength, and stronger or weaker as long as that is
    better."""
    given = first.settings
    scalings = SCALINGS[: 2 if first.bags.classes == 2 else 1]
    if given.scaling is not None:
        scalings = (given.scaling,)
    strengths = STRENGTHS if given.C is None else (given.C,)
    middle = min(FIRST, len(strengths) - 1)

    def step(before: Trial, scaling: Any, strength: float) -> Trial:
        what = f"scaling {scaling}, C {strength:g}"
        return try_out(before, what, scaling=scaling, C=strength)

    best, before = None, first
    for scaling in scalings:
        before = step(before, scaling, strengths[middle])
        if best is None or before.loss < best.loss:
            best = before
    assert best is not None
    for path in (strengths[middle + 1 :], strengths[:middle][::-1]):
        before = best
        for strength in path:
            trial = step(best, best.settings.scaling, strength)
            if trial.loss >= best.loss:
                break
            best = trial
        if best is not before:
            break
    return best


def _choose_voting(
    held_out: "tuple[HeldOut, ...]", settings: Settings
) -> "tuple[Measured, dict[str, Any]]":
    """Neutral weight, gate and alpha, and what held-out texts get with them."""
    weights = NEUTRAL_WEIGHTS if settings.neutral_weight is None else (settings.neutral_weight,)
    short = [replace(part, bags=_first_tokens(part.bags)) for part in held_out]
    losses = []
    for weight in weights:
        whole = calibrate(held_out, 0.0, "0", weight)
        cut = calibrate(short, 0.0, "0", weight, temperature=whole.temperature)
        losses.append(whole.loss + cut.loss)
    weight = weights[int(np.argmin(losses))]
    gates = GATES if settings.gate is None else (settings.gate,)
    by_gate = {gate: calibrate(held_out, gate, "0", weight) for gate in gates}
    best = min(by_gate.values(), key=lambda measured: measured.loss)
    # As few active tokens as possible, at hardly any price.
    limit = best.loss + SLACK * best.losses.std() / np.sqrt(len(best.losses))
    gate = max(gate for gate, measured in by_gate.items() if measured.loss <= limit)
    alpha, measured = "0", by_gate[gate]
    if settings.alpha is not None:
        alpha, measured = settings.alpha, calibrate(held_out, gate, settings.alpha, weight)
    elif held_out[0].bags.classes == 2:
        tried = {alpha: calibrate(held_out, gate, alpha, weight) for alpha in ALPHAS}
        rival = min(tried, key=lambda alpha: tried[alpha].loss)
        gain = measured.losses - tried[rival].losses
        if gain.mean() > 2 * gain.std() / np.sqrt(len(gain)):  # more than noise
            alpha, measured = rival, tried[rival]
    return measured, {"gate": gate, "alpha": alpha, "neutral_weight": weight}


def _first_tokens(bags: Bags) -> Bags:
    """The texts with only the first of their tokens."""
    matrix = bags.matrix
    ends = np.append(0, np.cumsum(np.minimum(bags.sizes, SHORT)))
    places = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], bags.sizes)
    first = places < SHORT

    def cut(table: Any) -> Any:
        return csr_array((table.data[first], table.indices[first], ends), shape=table.shape)

    shifts = None if bags.shifts is None else cut(bags.shifts)
    return replace(bags, matrix=cut(matrix), shifts=shifts)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out texts, and the weights that others gave."""

    bags: Bags
    weights: np.ndarray
    bias: np.ndarray
    analyses: dict[tuple[float, str], Analysis] = field(default_factory=dict, init=False)

    def analyse(self, gate: float, alpha: str) -> Analysis:
        """What a model of these weights without a bias says of them, with a neutral weight of 1."""
        if (gate, alpha) not in self.analyses:
            matrix = self.bags.matrix
            ids, offsets = matrix.indices.astype(np.int32), matrix.indptr.astype(int)
            shifts = np.zeros(len(ids)) if self.bags.shifts is None else self.bags.shifts.data
            encoded = Encoded(ids, np.ones_like(ids), matrix.data, shifts, offsets)
            none = np.zeros(self.weights.shape[1])
            voting = Voting(self.weights, none, gate, kept_share(alpha), 1)
            self.analyses[gate, alpha] = weigh(encoded, voting)
        return self.analyses[gate, alpha]

    def votes(self, gate: float, alpha: str, neutral_weight: int) -> np.ndarray:
        """What they add up to, before they are divided by the temperature."""
        found = self.analyse(gate, alpha)
        sizes = np.diff(found.offsets)
        return found.logits * ((sizes + 1) / (sizes + neutral_weight))[:, None]


def _summarize(
    held_out: tuple[HeldOut, ...], choices: dict[str, Any], temperature: float
) -> dict[str, Any]:
    """What the model card says of the held-out texts."""
    parts = [part.votes(**choices) / temperature + part.bias for part in held_out]
    truth = np.concatenate([part.bags.labels for part in held_out])
    probabilities = softmax(both(np.concatenate(parts)), axis=1)
    on = f"the training texts, each held out once in {FOLDS} folds, which also chose the settings"
    return summarize(on, truth, probabilities.argmax(axis=1), probabilities)


class Measured(NamedTuple):
    """What a temperature gives on held-out texts."""

    temperature: float
    loss: float
    losses: np.ndarray
    """Of each text."""


def calibrate(
    held_out: Any,
    gate: float,
    alpha: str,
    neutral_weight: int,
    *,
    temperature: float | None = None,
) -> Measured:
    """The best temperature for the votes of held-out texts, or what a given one gives."""
    votes = np.concatenate([part.votes(gate, alpha, neutral_weight) for part in held_out])
    bias = held_out[0].bias  # that of all texts, in every fold
    labels = np.concatenate([part.bags.labels for part in held_out])
    weights = np.concatenate([part.bags.weights for part in held_out])

    def loss(exponent: float) -> float:
        losses, doubt = losses_of(votes * np.exp(exponent) + bias, labels)
        # As if one text more had been of any class: no text is certain, however well the classes
        # are separated.
        return float((weights @ losses + doubt) / (weights.sum() + 1))

    if temperature is None:
        options = {"xatol": 1e-2}
        best: Any = minimize_scalar(loss, bounds=(-6, 12), method="bounded", options=options)
        temperature = float(np.exp(-best.x))
    losses, _ = losses_of(votes / temperature + bias, labels)
    return Measured(temperature, loss(-np.log(temperature)), losses)
