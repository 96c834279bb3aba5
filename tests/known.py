"""Clouds whose limits are known in closed form, each with the reason for them."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from oracle import Cloud, Matrix, apply


@dataclass(frozen=True, kw_only=True)
class Known:
    """A cloud, its parameters, and what becomes of it.

    `limits[i]` is where token i tends to. `leaders` are the indices of the tokens that some day
    attend to their own position alone (every copy of a repeated token counts), `leader_layers` the
    first layer of each."""

    name: str
    tokens: Cloud
    limits: Cloud
    leaders: tuple[int, ...] = (0, 1, 2, 3)
    leader_layers: tuple[int, ...] = (0, 0, 0, 0)
    alpha: Fraction = Fraction(1)
    metric: Matrix | None = None

    def __str__(self) -> str:
        return self.name


def rational(*rows: str) -> list[list[Fraction]]:
    """Rows of rationals as they are written: `rational("1 0", "-1/2 0.3")`."""
    return [[Fraction(number) for number in row.split()] for row in rows]


TURN = rational("3/5 -4/5", "4/5 3/5")
SQUARE = rational("1 1", "-1 1", "-1 -1", "1 -1")
CUBE = [[Fraction(x) for x in corner] for corner in product((1, -1), repeat=3)]


def turned(tokens: Cloud) -> Cloud:
    return [apply(TURN, token) for token in tokens]


def around_square(name: str, tokens: Cloud, limits: Cloud, alpha: Fraction = Fraction(1)) -> Known:
    """A square and tokens of its hull: the four vertices lead at once, and nobody else ever
    does."""
    return Known(
        name=name,
        tokens=SQUARE + tokens,
        limits=SQUARE + limits,
        alpha=alpha,
    )


KNOWN = (
    Known(
        # The maximum over one token is that token.
        name="one token",
        tokens=rational("3 -4"),
        limits=rational("3 -4"),
        leaders=(0,),
        leader_layers=(0,),
    ),
    Known(
        # On the line a positive token follows the largest, a negative one the smallest.
        name="both sides of the line",
        tokens=rational("3", "1", "1/7", "-1/4", "-2"),
        limits=rational("3", "3", "3", "-2", "-2"),
        leaders=(0, 4),
        leader_layers=(0, 0),
        alpha=Fraction(1, 2),
    ),
    Known(
        # The smallest of three positive numbers is a vertex of the hull, yet it follows the
        # largest: the hull shrinks to a point.
        name="one side of the line",
        tokens=rational("1/2", "3", "2"),
        limits=rational("3", "3", "3"),
        leaders=(1,),
        leader_layers=(0,),
        alpha=Fraction(3, 2),
    ),
    Known(
        # Zero attends to all four tokens, whose mean is 1/2: it steps to the positive side and
        # follows 3.
        name="zero on the line takes a side",
        tokens=rational("3", "1", "0", "-2"),
        limits=rational("3", "3", "3", "-2"),
        leaders=(0, 3),
        leader_layers=(0, 0),
    ),
    # The inner token looks along (1, 0) and ties (1, 1) with (1, -1): its target (1, 0) keeps it on
    # the axis.
    around_square("square", rational("1/2 0"), rational("1 0")),
    around_square("square, long steps", rational("1/2 0"), rational("1 0"), alpha=Fraction(10)),
    Known(
        # The mean of (1, 1), (1, 1), (1, -1) is (1, 1/3): the token leaves the axis and the tie is
        # over.
        name="square with a vertex twice",
        tokens=rational("1 1", "1 1", "-1 1", "-1 -1", "1 -1", "1/2 0"),
        limits=rational("1 1", "1 1", "-1 1", "-1 -1", "1 -1", "1 1"),
        leaders=(0, 1, 2, 3, 4),
        leader_layers=(0, 0, 0, 0, 0),
    ),
    # A token on the edge votes in the tie although it follows (1, 1): the mean (1, 1/6) is above
    # the axis.
    around_square(
        "square with a voter on an edge", rational("1/2 0", "1 1/2"), rational("1 1", "1 1")
    ),
    # Two voters that mirror each other leave for their vertices and keep the tie in balance at
    # every layer.
    around_square(
        "square with two voters on an edge",
        rational("1/2 0", "1 1/2", "1 -1/2"),
        rational("1 0", "1 1", "1 -1"),
    ),
    # The edge's middle attends to the edge and to itself, whose mean it is: it never moves and
    # never leads.
    around_square(
        "square with the middle of an edge", rational("1 0", "1/2 0"), rational("1 0", "1 0")
    ),
    # Zero attends to everybody, and their mean is zero: it stays, inside the hull of the leaders.
    around_square("zero in a square", rational("0 0"), rational("0 0")),
    # The six tokens have mean (1/12, 0): zero steps onto the positive axis, and there it ties two
    # vertices.
    around_square(
        "zero beside a token in a square", rational("0 0", "1/2 0"), rational("1 0", "1 0")
    ),
    # The paper's clusters without a leader: the ends of the middle axis tend to the projections of
    # the origin onto two edges. Turned by a rational rotation floats lose the ties and send them to
    # vertices.
    Known(
        name="trap H1: non-leader clusters, turned",
        tokens=turned(SQUARE + rational("1/2 0", "-1/2 0")),
        limits=turned(SQUARE + rational("1 0", "-1 0")),
        alpha=Fraction(1, 2),
    ),
    # The second inner token follows (1, 1) and gets ever closer, but never arrives: it has no vote
    # in the tie of the first. In floats it arrives after some 50 layers, and votes.
    around_square(
        "trap H2: the late voter", rational("1/2 0", "3/10 1/10"), rational("1 0", "1 1")
    ),
    Known(
        # (-1/12, 1/12) first attends to (0, 1/4), which leaves for (1, 1/3). One layer later, at
        # 2/3 (-1/12, 1/12) + 1/3 (0, 1/4) = (-1/18, 5/36), nobody lies further out its way.
        name="emerging leader",
        tokens=rational(
            "1 1/3", "-1/12 1/12", "-1 -1", "0 1/4", "-0.3 -0.7", "-0.6 -0.9", "0.8 0.1", "0.6 0.15"
        ),
        limits=rational(
            "1 1/3", "-1/18 5/36", "-1 -1", "1 1/3", "-1 -1", "-1 -1", "1 1/3", "1 1/3"
        ),
        leaders=(0, 1, 2),
        leader_layers=(0, 1, 0),
        alpha=Fraction(1, 2),
    ),
    Known(
        # In the plane z = 1 scores are those of the flat square plus 1. Its centre sees all tokens
        # tied; their mean (1/12, 0, 1) pulls it off the centre, and then it ties one edge as its
        # neighbour does.
        name="flat square in space",
        tokens=rational("1 1 1", "-1 1 1", "-1 -1 1", "1 -1 1", "1/2 0 1", "0 0 1"),
        limits=rational("1 1 1", "-1 1 1", "-1 -1 1", "1 -1 1", "1 0 1", "1 0 1"),
    ),
    Known(
        # A face, an edge and a vertex of the cube: the origin projected onto each.
        name="cube",
        tokens=CUBE + rational("1/3 0 0", "1/3 1/3 0", "1/3 1/4 1/5"),
        limits=CUBE + rational("1 0 0", "1 1 0", "1 1 1"),
        leaders=tuple(range(8)),
        leader_layers=(0,) * 8,
        alpha=Fraction(1, 3),
    ),
    Known(
        # (1, -1) looks along A (1, -1) = (1, 0), which ties it with (1, 1): it slides up and the
        # tie is over.
        name="square seen through a metric",
        tokens=SQUARE,
        limits=rational("1 1", "-1 -1", "-1 -1", "1 1"),
        leaders=(0, 2),
        leader_layers=(0, 0),
        metric=rational("2 1", "1 1"),
    ),
    Known(
        # A parallelogram that is a square in the A-norm: (0, 1) and (1, -1) are middles of its
        # edges, and tokens on the way to them tie the ends, e.g. A (0, 1) = (1, 1) scores (1, 0)
        # and (-1, 2) alike.
        name="square of a metric",
        tokens=rational("1 0", "-1 2", "-1 0", "1 -2", "0 1/2", "1/2 -1/2", "1/4 1/4"),
        limits=rational("1 0", "-1 2", "-1 0", "1 -2", "0 1", "1 -1", "1 0"),
        metric=rational("2 1", "1 1"),
        alpha=Fraction(2),
    ),
)

# Clouds for each clause of statement 4 of a certificate, with alpha, the settling layer and the
# layers of changes. The last token is tied; t runs from 1 down to 0 as it goes to its target.
LEVEL = rational(
    "10 10 0 0", "10 -10 0 0", "0 0 0 50", "15 0 -9 10", "1 0 1 0"
)  # at t = 5/6 and at no other time
CLAUSES = {
    # Zero attends to everybody and sits in their mean, until 1 has moved.
    "a target that moves": (rational("-3", "1", "2", "0"), "3", 2, [0, 2]),
    # Voters on their way to (4, 8, 0) and (4, -8, 0) keep the mean where it is, but not the tie.
    "tied tokens that part": (
        rational("4 8 0", "4 -8 0", "5 6 -1", "3 -6 1", "1 0 1"),
        "1",
        2,
        [0, 1, 2],
    ),
    # The first of the tied tokens stays in front, so that none overtakes it; but the others fall
    # behind.
    "tied tokens that fall behind": (
        rational("5 6 -1", "4 8 0", "4 -8 0", "3 -6 1", "1 0 1"),
        "1",
        2,
        [0, 1, 2],
    ),
    # (15, 0, -60) is far behind along (1, 0, 1), and in front along the target (10, 0, 0).
    "in front at the end": (rational("10 10 0", "10 -10 0", "15 0 -60", "1 0 1"), "1", 2, [0, 2]),
    # The fourth token comes closer for a while, but never level.
    "behind": (
        rational("10 10 0 0", "10 -10 0 0", "9 0 0 600", "15 0 -70 10", "1 0 1 0"),
        "1",
        0,
        [0],
    ),
    "level in a layer": (LEVEL, "1/5", 3, [0, 1, 2, 3]),
    "level between layers": (LEVEL, "1", 0, [0]),
    # It is in front from t = 0.82 to 0.18, between two long layers.
    "between": (
        rational("10 10 0 0", "10 -10 0 0", "9 0 0 50", "15 0 -15 10", "1 0 1 0"),
        "10",
        0,
        [0],
    ),
}
