"""What the kernels of small clouds agree on: what is where in the arrays that they share, and how much is done at once.

`lists`, int32, has four parts of `room` numbers for the tokens of a cloud, and a table: ORDER, the tokens as they are
scored, the long ones first; ASKED, who still has to choose; CHOSEN, whom each token attends to; TWINS, 1 for a token
that is not scored because an equal one is; TABLE, in which these are found.

`roughs`, float32, has two parts of `d` axes with `room` numbers each: the points, in ORDER, and where the tokens look,
in their own order.
"""

from hardmax.engines.gpu.kernels.language import tl

# Parts of `lists`, in units of `room`.
ORDER, ASKED, CHOSEN, TWINS, TABLE = (tl.constexpr(part) for part in range(5))

# Places in `factors`: those of `bounds.kernel_factors`, then those that `gpu_batch` adds.
ROUNDING, SPREAD, TINY, STEP, SMALLEST, LARGEST = (tl.constexpr(place) for place in range(6))
KEEP, FILTER, REACH, LONG = (tl.constexpr(place) for place in range(6, 10))

# A program is one warp; it asks as many tokens at once, and has room for a multiple of them.
WARP = 32
ROWS = tl.constexpr(WARP)
# What else it has in hand at a time: tokens, coordinates, and contests, of which more would take registers from all.
TOKENS, FLAT, COLUMNS = tl.constexpr(64), tl.constexpr(256), tl.constexpr(4)
