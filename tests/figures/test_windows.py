"""Windows, sizes and frames: everything that is drawn can be seen, and as large as it can be."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOptionalMemberAccess=false

import numpy as np
import pytest
from figures.test_layers import CLOUDS, HALF, axes_for, each_cloud, offsets, run_of
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.axes3d import Axes3D

import hardmax as hm
from hardmax.figures.layers import draw_layer
from hardmax.figures.limits import draw_limit
from hardmax.figures.plane import view_of


def window_of(ax: Axes) -> np.ndarray:
    """The ends of each axis."""
    sides = [ax.get_xlim(), ax.get_ylim()]
    return np.array([*sides, ax.get_zlim()] if isinstance(ax, Axes3D) else sides)


def crosses(ax: Axes) -> list[list[float]]:
    """Where there are plus signs: at the origin, if it is marked."""
    plus = []
    for each in ax.collections:
        paths = each.get_paths() if isinstance(each, PathCollection) else []
        if len(paths) and len(paths[0].vertices) == 4:
            plus.append(offsets([each])[0])
    return [place.tolist() for place in plus if not place.any()]


@each_cloud
def test_all_tokens_lie_inside_the_window_and_fill_it(name):
    run, lim = run_of(name), hm.limit(CLOUDS[name], HALF)
    in_layer, in_limit = axes_for(run), axes_for(run)
    draw_layer(run, 3, in_layer)
    draw_limit(lim, in_limit)
    for ax in (in_layer, in_limit):
        window = window_of(ax)
        (places,) = view_of(run.at(0), ax).path(run.at(0)[None])
        if run.d == 1:
            window, places = window[:1], places[:, :1]
        low, high = places.min(axis=0), places.max(axis=0)
        if crosses(ax) and run.d < 3:
            low, high = np.minimum(low, 0), np.maximum(high, 0)
        room = np.array([low - window[:, 0], window[:, 1] - high])
        side = np.ptp(window, axis=1)
        assert (room >= 0).all()
        assert side == pytest.approx([side[0]] * len(side))  # the same scale along all axes
        slack = 1e-9 * np.abs(window).max()
        assert room[0] == pytest.approx(room[1], abs=slack)  # in the middle
        if (high - low).any():
            share = 0 if run.d == 3 else 1 / 12
            assert room.min() / side[0] == pytest.approx(share, abs=1e-6)


ORIGINS = [(0, True), (2.9, True), (3.2, False), (1e6, False)]


@pytest.mark.parametrize(("shift", "shown"), ORIGINS)
def test_the_origin_is_shown_where_it_is_near(shift, shown):
    square = np.array([[-1.0, -1.0], [1, -1], [-1, 1], [1, 1]])
    run = hm.simulate(square + 2 * shift, HALF, layers=0)
    ax = Figure().add_subplot()
    draw_layer(run, 0, ax)
    (left, right), _ = window_of(ax)
    assert (left <= 0 <= right) == shown
    assert crosses(ax) == [[0, 0]] * shown
