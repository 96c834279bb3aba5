"""Checks of the fields that make the model and its vocabulary."""

# pyright: reportMissingImports=false
from dataclasses import replace

import numpy as np
import pytest
import torch
from field_checks import FROZEN, SAID, SMALL, Checks, known, mixed_reviews, reviews, starts
from watching import watch

from hardmax.text.tokens.encoding import encode
from hardmax.train import Recipe, fit
from hardmax.train.clouds import Clouds
from hardmax.train.layer import Hardmax
from hardmax.train.network import make_network
from hardmax.train.starting import Start
from hardmax.train.thrift import enough_tokens

CHECKS = Checks()


def on_a_line(recipe: Recipe) -> float:
    """The logit of a text with the words 2 and 1 on the line, the decoder being 1 and the bias 0."""
    start = Start(np.array([[2.0], [1.0]]), np.ones((1, 1)), np.zeros(1))
    network = make_network(2, 2, recipe, Hardmax(), start)
    with torch.no_grad():
        return network(Clouds(np.array([0, 1]), np.ones(2), np.array([0, 2])), network.alpha).logits.item()


@CHECKS.of("dimension")
def words_and_the_line_that_decides_have_as_many_numbers():
    model = fit(*reviews(), replace(FROZEN, dimension=3))
    assert model.embeddings.shape[1] == model.decoder.shape[1] == 3


@CHECKS.of("layers")
def a_follower_halves_its_way_in_every_layer():
    assert [on_a_line(replace(SMALL, layers=k)) for k in (0, 1, 3)] == [1.5, 1.75, (2 + 1.875) / 2]


@CHECKS.of("layers")
def the_model_has_as_many_layers_as_the_network():
    assert fit(*reviews(), replace(FROZEN, layers=3)).layers == 3


@CHECKS.of("alpha")
def a_follower_keeps_one_part_in_one_plus_alpha():
    assert [on_a_line(replace(SMALL, layers=1, alpha=alpha)) for alpha in (1.0, 3.0)] == [1.75, 1.875]


@CHECKS.of("alpha")
def training_walks_and_the_model_walks_with_the_alpha_that_is_given():
    assert {alpha for _, alpha in watch(replace(SMALL, alpha=0.5)).seen} == {0.5}
    assert fit(*reviews(), replace(FROZEN, alpha=0.5)).alpha == "1/2"


@CHECKS.of("extra")
def one_token_more_is_in_every_text_and_is_learned():
    learns = replace(FROZEN, learning_rate=0.1, epochs=2)
    assert fit(*reviews(), learns).extra is None
    model = fit(*reviews(), replace(learns, extra=True))
    assert len(model.embeddings) == len(SAID)
    assert model.extra is not None
    assert model.extra.tolist() != [0.0, 1.0]  # where it started
    found = model.analyse(["loud both"])
    assert len(found.ids) == 3


@CHECKS.of("neutral")
def the_neutral_leader_is_in_every_text_above_all_words_and_says_nothing():
    learns = replace(FROZEN, learning_rate=0.1, weight_decay=0.1, epochs=2)
    model = fit(*reviews(), replace(learns, neutral=0.25))
    assert model.extra is not None
    assert model.extra.tolist() == [0.0, 1.0]
    assert model.embeddings[:, 1].tolist() == [0.25] * len(SAID)
    assert model.decoder[:, 1].tolist() == [0.0]
    assert len(model.analyse(["loud both"]).ids) == 3


@CHECKS.of("neutral")
def no_word_is_dropped_together_with_the_neutral_leader():
    learns = replace(FROZEN, learning_rate=0.1, word_dropout=0.9, epochs=2)
    model = fit(*reviews(), replace(learns, neutral=0.25))
    assert min(epoch["leaders"] for epoch in model.metrics["training"]) >= 1  # the neutral leader, if nobody else


@CHECKS.of("bias")
def without_it_nothing_is_said_where_there_is_no_word():
    texts, labels = reviews()
    rows = [n for n in range(24) if labels[n] == 0 or n < 8]  # of unequal classes, so that there is something to say
    for init in ("noise", "bag"):
        learns = replace(FROZEN, learning_rate=0.1, epochs=2, init=init)
        given = ([texts[n] for n in rows], labels[rows])
        assert fit(*given, learns).bias != 0
        assert fit(*given, replace(learns, bias=False)).bias == 0


