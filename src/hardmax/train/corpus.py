"""Training texts as tokens: candidates are counted, a linear model chooses among them, the rest is left out."""

from dataclasses import dataclass, replace

import numpy as np

from hardmax._validation import InputError
from hardmax.text.tokens.building import build_vocabulary
from hardmax.text.tokens.encoding import Encoded, encode
from hardmax.text.tokens.texts import TextBytes
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary
from hardmax.train.bag import Way
from hardmax.train.choosing import choose_tokens, rank_tokens
from hardmax.train.clouds import pick, restrict
from hardmax.train.pruning import prune
from hardmax.train.recipe import Recipe
from hardmax.train.thrift import enough_tokens


@dataclass(frozen=True, eq=False)
class Corpus:
    """All texts in the tokens that the model will know."""

    vocabulary: Vocabulary
    encoded: Encoded
    loud: np.ndarray  # which tokens say something; the others are words that follow the neutral leader


def prepare(texts: TextBytes, labels: np.ndarray, learns: np.ndarray, tokeniser: Tokeniser, recipe: Recipe) -> Corpus:
    """Choose the vocabulary on the texts that `learns` marks, and read all texts with it."""
    from_these = texts.pick(np.flatnonzero(learns))
    candidates = build_vocabulary(
        from_these,
        labels[learns],
        tokeniser,
        words=recipe.max_words,
        phrases=recipe.max_phrases,
        fewest=recipe.min_df,
    )
    candidates = keep_tokens(candidates, np.flatnonzero(_frequent(candidates, tokeniser, recipe.min_df)))
    if not len(candidates):
        raise InputError(
            f"`texts` have no word that {recipe.min_df} of them share: give more texts, or lower `min_df`."
        )
    # While tokens are chosen all of them count: which places a token has is known when it is known which there are.
    encoded = encode(texts, candidates, replace(tokeniser, overlapping=True))
    seen = pick(encoded, np.flatnonzero(learns))
    keep = recipe.max_tokens
    if recipe.thrift:
        enough = enough_tokens(seen, labels[learns], len(candidates), strength=recipe.strength, thrift=recipe.thrift)
        keep = min(keep, enough)
    kept = choose_tokens(
        seen,
        labels[learns],
        len(candidates),
        keep=keep,
        strength=recipe.strength,
        least_odds=recipe.min_log_odds,
        smoothing=recipe.smoothing,
    )
    loud = np.ones(len(kept), dtype=np.bool_)
    if recipe.counting < 1:
        left, is_word = restrict(seen, kept, len(candidates)), word_counts(candidates, tokeniser)[kept] == 1
        pruned = prune(left, labels[learns], is_word, way_of(recipe), recipe.counting)
        kept, loud = kept[pruned.known], pruned.loud
    if tokeniser.overlapping:
        return Corpus(keep_tokens(candidates, kept), restrict(encoded, kept, len(candidates)), loud)
    # A place goes to whoever is first in the vocabulary: to the token that says most.
    left = restrict(seen, kept, len(candidates))
    ranks = rank_tokens(left, labels[learns], len(kept), strength=recipe.strength, smoothing=recipe.smoothing)
    known = keep_tokens(candidates, kept[ranks])
    return Corpus(known, encode(texts, known, tokeniser), loud[ranks])


def way_of(recipe: Recipe) -> Way:
    """How the recipe solves its bag of words."""
    return Way(recipe.bag_strength, recipe.neutral > 0, recipe.bias)


def keep_tokens(vocabulary: Vocabulary, kept: np.ndarray) -> Vocabulary:
    """The vocabulary of some of the tokens."""
    return Vocabulary([vocabulary.surfaces[token] for token in kept.tolist()], vocabulary.counts[kept])


def _frequent(vocabulary: Vocabulary, tokeniser: Tokeniser, fewest: int) -> np.ndarray:
    """Which tokens enough texts have. There are so many phrases of three words that one text more is asked of them."""
    return vocabulary.documents >= fewest + (word_counts(vocabulary, tokeniser) > 2)


def word_counts(vocabulary: Vocabulary, tokeniser: Tokeniser) -> np.ndarray:
    """How many words each token is."""
    return np.array([len(tokeniser.alphabet.cut(surface)) for surface in vocabulary.surfaces], dtype=np.int64)
