"""A cloud enters: its tokens are copied, nobody leads yet, and of equal tokens most are left out of the scores."""

# pyright: reportInvalidTypeForm=false
from __future__ import annotations

from hardmax.engines.gpu.kernels.language import jit, tl
from hardmax.engines.gpu.kernels.layout import ASKED, FLAT, TABLE, TOKENS, TWINS


@jit
def enter(tokens, ahead, count, d: tl.constexpr):
    """Copy a cloud, with 0.0 for -0.0; its largest coordinate."""
    reach = tl.zeros((FLAT,), dtype=tl.float64)
    for first in range(0, count * d, FLAT):
        at = tl.minimum(first + tl.arange(0, FLAT), count * d - 1)
        x = tl.load(tokens + at) + 0.0
        tl.store(ahead + at, x)
        reach = tl.maximum(reach, tl.abs(x))
    return tl.max(reach, 0)


@jit
def begin(leader_since, lists, count, room: tl.constexpr):
    """Nobody leads yet, everybody is asked, and everybody is scored."""
    for first in range(0, count, TOKENS):
        token = tl.minimum(first + tl.arange(0, TOKENS), count - 1)
        tl.store(leader_since + token, tl.full((TOKENS,), -1, dtype=tl.int64))
        tl.store(lists + ASKED * room + token, token)
        tl.store(lists + TWINS * room + token, tl.zeros((TOKENS,), dtype=tl.int32))


@jit
def were_equal(tokens, one, other, d: tl.constexpr):
    """Which tokens were equal to others at the start."""
    different = tl.zeros(one.shape, dtype=tl.int32)
    for k in range(d):
        different |= (tl.load(tokens + one * d + k) != tl.load(tokens + other * d + k)).to(tl.int32)
    return different == 0


@jit
def _slots(tokens, token, slots: tl.constexpr, d: tl.constexpr):
    """A place for each token in a table, the same for equal tokens."""
    key = tl.zeros(token.shape, dtype=tl.int64)
    for k in range(d):
        key = (key ^ (tl.load(tokens + token * d + k) + 0.0).to(tl.int64, bitcast=True)) * 0x9E3779B97F4A7C1
        key ^= key >> 31
    return ((key >> 20) & (slots - 1)).to(tl.int32)


@jit
def find_twins(tokens, lists, count, room: tl.constexpr, slots: tl.constexpr, d: tl.constexpr):
    """Mark tokens that need not be scored because an equal one is; how many are not marked.

    Whoever comes last into a place of the table is scored, and so is everybody who meets a stranger there.
    """
    twins, table = lists + TWINS * room, lists + TABLE * room
    for first in range(0, count, TOKENS):
        token = tl.minimum(first + tl.arange(0, TOKENS), count - 1)
        tl.store(table + _slots(tokens, token, slots, d), token)
    tl.debug_barrier()
    kept = count
    for first in range(0, count, TOKENS):
        token = first + tl.arange(0, TOKENS)
        source = tl.minimum(token, count - 1)
        other = tl.load(table + _slots(tokens, source, slots, d))
        twin = (token < count) & (other != token) & were_equal(tokens, source, other, d)
        tl.store(twins + token, twin.to(tl.int32), mask=token < count)
        kept -= tl.sum(twin.to(tl.int32), 0)
    tl.debug_barrier()
    return kept