@CHECKS.of("marks")
def exclamation_and_question_marks_are_tokens():
    texts, labels = ["loud!", "calm?"] * 8, [1, 0] * 8
    assert known(replace(FROZEN, marks=True), texts, labels) == {"loud", "calm", "!", "?"}
    assert known(FROZEN, texts, labels) == {"loud", "calm"}


@CHECKS.of("counting")
def so_large_a_share_of_what_is_said_says_something():
    texts, labels = mixed_reviews()
    start = replace(FROZEN, init="bag", neutral=0.2, longest_phrase=2)
    for share in (0.2, 0.5):
        model = fit(texts, labels, replace(start, counting=share))
        met = model.vocabulary.documents
        loud = (model.embeddings[:, 0] != 0) & (met > 0)
        everything = fit(texts, labels, start).vocabulary.documents.sum()
        assert 0.4 * share * everything < met[loud].sum() <= share * everything
        assert {surface for surface in model.vocabulary.surfaces if " " not in surface} == known(
            replace(start, longest_phrase=1), texts, labels
        )


@CHECKS.of("counting")
def words_that_say_nothing_at_the_start_never_do():
    texts, labels = mixed_reviews()
    learns = replace(FROZEN, init="bag", neutral=0.2, counting=0.4, learning_rate=0.1, epochs=4)
    before, after = (fit(texts, labels, replace(learns, learning_rate=rate)) for rate in (1e-12, 0.1))
    silent = before.embeddings[:, 0] == 0
    assert silent.any()
    assert ((after.embeddings[:, 0] == 0) == silent).all()


@CHECKS.of("bag_strength")
def the_larger_the_closer_the_bag_of_words_is_to_its_texts():
    losses = []
    for strength in (0.1, 100.0):
        model = fit(*reviews(), replace(FROZEN, init="bag", bag_strength=strength, layers=0))
        losses.append(model.metrics["training"][0]["loss"])
    assert losses[1] < 0.5 * losses[0]


@CHECKS.of("binary")
def what_is_said_twice_counts_twice_or_once():
    texts, labels = ["loud loud dull", "loud dull dull"] * 20, [1, 0] * 20
    learns = replace(FROZEN, learning_rate=0.1, epochs=8)
    for binary, right in ((False, 1.0), (True, 0.5)):
        model = fit(texts, labels, replace(learns, binary=binary))
        assert model.binary == binary
        assert (model.predict(texts) == np.array(labels)).mean() == right
        assert model.metrics["training"][-1]["accuracy"] == pytest.approx(right, abs=0.2)


# the vocabulary


@CHECKS.of("overlapping")
def each_place_of_a_text_belongs_to_one_token_the_one_that_says_most():
    texts, labels = ["not good at all", "very good at all"] * 12, [0, 1] * 12
    both = replace(FROZEN, longest_phrase=2)
    several, once = (fit(texts, labels, replace(both, overlapping=overlapping)) for overlapping in (True, False))
    found = once.explain("not good at all")
    assert not once.tokeniser.overlapping
    assert sum(share.word.count(" ") + 1 for share in found.ledger) == 4

    assert len(several.explain("not good at all").ledger) == 7


@CHECKS.of("longest_phrase")
def phrases_have_no_more_words_than_that():
    for longest in (1, 2, 3):
        found = known(replace(FROZEN, longest_phrase=longest), ["one two three four five", "six"] * 4, [0, 1] * 4)
        assert max(surface.count(" ") + 1 for surface in found) == longest


@CHECKS.of("max_words")
def candidates_are_the_words_that_most_texts_have():
    assert known(replace(FROZEN, max_words=2)) == {"both", "calm"}


@CHECKS.of("max_phrases")
def candidates_are_the_phrases_that_tell_the_classes_apart_best():
    texts = ["not good at all", "very good at all"] * 4
    found = known(replace(FROZEN, longest_phrase=2, max_phrases=2), texts, [0, 1] * 4)
    assert {surface for surface in found if " " in surface} == {"not good", "very good"}


