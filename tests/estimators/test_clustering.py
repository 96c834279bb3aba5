"""Clusters are points with the same limit."""

# pyright: reportMissingImports=false, reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the extra `train` is not installed")

from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hardmax import Dynamics, InputError, clouds, limit, verify
from hardmax.sklearn import HardmaxClustering

SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0], [0.9, 0.8], [-0.5, 0.6], [0.1, -0.9]])


@parametrize_with_checks([HardmaxClustering(), HardmaxClustering(alpha=2, center=False)])
def test_scikit_learn_has_nothing_to_object(estimator, check):
    check(estimator)


def test_labels_and_leaders_are_those_of_the_limit():
    cloud = clouds.gaussian(200, 3)
    found, lim = HardmaxClustering(alpha="1/2", center=False).fit(cloud), limit(cloud, Dynamics("1/2"))
    assert_array_equal(found.labels_, lim.clusters.labels)
    assert_array_equal(found.leaders_, lim.leaders)
    assert_array_equal(found.cluster_centers_, lim.clusters.points)
    assert found.n_iter_ == lim.settled_at
    assert found.n_features_in_ == 3


def test_a_corner_gathers_what_points_its_way():
    found = HardmaxClustering(center=False).fit(SQUARE)
    assert found.labels_.tolist() == [0, 1, 2, 3, 0, 3, 1]
    assert found.leaders_.tolist() == [0, 1, 2, 3]


def test_a_tie_ends_between_leaders():
    found = HardmaxClustering(center=False).fit(clouds.square(inside=[(0.5, 0)]).astype(float))
    assert_array_equal(found.cluster_centers_[found.labels_[4]], [1, 0])
    assert 4 not in found.leaders_


def test_centred_points_may_lie_anywhere():
    there, here = HardmaxClustering().fit(SQUARE + np.array([100, -50])), HardmaxClustering().fit(SQUARE)
    assert_array_equal(there.labels_, here.labels_)
    assert_allclose(there.cluster_centers_, here.cluster_centers_ + np.array([100, -50]), atol=1e-9)


def test_points_on_one_side_of_the_origin_need_centring():
    aside = SQUARE + np.array([100, 0])
    plain, centred = (HardmaxClustering(center=center).fit(aside) for center in (False, True))
    assert len(plain.leaders_) < len(centred.leaders_) == 4


def test_the_metric_decides_what_far_means():
    points = clouds.gaussian(100, 2)
    plain, stretched = (HardmaxClustering(metric=metric).fit(points) for metric in (None, [[1, 0], [0, 100]]))
    assert plain.labels_.tolist() != stretched.labels_.tolist()


def test_the_limit_comes_with_its_proof():
    assert verify(HardmaxClustering().fit(SQUARE).limit_.certificate)


def test_it_ends_a_pipeline():
    labels = make_pipeline(StandardScaler(), HardmaxClustering()).fit_predict(SQUARE * [1, 1000])
    assert_array_equal(labels, HardmaxClustering().fit_predict(SQUARE))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "`alpha` must be positive"),
        ({"metric": [[1, 2], [2, 1]]}, "positive definite"),
        ({"metric": [[1]]}, "1 by 1"),
    ],
)
def test_bad_parameters_are_refused_when_fitting(parameters: dict, message: str):
    with pytest.raises(InputError, match=message):
        HardmaxClustering(**parameters).fit(SQUARE)


def test_points_that_take_too_long_are_refused(monkeypatch):
    monkeypatch.setattr("hardmax._run._MOST_DECISIONS", 20)
    monkeypatch.setattr("hardmax._run._MOST_LEADS", 0)
    with pytest.raises(InputError, match=r"did not settle.*larger `alpha`"):
        HardmaxClustering(alpha="1e-6", center=False).fit(clouds.emerging_leader().astype(float))
