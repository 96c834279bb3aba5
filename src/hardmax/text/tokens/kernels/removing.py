"""Words taken out of one text, one by one: what the tokens that are left say, told from where a word stood.

Taking a word out makes no token that was not there: of the known tokens that stand in the text, those with the word
go, and others, whose place they had taken, may come instead, for which others again may have to go. So what changes is
found by asking from neighbour to neighbour. Where no token reaches from what one word changes to what another changes,
each changes it as if the other were there.
"""

from typing import NamedTuple

import numpy as np

from hardmax._compile import njit
from hardmax.text.tokens.kernels.numbering import number_kinds


class Found(NamedTuple):
    """The tokens that stand in a text, and its words, as `hardmax.text.tokens.spots` has them."""

    tokens: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    rows: np.ndarray
    words: np.ndarray


class Cloud(NamedTuple):
    """The vectors of all tokens; those of the text, where they end, which of them lead and count, and how much all
    count together; what a token keeps of its way to a leader; and the direction along which words speak. The metric is
    empty for the identity; `neutral` is the token that is the neutral leader, or -1. Tokens whose strength is at most
    `least` are silent."""

    table: np.ndarray
    metric: np.ndarray
    ids: np.ndarray
    ends: np.ndarray
    leaders: np.ndarray
    counting: np.ndarray
    voices: float
    share: float
    direction: np.ndarray
    neutral: int
    strengths: np.ndarray
    least: float


class Stand(NamedTuple):
    """The tokens in the order in which places are given to them. Token i takes the pieces from `firsts[i]` to
    `lasts[i]`, and none takes more than `longest`; piece p can belong to those in `over` from `bounds[p]` up to
    `bounds[p + 1]`, and belongs to `owner[p]`, the one of them that counts, or to nobody, -1."""

    kinds: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    kept: np.ndarray  # whether it counts
    over: np.ndarray
    bounds: np.ndarray
    owner: np.ndarray
    longest: int


class Units(NamedTuple):
    """Word u stands at the piece `heads[u]`, at `nexts` of it, and so on until -1; piece p is of the word
    `of_piece[p]`, or -1. Alone it is a token of the kind `singles[u]`, or unknown, -1."""

    heads: np.ndarray
    nexts: np.ndarray
    of_piece: np.ndarray
    singles: np.ndarray


class Says(NamedTuple):
    """What a token of each kind says in the text, and on its own; whether it says so once, however often it counts; and
    whether tokens may overlap."""

    says: np.ndarray
    alone: np.ndarray
    binary: bool
    overlapping: bool


class State(NamedTuple):
    """Which pieces are gone; how often each kind counts; which tokens are to be asked; for each piece the pieces
    between which tokens change without the word there; and for each kind a token, for each token another of its kind,
    or -1."""

    gone: np.ndarray
    counts: np.ndarray
    waiting: np.ndarray
    waits: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    nearest: np.ndarray
    further: np.ndarray


@njit
def find_stand(tokens, kinds, firsts, lasts, rows, pieces, overlapping):
    """The tokens of a text of so many pieces; those with a row count."""
    count, longest = len(tokens), 1
    keys = np.empty(count, np.int64)
    for i in range(count):
        keys[i] = np.int64(tokens[i]) << 32 | i
    keys.sort()
    turns = keys & 0xFFFFFFFF
    kinds, firsts, lasts, kept = kinds[turns], firsts[turns], lasts[turns], rows[turns] >= 0
    bounds, owner = np.zeros(pieces + 2, np.int64), np.full(pieces, -1, np.int64)
    for i in range(count):
        longest = max(longest, lasts[i] - firsts[i] + 1)
        for piece in range(firsts[i], lasts[i] + 1):
            bounds[piece + 2] += 1
            if kept[i]:
                owner[piece] = i
    bounds = np.cumsum(bounds)
    over = np.empty(bounds[-1], np.int64)
    for i in range(count):
        for piece in range(firsts[i], lasts[i] + 1):
            over[bounds[piece + 1]] = i
            bounds[piece + 1] += 1
    return Stand(kinds, firsts, lasts, kept, over, bounds, owner, longest)