@CHECKS.of("min_df")
def what_fewer_texts_say_is_no_candidate():
    for fewest, least in ((1, set()), (2, {"rare"}), (13, {"rare", "loud", "dull"})):
        assert known(replace(FROZEN, min_df=fewest)) == set(SAID) - least


@CHECKS.of("max_tokens")
def no_more_are_kept_and_those_with_the_largest_say():
    assert known(replace(FROZEN, max_tokens=2)) == {"loud", "dull"}


@CHECKS.of("thrift")
def so_many_more_texts_must_twice_the_tokens_tell_apart_or_are_left_out():
    others = ["film", "plot", "cast", "scene", "story", "script", "music"]
    texts, labels = [f"{word} {other}" for other in others * 6 for word in ("good", "bad")], [1, 0] * 42
    assert known(replace(FROZEN, thrift=0.0), texts, labels) == {"good", "bad", *others}
    assert known(replace(FROZEN, thrift=3.0), texts, labels) == {"good", "bad"}
    assert known(replace(FROZEN, thrift=30.0), texts, labels) < {"good", "bad"}  # the other half is guessed


@CHECKS.of("min_log_odds")
def tokens_that_both_classes_use_alike_are_left_out():
    assert known(replace(FROZEN, min_log_odds=1.0)) == {"loud", "dull"}


@CHECKS.of("smoothing")
def the_larger_the_less_rare_tokens_count_as_clear():
    clear = replace(FROZEN, min_log_odds=0.5)
    assert known(replace(clear, smoothing=0.5)) - known(replace(clear, smoothing=4.0)) == {"rare"}


@CHECKS.of("smoothing")
def the_larger_the_nearer_rare_tokens_start():
    little, much = (starts(replace(FROZEN, init="odds", smoothing=smoothing)) for smoothing in (0.1, 4.0))
    assert much["rare"] / much["loud"] < 0.5 * little["rare"] / little["loud"]


def alone(texts: list[str], labels: np.ndarray) -> dict[str, float]:
    """What each word says if no other accounts for it: its log-odds squared, times its texts for less those against,
    every text counting the less, the longer its vector of log-odds."""
    words = sorted({word for text in texts for word in text.split()})
    has = np.array([[word in text.split() for word in words] for text in texts])
    theirs, others = (has[labels == c].sum(axis=0) + 1 for c in (1, 0))
    odds = np.log(theirs / theirs.sum()) - np.log(others / others.sum())
    says = odds**2 * (has.T @ (np.where(labels == 1, 1, -1) / np.sqrt((has * odds**2).sum(axis=1))))
    return dict(zip(words, says.tolist(), strict=True))


@CHECKS.of("strength")
def with_next_to_none_the_token_is_chosen_that_says_most_alone():
    says = alone(*mixed_reviews())
    loudest = max(says, key=lambda word: abs(says[word]))
    assert known(replace(FROZEN, max_tokens=1, strength=1e-6), *mixed_reviews()) == {loudest}
    assert known(replace(FROZEN, max_tokens=1, strength=100.0), *mixed_reviews()) != {loudest}


@CHECKS.of("strength")
def with_next_to_none_tokens_start_where_each_would_alone():
    says = alone(*mixed_reviews())
    weak, strong = (
        starts(replace(FROZEN, init="linear", strength=strength), *mixed_reviews()) for strength in (1e-6, 100.0)
    )
    size = weak["worda"] / says["worda"]
    assert weak == pytest.approx({word: size * say for word, say in says.items()}, rel=1e-3)
    assert strong != pytest.approx({word: size * say for word, say in says.items()}, rel=0.2)


@CHECKS.of("strength")
def thrift_asks_a_linear_model_of_that_strength():
    texts, labels = mixed_reviews()
    every = fit(texts, labels, FROZEN)
    encoded = encode(texts, every.vocabulary, every.tokeniser)
    numbers = {s: enough_tokens(encoded, labels, len(every.vocabulary), strength=s, thrift=1.0) for s in (0.3, 100.0)}
    assert len(set(numbers.values())) == 2
    for strength, number in numbers.items():
        assert len(known(replace(FROZEN, thrift=1.0, strength=strength), texts, labels)) == number
