"""Clouds whose limits are known in closed form, each with the reason for them."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from oracle import Cloud, Matrix, apply


@dataclass(frozen=True)
class Known:
    """A cloud, its parameters, and what becomes of it.

    `limits[i]` is where token i tends to. `leaders` are the indices of the tokens that some day
    attend to their own position alone (every copy of a repeated token counts), `leader_layers` the
    first layer of each."""

    name: str
    tokens: Cloud
    limits: Cloud
    leaders: tuple[int, ...]
    leader_layers: tuple[int, ...]
    alpha: Fraction = Fraction(1)
    metric: Matrix | None = None

    def __str__(self) -> str:
        return self.name


def rational(rows: str) -> list[list[Fraction]]:
    """Rows of rationals as they are written: `rational("1 0, -1/2 0.3")`."""
    return [[Fraction(number) for number in row.split()] for row in rows.split(", ")]


HALF = Fraction(1, 2)
TURN = rational("3/5 -4/5, 4/5 3/5")
SQUARE = rational("1 1, -1 1, -1 -1, 1 -1")
CUBE = [[Fraction(x) for x in corner] for corner in product((1, -1), repeat=3)]
FOUR = (0, 1, 2, 3)
KNOWN: list[Known] = []


def turned(tokens: Cloud) -> Cloud:
    return [apply(TURN, token) for token in tokens]


def know(name: str, tokens: Cloud, limits: Cloud, leaders=FOUR, layers=None, **more: Any) -> None:
    """Add a cloud; its leaders lead at once unless their layers are given."""
    layers = layers or (0,) * len(leaders)
    KNOWN.append(Known(name, tokens, limits, leaders, layers, **more))


def know_in_square(name: str, tokens: Cloud, limits: Cloud, alpha: Fraction = Fraction(1)) -> None:
    """A square and tokens of its hull: the four vertices lead at once, and nobody else ever
    does."""
    know(name, SQUARE + tokens, SQUARE + limits, alpha=alpha)


# The maximum over one token is that token.
know("one token", rational("3 -4"), rational("3 -4"), (0,))

# On the line a positive token follows the largest, a negative one the smallest.
LINE = rational("3, 1, 1/7, -1/4, -2")
know("both sides of the line", LINE, rational("3, 3, 3, -2, -2"), (0, 4), alpha=HALF)

# The smallest of three positive numbers is a vertex of the hull, yet it follows the largest: the
# hull shrinks to a point.
LINE = rational("1/2, 3, 2")
know("one side of the line", LINE, rational("3, 3, 3"), (1,), alpha=Fraction(3, 2))

# Zero attends to all four tokens, whose mean is 1/2: it steps to the positive side and follows 3.
LINE = rational("3, 1, 0, -2")
know("zero on the line takes a side", LINE, rational("3, 3, 3, -2"), (0, 3))

# The inner token looks along (1, 0) and ties (1, 1) with (1, -1): its target (1, 0) keeps it on
# the axis.
know_in_square("square", rational("1/2 0"), rational("1 0"))
know_in_square("square, long steps", rational("1/2 0"), rational("1 0"), Fraction(10))

# The mean of (1, 1), (1, 1), (1, -1) is (1, 1/3): the token leaves the axis and the tie is over.
CORNERS = rational("1 1, 1 1, -1 1, -1 -1, 1 -1")
INNER, END = rational("1/2 0"), rational("1 1")
know("square with a vertex twice", CORNERS + INNER, CORNERS + END, (*FOUR, 4))

# A token on the edge votes in the tie although it follows (1, 1): the mean (1, 1/6) is above the
# axis.
INNER, END = rational("1/2 0, 1 1/2"), rational("1 1, 1 1")
know_in_square("square with a voter on an edge", INNER, END)

# Two voters that mirror each other leave for their vertices and keep the tie in balance at every
# layer.
INNER, END = rational("1/2 0, 1 1/2, 1 -1/2"), rational("1 0, 1 1, 1 -1")
know_in_square("square with two voters on an edge", INNER, END)

# The edge's middle attends to the edge and to itself, whose mean it is: it never moves and never
# leads.
INNER, END = rational("1 0, 1/2 0"), rational("1 0, 1 0")
know_in_square("square with the middle of an edge", INNER, END)

# Zero attends to all points, and their mean is zero: it stays, inside the hull of the leaders.
know_in_square("zero in a square", rational("0 0"), rational("0 0"))

# The six tokens have mean (1/12, 0): zero steps onto the positive axis, and there it ties two
# vertices.
INNER, END = rational("0 0, 1/2 0"), rational("1 0, 1 0")
know_in_square("zero beside a token in a square", INNER, END)

# The paper's clusters without a leader: the ends of the middle axis tend to the projections of the
# origin onto two edges. Turned by a rational rotation floats lose the ties and send them to
# vertices.
INNER, END = SQUARE + rational("1/2 0, -1/2 0"), SQUARE + rational("1 0, -1 0")
know("trap H1: non-leader clusters, turned", turned(INNER), turned(END), alpha=HALF)

# The second inner token follows (1, 1) and gets ever closer, but never arrives: it has no vote in
# the tie of the first. In floats it arrives after some 50 layers, and votes.
INNER, END = rational("1/2 0, 3/10 1/10"), rational("1 0, 1 1")
know_in_square("trap H2: the late voter", INNER, END)

# (-1/12, 1/12) first attends to (0, 1/4), which leaves for (1, 1/3). One layer later, at
# 2/3 (-1/12, 1/12) + 1/3 (0, 1/4) = (-1/18, 5/36), no point lies further out its way.
TOKENS = rational("1 1/3, -1/12 1/12, -1 -1, 0 1/4, -0.3 -0.7, -0.6 -0.9, 0.8 0.1, 0.6 0.15")
LIMITS = rational("1 1/3, -1/18 5/36, -1 -1, 1 1/3, -1 -1, -1 -1, 1 1/3, 1 1/3")
know("emerging leader", TOKENS, LIMITS, (0, 1, 2), (0, 1, 0), alpha=HALF)

# In the plane z = 1 scores are those of the flat square plus 1. Its centre sees all tokens tied;
# their mean (1/12, 0, 1) pulls it off the centre, and then it ties one edge as its neighbour does.
FLAT = [[*token, Fraction(1)] for token in SQUARE]
INNER, END = rational("1/2 0 1, 0 0 1"), rational("1 0 1, 1 0 1")
know("flat square in space", FLAT + INNER, FLAT + END)

# A face, an edge and a vertex of the cube: the origin projected onto each.
TOKENS = CUBE + rational("1/3 0 0, 1/3 1/3 0, 1/3 1/4 1/5")
LIMITS = CUBE + rational("1 0 0, 1 1 0, 1 1 1")
know("cube", TOKENS, LIMITS, tuple(range(8)), alpha=Fraction(1, 3))

# (1, -1) looks along A (1, -1) = (1, 0), which ties it with (1, 1): it slides up and the tie is
# over.
TILTED = rational("2 1, 1 1")
LIMITS = rational("1 1, -1 -1, -1 -1, 1 1")
know("square seen through a metric", SQUARE, LIMITS, (0, 2), metric=TILTED)

# A parallelogram that is a square in the A-norm: (0, 1) and (1, -1) are middles of its edges, and
# tokens on the way to them tie the ends, e.g. A (0, 1) = (1, 1) scores (1, 0) and (-1, 2) alike.
TOKENS = rational("1 0, -1 2, -1 0, 1 -2, 0 1/2, 1/2 -1/2, 1/4 1/4")
LIMITS = rational("1 0, -1 2, -1 0, 1 -2, 0 1, 1 -1, 1 0")
know("square of a metric", TOKENS, LIMITS, metric=TILTED, alpha=Fraction(2))

# Clouds for each clause of statement 4 of a certificate, with alpha, the settling layer and the
# layers of changes. The last token is tied; t runs from 1 down to 0 as it goes to its target.
Clause = tuple[Cloud, str, int, list[int]]
CLAUSES: dict[str, Clause] = {}

# Zero attends to all points and sits in their mean, until 1 has moved.
CLAUSES["a target that moves"] = rational("-3, 1, 2, 0"), "3", 2, [0, 2]

# Voters on their way to (4, 8, 0) and (4, -8, 0) keep the mean where it is, but not the tie.
VOTERS = rational("4 8 0, 4 -8 0, 5 6 -1, 3 -6 1, 1 0 1")
CLAUSES["tied tokens that part"] = VOTERS, "1", 2, [0, 1, 2]

# The first of the tied tokens stays in front, so that none overtakes it; but the others fall
# behind.
VOTERS = rational("5 6 -1, 4 8 0, 4 -8 0, 3 -6 1, 1 0 1")
CLAUSES["tied tokens that fall behind"] = VOTERS, "1", 2, [0, 1, 2]

# (15, 0, -60) is far behind along (1, 0, 1), and in front along the target (10, 0, 0).
OUT = rational("10 10 0, 10 -10 0, 15 0 -60, 1 0 1")
CLAUSES["in front at the end"] = OUT, "1", 2, [0, 2]

# The fourth token comes closer for a while, but never level.
OUT = rational("10 10 0 0, 10 -10 0 0, 9 0 0 600, 15 0 -70 10, 1 0 1 0")
CLAUSES["behind"] = OUT, "1", 0, [0]

# It is level at t = 5/6 and at no other time.
LEVEL = rational("10 10 0 0, 10 -10 0 0, 0 0 0 50, 15 0 -9 10, 1 0 1 0")
CLAUSES["level in a layer"] = LEVEL, "1/5", 3, [0, 1, 2, 3]
CLAUSES["level between layers"] = LEVEL, "1", 0, [0]

# It is in front from t = 0.82 to 0.18, between two long layers.
OUT = rational("10 10 0 0, 10 -10 0 0, 9 0 0 50, 15 0 -15 10, 1 0 1 0")
CLAUSES["between"] = OUT, "10", 0, [0]
