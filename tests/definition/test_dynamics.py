"""The parameters of a layer: how they are read, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

import hardmax as hm

TENTHS = [0.1, "0.1", "1/10", Fraction(1, 10), np.float64(0.1), np.float32(0.1), np.float16(0.1)]


@pytest.mark.parametrize("alpha", TENTHS)
def test_alpha_is_the_decimal_it_is_written_as(alpha):
    assert hm.Dynamics(alpha).alpha == Fraction(1, 10)
    assert hm.Dynamics(alpha).contraction == Fraction(10, 11)


def test_equal_parameters_are_equal_and_hashable():
    assert hm.Dynamics(0.5, [[2, 1], [1, 1]]) == hm.Dynamics("1/2", np.array([[2.0, 1.0], [1.0, 1.0]]))
    assert len({hm.Dynamics(0.5), hm.Dynamics("1/2"), hm.Dynamics(1)}) == 2


def test_any_metric_admits_every_square_matrix():
    assert hm.Dynamics(1, [[0, 1], [-1, 0]]).metric == ((0, 1), (-1, 0))


@pytest.mark.parametrize(
    ("alpha", "metric", "message"),
    [
        (0, None, "`alpha` must be positive, not 0"),
        (-0.5, None, "`alpha` must be positive"),
        ("fast", None, "`alpha` must be a finite number.*'fast'"),
        (float("nan"), None, "`alpha` must be a finite number"),
        (float("inf"), None, "`alpha` must be a finite number"),
        (None, None, "`alpha` must be a finite number"),
        ("1e999999999", None, "`alpha` must be 0 or of a size between"),
        (1, [[1, 2, 3], [4, 5, 6]], "`metric` must be square, not 2 by 3"),
        (1, [[1, 2], [0, 1]], r"`metric` must be symmetric: \|A - A.T\| reaches 2"),
        (1, [[1, 2], [2, 1]], "positive definite: its smallest eigenvalue is -1"),
        (1, [[0]], "positive definite: its smallest eigenvalue is 0"),
        (1, [[1, "x"], [0, 1]], "`metric` .*'x'"),
        (1, [[1, np.nan], [0, 1]], "`metric` must be finite"),
        (1, [1, 2], "`metric` must be a table"),
    ],
)
def test_bad_parameters_get_one_clear_line(alpha, metric, message):
    with pytest.raises(hm.InputError, match=message) as caught:
        hm.Dynamics(alpha, metric)
    assert "\n" not in str(caught.value)


def test_positive_definiteness_is_decided_exactly():
    # In floats both have a smallest eigenvalue of rounding size.
    tiny = Fraction(1, 10**30)
    hm.Dynamics(1, [[1, 1], [1, 1 + tiny]])
    with pytest.raises(hm.InputError, match="positive definite"):
        hm.Dynamics(1, [[1, 1], [1, 1 - tiny]])


def test_a_metric_of_the_wrong_size_is_refused():
    with pytest.raises(hm.InputError, match="`metric` is 2 by 2, but the tokens have 3 coordinates"):
        hm.simulate([[1.0, 2.0, 3.0]], hm.Dynamics(1, [[2, 1], [1, 1]]), layers=1)
    with pytest.raises(hm.InputError, match="`metric` is 2 by 2, but the tokens have 3 coordinates"):
        hm.step([[1.0, 2.0, 3.0]], hm.Dynamics(1, [[2, 1], [1, 1]]))


def test_a_metric_is_shown_in_full_while_its_numbers_are_short():
    shown = hm.Dynamics(1, [["1/3", 0], [0, "0.123456789"]])._repr_html_()
    assert "1/3" in shown
    assert "≈0.1235" in shown
    assert "≈0.3" not in shown
