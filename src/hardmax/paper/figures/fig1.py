"""The paper's Figure 1: the half-space in which a token finds whom it attends to, for two metrics."""

from collections.abc import Mapping
from fractions import Fraction

from hardmax.dynamics import Dynamics
from hardmax.figures.halfspaces import halfspace_figure
from hardmax.figures.mpl import Figure
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import listed, written
from hardmax.simulation import simulate
from hardmax.trajectory import Trajectory

# With A = I token 0 ties 1 and 2; with A = ((2, 1), (1, 1)) it looks further up and attends to 3 alone.
FIGURE_1 = [(1, -0.5), (1.5, -1.5), (2, -0.5), (1.5, 1.75)]
METRICS = {"A = I": None, "A = ((2, 1), (1, 1))": [[2, 1], [1, 1]]}
TOKEN = 0


def figure1_runs() -> dict[str, Trajectory]:
    """The two metrics of Figure 1, on four tokens of our choice."""
    return {name: simulate(FIGURE_1, Dynamics("1/2", metric), layers=0) for name, metric in METRICS.items()}


def compute(setting: Setting) -> Numbers:
    """Whom the token attends to in each metric, and what every token scores with it, exactly."""
    panels = []
    for name, run in figure1_runs().items():
        tokens, metric = run.exact_at(0), METRICS[name] or [[1, 0], [0, 1]]
        direction = [sum(a * z for a, z in zip(row, tokens[TOKEN], strict=True)) for row in metric]
        scores = [sum(a * z for a, z in zip(direction, token, strict=True)) for token in tokens]
        panels.append(
            {
                "name": name,
                "metric": metric,
                "tokens": written(tokens),
                "token": TOKEN,
                "direction": [str(number) for number in direction],
                "scores": [str(score) for score in scores],
                "attended": run.attended(0)[TOKEN].tolist(),
                "in_half_space": [token for token, score in enumerate(scores) if score >= scores[TOKEN]],
            }
        )
    return {"panels": panels}


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A panel for each metric."""
    runs = {
        panel["name"]: simulate(panel["tokens"], Dynamics("1/2", panel["metric"]), layers=0)
        for panel in numbers["panels"]
    }
    return {"": halfspace_figure(runs, numbers["panels"][0]["token"])}


def remark(numbers: Numbers) -> str:
    """Who is attended to, with the scores that decide it."""
    told = []
    for panel in numbers["panels"]:
        best = max(map(Fraction, panel["scores"]))
        chosen = [str(token) for token in panel["attended"]]
        told.append(
            f"With {panel['name']} token {panel['token']} looks along ({', '.join(panel['direction'])}); "
            f"the largest score is {best}, of token{'s' * (len(chosen) > 1)} {listed(chosen)}."
        )
    return (
        " ".join(told)
        + " As the authors draw it, the metric alone turns a tie of two tokens into the choice of a third, and whoever "
        "is attended to lies in the shaded half-space. Scores are rational numbers here, so that the tie is a tie."
    )


PIECE = Piece(
    name="fig1",
    title="Attended sets and half-spaces",
    caption=(
        "One token (blue dot, z₀) among four, and whom it attends to (red squares), for A = I and for A = ((2, 1), "
        "(1, 1)). The arrow is the direction A z₀, from the origin (+); dotted lines fall from every token onto it, "
        "and those whose foot lies furthest out are attended to: z₁ and z₂ on the left, z₃ on the right. They can "
        "only lie in the half-space of all z with ⟨A z₀, z − z₀⟩ ≥ 0, which is shaded."
    ),
    compute=compute,
    draw=draw,
    remark=remark,
)
