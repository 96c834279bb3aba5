"""Settings that suit the texts: chosen by the log loss of texts that were held out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from hardmax._kernels.compiling import interpreted
from hardmax.text._analysis import kept_share
from hardmax.text.card import share_right
from hardmax.text.evaluation import summarize
from hardmax.text.tokeniser import cut_surface
from hardmax.text.vocabulary import Vocabulary, take_tokens
from hardmax.train.bag import Bags, Fitted, losses_of
from hardmax.train.kernels import gather
from hardmax.train.settings import SCALINGS, Settings

FOLDS = 3
MANY_TEXTS = 2_000  # of more, one fold is enough to choose the strength
STRENGTHS = (0.05, 0.3, 2.0, 10.0)
FIRST = 1  # of these is tried first
ALPHAS = ("1/4", "1/2", "1", "2")
NEUTRAL_WEIGHTS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
SLACK = 0.25  # standard errors of the mean log loss: so much may be paid for fewer tokens
ENOUGH = 1_000  # texts: the loss of fewer is too uncertain to tell which words say little
FREQUENT = 0.01  # of the texts have a word, if it is frequent
SPREADS = (
    2.0,
    5.0,
)  # times as frequent a word may be in one class as in another, if it says little
SHORT = 8  # known tokens: texts cut to so many count as much for probabilities as whole texts
FEWEST_GROUPS = 10  # of a class, if texts that are alike stay together
_HASHES = 16
_ALIKE = 0.7  # texts that share more of their tokens stay in one fold
_SMALL = 4096  # tokens that are gathered without waiting for numba
Weigh = Callable[..., tuple[Bags, Vocabulary, Fitted]]


def find_folds(bags: Bags, random_state: int) -> np.ndarray:
    """The fold of each text: groups stay together, and every class is spread over the folds."""
    groups = _join_duplicates(bags)
    if np.bincount(_labels_of(groups, bags.labels), minlength=bags.classes).min() < FEWEST_GROUPS:
        groups = bags.groups  # hardly more than copies: then every fold has to have some
    label_of_group = _labels_of(groups, bags.labels)
    fold_of_group = np.zeros(len(label_of_group), dtype=int)
    rng = np.random.default_rng(random_state)
    for label in range(bags.classes):
        members = rng.permutation(np.flatnonzero(label_of_group == label))
        fold_of_group[members] = (np.arange(len(members)) + label) % FOLDS
    return fold_of_group[groups]


def _labels_of(groups: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """A label for each group, that of its last text."""
    label_of_group = np.zeros(int(groups.max()) + 1, dtype=int)
    label_of_group[groups] = labels
    return label_of_group


def _join_duplicates(bags: Bags) -> np.ndarray:
    """The group of each text, in which texts that share most of their tokens are together, too
    (min-hash).

    Of two texts, the smallest of random numbers that stand for their tokens are equal with a
    probability that is the share of all their tokens that both have. Texts are compared if the
    first two are equal, or the next two, and so on."""
    smallest = np.ones((len(bags.labels), _HASHES))
    numbers = np.random.default_rng(0).random((_HASHES, bags.tokens))
    for is_whole, stored in bags.stored:
        _, ids, offsets, owners = stored.load()
        some = np.flatnonzero(np.diff(offsets))
        if is_whole and len(some):
            for column in range(_HASHES):
                least = np.minimum.reduceat(numbers[column][ids], offsets[some])
                smallest[owners[some], column] = least
    links = [np.unique(bags.groups, return_index=True)[1][bags.groups]]
    texts = np.arange(len(bags.labels))
    for column in range(0, _HASHES, 2):
        keys = smallest[:, column] + smallest[:, column + 1]
        _, firsts, of_key = np.unique(keys, return_index=True, return_inverse=True)
        rival = firsts[of_key]
        alike = (smallest == smallest[rival]).mean(axis=1) > _ALIKE
        links.append(np.where(alike, rival, texts))
    pairs = np.tile(texts, len(links)), np.concatenate(links)
    edges = csr_array((np.ones(len(pairs[0])), pairs), shape=(len(texts), len(texts)))
    return connected_components(edges)[1]


@dataclass(frozen=True, eq=False)
class Trial:
    """Tokens and settings, and what they gave on held-out texts."""

    settings: Settings
    known: Vocabulary
    bags: Bags
    start: dict[int, Fitted] = field(default_factory=dict)
    """Weights that are nearly right, by fold."""
    held_out: "list[HeldOut]" = field(default_factory=list)
    loss: float = np.inf
    error: float = 0.0
    """The standard error of the loss, if all texts had been held out."""


def tune(
    weigh: Weigh, known: Vocabulary, bags: Bags, settings: Settings, say: Callable[[str], None]
) -> tuple[Trial, dict[str, Any]]:
    """The tokens, the settings with what was None chosen on held-out texts, and what was measured
    there."""
    few = range(1 if len(bags.labels) > MANY_TEXTS else FOLDS)

    def try_out(before: Trial, folds: range = few, **choices: Any) -> Trial:
        return _try_out(weigh, before, folds, choices)

    best = _choose_strength(try_out, Trial(settings, known, bags), say)
    limit = best.loss + SLACK * best.error
    for min_df in (2, 3) if settings.min_df is None else ():
        if known.documents.max() < min_df:
            break
        trial = try_out(best, min_df=min_df)
        say(f"tokens of {min_df} texts: held-out log loss {trial.loss:.4f}")
        if trial.loss > limit:
            break
        best = trial
    drops = settings.stop_words is None and len(bags.labels) > ENOUGH
    for spread in SPREADS if drops else ():
        keep = _telling(best.known, bags, spread)
        dropped = len(best.known) - len(keep)
        if not dropped or not len(keep):
            continue
        known, kept_bags = take_tokens(best.known, keep), best.bags.take(keep)
        trial = try_out(replace(best, known=known, bags=kept_bags, start={}))
        say(f"without {dropped} frequent words that say little: held-out log loss {trial.loss:.4f}")
        if trial.loss > limit:
            break
        best = trial
    held_out = best.held_out
    if len(few) < FOLDS:
        held_out = [*held_out, *try_out(best, range(len(few), FOLDS)).held_out]
    measured, choices = _choose_voting(held_out, best.settings)
    gate = settings.gates.index(choices["gate"])
    active = np.concatenate([part.whole.active[gate] for part in held_out])
    summary = _summarize(held_out, gate, choices, measured.temperature)
    texts, right = (sum(column) for column in zip(*summary["classes"], strict=True))
    told = {
        "held_out_accuracy": right / texts,
        "held_out_log_loss": measured.loss,
        "held_out_active_tokens": float(active.mean()),
        "temperature": measured.temperature,
        "evaluations": [summary],
    }
    chosen = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in choices.items())
    say(
        f"{chosen}: held-out accuracy {share_right(right, texts)}, "
        f"log loss {measured.loss:.4f}, {active.mean():.1f} active tokens per text"
    )
    return replace(best, settings=replace(best.settings, **choices)), told


def _try_out(weigh: Weigh, before: Trial, folds: range, choices: dict[str, Any]) -> Trial:
    """A trial with other choices, on some of the folds."""
    settings, held_out, start = replace(before.settings, **choices), [], {}
    for fold in folds:
        # From its own weights: those of other folds know the texts that are held out.
        guess = before.start.get(fold)
        bags, _, fitted = weigh(before.known, before.bags, settings, fold=fold, start=guess)
        held_out.append(HeldOut.of(bags.held_out(fold), fitted, settings.gates))
        if bags is before.bags:
            start[fold] = fitted
    weights = NEUTRAL_WEIGHTS[1::3]
    if settings.neutral_weight is not None:
        weights = (settings.neutral_weight,)
    tried = [calibrate(held_out, 0, "0", weight) for weight in weights]
    best = min(tried, key=lambda measured: measured.loss)
    error = float(best.losses.std() / np.sqrt(len(before.bags.labels)))
    found = {"settings": settings, "start": start, "held_out": held_out}
    return replace(before, **found, loss=best.loss, error=error)


def _telling(known: Vocabulary, bags: Bags, spread: float) -> np.ndarray:
    """All tokens but frequent words of which each class has about as many, up to a factor."""
    texts = np.bincount(bags.labels, minlength=bags.classes)
    shares = (known.counts + 1) / (texts + 2)
    frequent = known.documents >= FREQUENT * len(bags.labels)
    weak = frequent & (shares.max(axis=1) < spread * shares.min(axis=1))
    tokens = np.flatnonzero(weak).tolist()
    words = [token for token in tokens if len(cut_surface(known.surfaces[token])) == 1]
    return np.delete(np.arange(len(known)), words)


def _choose_strength(
    try_out: Callable[..., Trial], first: Trial, say: Callable[[str], None]
) -> Trial:
    """The scaling that is best at a middling strength, and stronger or weaker as long as that is
    better."""
    given = first.settings
    scalings = SCALINGS[: 2 if first.bags.classes == 2 else 1]
    if given.scaling is not None:
        scalings = (given.scaling,)
    strengths = STRENGTHS if given.C is None else (given.C,)
    middle = min(FIRST, len(strengths) - 1)

    def step(before: Trial, scaling: Any, strength: float) -> Trial:
        trial = try_out(before, scaling=scaling, C=strength)
        say(f"scaling {scaling}, C {strength:g}: held-out log loss {trial.loss:.4f}")
        return trial

    trials, before = [], first
    for scaling in scalings:
        before = step(before, scaling, strengths[middle])
        trials.append(before)
    best = min(trials, key=lambda trial: trial.loss)
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
    held_out: "list[HeldOut]", settings: Settings
) -> "tuple[Measured, dict[str, Any]]":
    """Neutral weight, gate and alpha, and what held-out texts get with them."""
    weights = NEUTRAL_WEIGHTS if settings.neutral_weight is None else (settings.neutral_weight,)
    losses = [calibrate(held_out, 0, "0", weight, short=True).loss for weight in weights]
    weight = weights[int(np.argmin(losses))]
    by_gate = [calibrate(held_out, gate, "0", weight) for gate in range(len(settings.gates))]
    best = min(by_gate, key=lambda measured: measured.loss)
    # As few active tokens as possible, at hardly any price.
    limit = best.loss + SLACK * best.losses.std() / np.sqrt(len(best.losses))
    gate = max(gate for gate, measured in enumerate(by_gate) if measured.loss <= limit)
    alpha, measured = "0", by_gate[gate]
    if settings.alpha is not None:
        alpha, measured = settings.alpha, calibrate(held_out, gate, settings.alpha, weight)
    elif held_out[0].whole.own.shape[-1] == 1:
        tried = {alpha: calibrate(held_out, gate, alpha, weight) for alpha in ALPHAS}
        rival = min(tried, key=lambda alpha: tried[alpha].loss)
        gain = measured.losses - tried[rival].losses
        if gain.mean() > 2 * gain.std() / np.sqrt(len(gain)):  # more than noise
            alpha, measured = rival, tried[rival]
    return measured, {"gate": settings.gates[gate], "alpha": alpha, "neutral_weight": weight}


class Sums(NamedTuple):
    """What the tokens of texts say, by gate and text."""

    sizes: np.ndarray
    """How many tokens each text has, whatever the gate."""
    own: np.ndarray
    """Sums of the votes of active tokens, (gates, texts, rows)."""
    lead: np.ndarray
    """Sums of the votes of their leaders, (gates, texts, rows)."""
    active: np.ndarray
    """How many tokens are active, (gates, texts)."""

    @classmethod
    def of(cls, matrix: Any, weights: np.ndarray, gates: Sequence[float]) -> "Sums":
        texts, rows = matrix.shape[0], weights.shape[1]
        own, lead = np.zeros((2, len(gates), texts, rows))
        active = np.zeros((len(gates), texts), dtype=int)
        ids, offsets = matrix.indices.astype(int), matrix.indptr.astype(int)
        with interpreted(gather, if_small=len(ids) <= _SMALL):
            gather(ids, matrix.data, offsets, weights, np.array(gates, float), own, lead, active)
        return cls(np.diff(offsets), own, lead, active)

    @classmethod
    def join(cls, parts: "list[Sums]") -> "Sums":
        """Those of all texts."""
        by_gate = (
            np.concatenate([getattr(part, name) for part in parts], axis=1)
            for name in ("own", "lead", "active")
        )
        return cls(np.concatenate([part.sizes for part in parts]), *by_gate)


class HeldOut(NamedTuple):
    """Held-out texts, and what is said in them: in all of each, and in its first tokens."""

    labels: np.ndarray
    weights: np.ndarray
    fitted: Fitted
    whole: Sums
    short: Sums

    @classmethod
    def of(cls, bags: Bags, fitted: Fitted, gates: Sequence[float]) -> "HeldOut":
        weights = fitted.weights[fitted.kept]
        labels, text_weights, whole, short = [], [], [], []
        for bag in bags:
            matrix = bag.matrix[:, fitted.kept]  # as if the other tokens were not known
            labels.append(bag.labels)
            text_weights.append(bag.weights)
            whole.append(Sums.of(matrix, weights, gates))
            short.append(Sums.of(_first_of_rows(matrix, SHORT), weights, gates))
        about = np.concatenate(labels), np.concatenate(text_weights)
        return cls(*about, fitted, Sums.join(whole), Sums.join(short))

    def votes(self, gate: int, alpha: str, neutral_weight: int, short: bool = False) -> np.ndarray:
        """What they add up to, before they are divided by the temperature."""
        sums = self.short if short else self.whole
        share = kept_share(alpha)
        votes = share * sums.own[gate] + (1 - share) * sums.lead[gate]
        return votes / (sums.sizes + neutral_weight)[:, None]


def _first_of_rows(matrix: Any, most: int) -> Any:
    """A sparse matrix with only the first entries of each row."""
    sizes = np.minimum(np.diff(matrix.indptr), most)
    ends = np.cumsum(sizes)
    places = np.arange(sizes.sum()) + np.repeat(matrix.indptr[:-1] - ends + sizes, sizes)
    offsets = np.append(0, ends)
    return csr_array((matrix.data[places], matrix.indices[places], offsets), shape=matrix.shape)


def _summarize(
    held_out: list[HeldOut], gate: int, choices: dict[str, Any], temperature: float
) -> dict[str, Any]:
    """What the model card says of the held-out texts."""
    how = gate, choices["alpha"], choices["neutral_weight"]
    parts = [part.votes(*how) / temperature + part.fitted.bias for part in held_out]
    logits = np.concatenate(parts)
    if logits.shape[1] == 1:
        logits = np.hstack([np.zeros_like(logits), logits])
    truth, probabilities = np.concatenate([h.labels for h in held_out]), softmax(logits, axis=1)
    on = f"the training texts, each held out once in {FOLDS} folds, which also chose the settings"
    return summarize(on, truth, probabilities.argmax(axis=1), probabilities)


class Measured(NamedTuple):
    """What a temperature gives on held-out texts."""

    temperature: float
    loss: float
    losses: np.ndarray
    """Of each text."""


def calibrate(
    held_out: list[HeldOut], gate: int, alpha: str, neutral_weight: int, *, short: bool = False
) -> Measured:
    """The best temperature for the votes of held-out texts; if `short`, the loss when these are cut
    short is added to theirs."""
    how = gate, alpha, neutral_weight
    whole = np.concatenate([part.votes(*how) for part in held_out])
    cut = np.concatenate([part.votes(*how, short=short) for part in held_out])
    bias = held_out[0].fitted.bias  # that of all texts, in every fold
    labels = np.concatenate([part.labels for part in held_out])
    weights = np.concatenate([part.weights for part in held_out])

    def loss(exponent: float, votes: np.ndarray) -> float:
        losses, doubt = losses_of(votes * np.exp(exponent) + bias, labels)
        # As if one text more had been of any class: no text is certain, however well the classes
        # are separated.
        return float((weights @ losses + doubt) / (weights.sum() + 1))

    search = {"bounds": (-6, 12), "method": "bounded", "options": {"xatol": 1e-2}}
    best: Any = minimize_scalar(loss, args=(whole,), **search)
    more = loss(best.x, cut) if short else 0.0
    losses, _ = losses_of(whole * np.exp(best.x) + bias, labels)
    return Measured(float(np.exp(-best.x)), float(best.fun) + more, losses)