@njit
def find_units(words, stand):
    """The distinct words of which one at least stands in a token."""
    pieces = len(words)
    numbers, kinds = np.empty(pieces, np.int32), np.empty(pieces, np.int32)
    many = number_kinds(words, words >= 0, numbers, kinds)
    unit_of, lasts = np.full(many, -1, np.int64), np.empty(many, np.int64)
    heads, units = np.empty(many, np.int64), 0
    for piece in range(pieces):
        if numbers[piece] >= 0 and unit_of[numbers[piece]] < 0 and stand.bounds[piece] < stand.bounds[piece + 1]:
            unit_of[numbers[piece]], heads[units], units = units, -1, units + 1
    of_piece, nexts = np.full(pieces, -1, np.int64), np.full(pieces, -1, np.int64)
    for piece in range(pieces):
        unit = unit_of[numbers[piece]] if numbers[piece] >= 0 else -1
        if unit < 0:
            continue
        of_piece[piece] = unit
        if heads[unit] < 0:
            heads[unit] = piece
        else:
            nexts[lasts[unit]] = piece
        lasts[unit] = piece
    singles = np.full(units, -1, np.int64)
    for i in range(len(stand.kinds)):
        if stand.firsts[i] == stand.lasts[i] and of_piece[stand.lasts[i]] >= 0:
            singles[of_piece[stand.lasts[i]]] = stand.kinds[i]
    return Units(heads[:units], nexts, of_piece, singles)


@njit(inline="always")
def _is_free(i, first, last, owner, gone, overlapping):
    """Whether a token has all its pieces: none is gone or belongs to one that comes before it."""
    free = True
    for piece in range(first, last + 1):
        free = free and not gone[piece] and (overlapping or owner[piece] < 0 or owner[piece] >= i)
    return free


@njit(inline="always")
def _hand_over(i, comes, first, last, owner):
    """The pieces of a token become its own, or nobody's."""
    for piece in range(first, last + 1):
        if comes:
            owner[piece] = i
        elif owner[piece] == i:
            owner[piece] = -1


@njit(inline="always")
def _pop(waiting, left):
    """Of those waiting the one that comes first; the last takes its place."""
    first = 0
    for n in range(1, left):
        first = n if waiting[n] < waiting[first] else first
    i = waiting[first]
    waiting[first] = waiting[left - 1]
    return i


@njit(inline="always")
def _count(kind, comes, value, counts, binary):
    """Count one token of a kind more or less; give back what is said less."""
    counts[kind] += 1 if comes else -1
    heard = not binary or counts[kind] == (1 if comes else 0)
    return (-value[kind] if comes else value[kind]) if heard else 0.0


