"""The limit of a cloud as a figure of its own, with a key."""

from hardmax.figures import inputs
from hardmax.figures.asked import LimitLike, face_of, is_elsewhere
from hardmax.figures.inputs import validate_params
from hardmax.figures.limits import draw_limit, drawn_every
from hardmax.figures.marks import sign
from hardmax.figures.mpl import Axes, Figure, Line2D
from hardmax.figures.palette import ELSEWHERE, INK, LEADER, PROJECTION, look_of
from hardmax.figures.style import our_look
from hardmax.figures.views import projection_for, view_of

MOST_CLUSTERS_IN_KEY = 16


@validate_params(lim=inputs.a_limit)
def limit_figure(lim: LimitLike) -> Figure:
    """`draw_limit` in space for d = 3, on a line for d = 1, else in the plane, with a title and a key."""
    with our_look():
        figure = Figure(figsize=(5.4, 2.6 if lim.run.d == 1 else 5.0))
        ax = figure.add_subplot(projection=projection_for(lim.run.d))
        draw_limit(lim, ax)
        tell_limit(lim, ax)
    return figure


def tell_limit(lim: LimitLike, ax: Axes) -> None:
    """A title and a key for axes on which a limit is drawn."""
    ax.set_title(_title(lim, view_of(lim.run.floats_at(0), ax).remark), loc="left")
    ax.legend(
        handles=_key(lim), loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8, borderaxespad=0
    )


def _title(lim: LimitLike, remark: str) -> str:
    count = f"{lim.run.n:,} token{'s' * (lim.run.n != 1)}"
    if drawn_every(lim) > 1:
        count += f" (one in {drawn_every(lim)} drawn)"
    if lim.settled_at is not None:
        told = f"{count}, settled at layer {lim.settled_at}"
    else:
        told = f"{count}, not settled at layer {lim.run.layers:,}: limits within {lim.bound:.2g}"
    return f"{told}\n{remark}" if remark else told


def _key(lim: LimitLike) -> list[Line2D]:
    """What the signs mean and, unless there are too many, what each cluster is."""
    kinds, settled = lim.clusters.kinds, lim.settled_at is not None
    signs = []
    if len(lim.leaders):
        signs.append(sign(LEADER, INK, "leader", 11))
    if any(face_of(kind) for kind in kinds):
        signs.append(sign(PROJECTION, INK, "0 projected onto a face", 7))
    if any(is_elsewhere(kind) for kind in kinds):
        signs.append(sign(ELSEWHERE, INK, "another limit" if settled else "last seen here", 7))
    if not settled or len(kinds) > MOST_CLUSTERS_IN_KEY:
        return signs
    for label, (kind, size) in enumerate(zip(kinds, lim.clusters.sizes.tolist(), strict=True)):
        color, shape = look_of(label)
        signs.append(sign(shape, color, f"{kind}: {size:,} token{'s' * (size != 1)}", 6))
    return signs