@njit
def _take(which, for_good, stand, units, says, state, loss, changed):
    """Take words out, one at a time and wherever they stand, and cut again from neighbour to neighbour: `loss` gets
    what is said less without each. Unless it is for good, all is then undone, the last change first. `changed` gets the
    tokens that the last one changed, in turn. Give back how many these are, and how far from where a word stands
    anything changes; -1 if there may be too many for `changed`, and then all is undone."""
    kinds, firsts, lasts, kept, over, bounds, owner, _ = stand
    gone, counts, waiting, waits, lows, highs, _, _ = state
    heads, nexts, value, binary, overlapping = units.heads, units.nexts, says.says, says.binary, says.overlapping
    reach, many = 0, 0
    for unit in which:
        piece, less, many = heads[unit], 0.0, 0
        while piece >= 0:
            gone[piece] = True
            piece = nexts[piece]
        piece = heads[unit]
        is_enough = True
        while piece >= 0 and is_enough:
            low, high, left = piece, piece, 0
            for n in range(bounds[piece], bounds[piece + 1] if overlapping else bounds[piece]):
                waiting[left] = over[n]
                left += kept[over[n]]
            if not overlapping and owner[piece] >= 0:
                waiting[0], left = owner[piece], 1
            while left:
                i = _pop(waiting, left)
                left, waits[i] = left - 1, False
                comes = _is_free(i, firsts[i], lasts[i], owner, gone, overlapping)
                if comes == kept[i]:
                    continue
                # Those after it may have to go, if it comes, or may come, if it goes; not those with the piece itself.
                alone = overlapping or firsts[i] == lasts[i] == piece
                for n in range(bounds[firsts[i]], 0 if alone else bounds[lasts[i] + 1]):
                    j = over[n]
                    if j > i and kept[j] == comes and not waits[j] and (firsts[j] > piece or lasts[j] < piece):
                        waiting[left], waits[j] = j, True
                        left += 1
                kept[i], changed[many], many = comes, i, many + 1
                _hand_over(i, comes, firsts[i], lasts[i], owner)
                less += _count(kinds[i], comes, value, counts, binary)
                low, high = min(low, firsts[i]), max(high, lasts[i])
            lows[piece], highs[piece], reach = low, high, max(reach, piece - low, high - piece)
            piece = nexts[piece]
            is_enough = many + len(kinds) <= len(changed)  # around a piece each token changes once at most
        loss[unit] = less
        if for_good and is_enough:
            continue
        for n in range(many - 1, -1, -1):
            i = changed[n]
            kept[i] = not kept[i]
            _hand_over(i, kept[i], firsts[i], lasts[i], owner)
            _count(kinds[i], kept[i], value, counts, binary)
        piece = heads[unit]
        while piece >= 0:
            gone[piece] = False
            piece = nexts[piece]
        if not is_enough:
            return -1, reach
    return many, reach


@njit(inline="always")
def _mark_near(low, high, reach, of_piece, lows, highs, asked):
    """Words have to be asked about again that change something between the pieces; none changes any further from where
    it stands than the reach."""
    for piece in range(max(low - reach, 0), min(high + reach + 1, len(of_piece))):
        if of_piece[piece] >= 0 and highs[piece] >= low and lows[piece] <= high:
            asked[of_piece[piece]] = True


@njit
def _mark(unit, stand, units, says, state, changed, reach, asked):
    """A word is gone: whoever may be worth something else now is asked again, those who change what is as near as a
    token reaches, and where tokens of a kind stand that came or went, and says what it says but once."""
    kinds, firsts, lasts, longest = stand.kinds, stand.firsts, stand.lasts, stand.longest
    of_piece, lows, highs = units.of_piece, state.lows, state.highs
    piece = units.heads[unit]
    while piece >= 0:
        _mark_near(lows[piece] - longest, highs[piece] + longest, reach, of_piece, lows, highs, asked)
        piece = units.nexts[piece]
    for i in changed:
        other = state.nearest[kinds[i]] if says.binary and says.says[kinds[i]] != 0.0 else -1
        while other >= 0:
            _mark_near(firsts[other], lasts[other], reach, of_piece, lows, highs, asked)
            other = state.further[other]


@njit
def _room(stand, units, many):
    pieces, tokens, counts = len(units.of_piece), len(stand.kinds), np.zeros(many, np.int64)
    nearest, further = np.full(many, -1, np.int64), np.empty(tokens, np.int64)
    for i in range(tokens):
        kind = stand.kinds[i]
        counts[kind] += stand.kept[i]
        further[i], nearest[kind] = nearest[kind], i
    return State(
        np.zeros(pieces, np.bool_),
        counts,
        np.empty(tokens, np.int64),
        np.zeros(tokens, np.bool_),
        np.empty(pieces, np.int64),
        np.empty(pieces, np.int64),
        nearest,
        further,
    )


@njit
def remove_words(stand, units, says):
    """Each time the word that is worth most: a third of it is what the text says less without it, two thirds what it
    says on its own. Give back the words in this order, what each was worth and what the text said less; when none is
    worth more than nothing, the rest follow in the order of what they are worth then."""
    state, several = _room(stand, units, len(says.says)), len(units.heads)
    rounding = 1e-12 * np.abs(says.says).max() if len(says.says) else 0.0
    order, done, reach = np.empty(several, np.int64), 0, 0
    worth, loss, lost = np.empty(several), np.empty(several), np.empty(several)
    asked, left = np.ones(several, np.bool_), np.ones(several, np.bool_)
    changed = np.empty(2 * len(stand.kinds), np.int64)
    while done < several:
        which = np.flatnonzero(asked & left)
        many, further = _take(which, False, stand, units, says, state, loss, changed)
        if many < 0:
            changed = np.empty(2 * len(changed), np.int64)
            continue
        reach, best = max(reach, further), -1
        for u in which:
            # Tokens come and go that say the same: what is rounding is nothing.
            loss[u] = loss[u] if abs(loss[u]) > rounding else 0.0
            worth[u] = (loss[u] + (2 * says.alone[units.singles[u]] if units.singles[u] >= 0 else 0.0)) / 3
        for u in range(several):
            if left[u] and (best < 0 or worth[u] > worth[best]):
                best = u
        if worth[best] <= 0.0:
            break
        order[done], left[best], asked[:] = best, False, False
        many, _ = _take(order[done : done + 1], True, stand, units, says, state, lost, changed)
        _mark(best, stand, units, says, state, changed[:many], reach, asked)
        done += 1
    rest = np.flatnonzero(left)
    order[done:] = rest[np.argsort(-worth[rest], kind="mergesort")]
    return order, worth[order], loss[order]


@njit
def _speak(tokens, rows, cloud, says, alone):
    """What each kind of token says along the direction, in the text and on its own. Those that are in the text end
    where they end; others with the leader that is furthest along their direction, or where they are, if that is
    further. Whoever follows the neutral leader says nothing."""
    table, metric, ends = cloud.table, cloud.metric, cloud.ends
    d = table.shape[1]
    along = np.empty(d)
    for k in range(len(tokens)):
        point = table[tokens[k]]
        own, itself, neutral = 0.0, 0.0, -np.inf
        for axis in range(d):
            along[axis] = point[axis]
            if len(metric):
                along[axis] = 0.0
                for other in range(d):
                    along[axis] += metric[axis, other] * point[other]
            own += point[axis] * cloud.direction[axis]
            itself += along[axis] * point[axis]
        best, leader = itself, -1
        for row in cloud.leaders:
            score = 0.0
            for axis in range(d):
                score += along[axis] * ends[row, axis]
            if cloud.ids[row] == cloud.neutral:
                neutral = score
            if score > best:
                best, leader = score, row
        alone[k] = own if itself >= neutral and (cloud.least < 0 or cloud.strengths[tokens[k]] > 0) else 0.0
        if rows[k] >= 0:
            leader = -1
            own = 0.0
            for axis in range(d):
                own += ends[rows[k], axis] * cloud.direction[axis] * cloud.counting[rows[k]]
        elif cloud.strengths[tokens[k]] <= cloud.least:
            own = 0.0
        elif leader >= 0:
            there = 0.0
            for axis in range(d):
                there += ends[leader, axis] * cloud.direction[axis]
            own = 0.0 if cloud.ids[leader] == cloud.neutral else there + cloud.share * (own - there)
        says[k] = own


@njit
def rank_words(spots, cloud, binary, overlapping):
    """The words of a text as `remove_words` has them: the pieces where they first stand, what they are worth, what the
    text says less without them; and for each piece the next one of the same word, or -1."""
    count = len(spots.tokens)
    kinds, ids = np.empty(count, np.int32), np.empty(count, np.int32)
    many = number_kinds(spots.tokens, np.ones(count, np.bool_), kinds, ids)
    rows, says, alone = np.full(many, -1, np.int64), np.empty(many), np.empty(many)
    for i in range(count):
        if spots.rows[i] >= 0:
            rows[kinds[i]] = spots.rows[i]
    _speak(ids[:many], rows, cloud, says, alone)
    said = Says(says / cloud.voices, alone / cloud.voices, binary, overlapping)
    pieces = len(spots.words)
    stand = find_stand(spots.tokens, kinds, spots.firsts, spots.lasts, spots.rows, pieces, overlapping)
    units = find_units(spots.words, stand)
    order, worths, losses = remove_words(stand, units, said)
    return units.heads[order], worths, losses, units.nexts
