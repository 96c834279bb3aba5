"""Clustering by where points end after infinitely many layers."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportMissingModuleSource=false
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from hardmax._validation import InputError, check_bool, check_numeric
from hardmax.dynamics import Dynamics
from hardmax.limits import limit


class InputTypeError(InputError, TypeError):
    """Points of the wrong type, where scikit-learn expects a TypeError."""


class HardmaxClustering(ClusterMixin, BaseEstimator):
    """Clusters of points that have the same limit under hardmax attention.

    How many clusters there are follows from the points: leaders are the points that lie furthest out in their own
    direction, and everybody else ends at a leader or, by a tie, between some. Points that are not spread around the
    origin all look the same way, since the dynamics is not translation invariant: by default the points are centred
    first. Coordinates in different units should be scaled (`StandardScaler`), or weighed by the metric.

    Parameters
    ----------
    alpha : the step of a layer, positive: a number or a text such as "1/2".
    metric : (d, d) symmetric positive definite, or None for the identity.
    center : whether the mean of the points becomes the origin.

    Attributes
    ----------
    labels_ : (n,) the cluster of each point, numbered in the order of their first points.
    leaders_ : the indices of the leaders.
    cluster_centers_ : (clusters, d) the limit of each cluster, in the coordinates of `X`.
    limit_ : the `hardmax.Limit`, with its certificate; of the centred points, if `center`.
    n_features_in_, n_iter_ : the number of coordinates; the layer from which on nothing changes any more.

    >>> points = [[11.0, 10.0], [9.0, 10.0], [10.5, 10.1], [9.5, 9.9]]
    >>> found = HardmaxClustering(alpha="1/2").fit(points)
    >>> found.labels_.tolist(), found.leaders_.tolist()
    ([0, 1, 0, 1], [0, 1])
    """

    def __init__(self, *, alpha: Any = 0.5, metric: Any = None, center: bool = True) -> None:
        self.alpha = alpha
        self.metric = metric
        self.center = center

    def fit(self, X: Any, y: Any = None) -> "HardmaxClustering":  # noqa: N803
        """Find the limits of the points; `y` is ignored."""
        points = self._read(X)
        center = check_bool(self.center, "`center`")
        origin = points.mean(axis=0) if center else np.zeros(points.shape[1])
        found = limit(points - origin, Dynamics(self.alpha, self.metric).check_definite())
        if found.settled_at is None:
            raise InputError(f"`X` did not settle ({found.stopped}): try a larger `alpha`.")
        self.limit_ = found
        self.labels_ = found.clusters.labels
        self.leaders_ = found.leaders
        self.cluster_centers_ = found.clusters.points + origin
        self.n_iter_ = found.settled_at
        return self

    def _read(self, X: Any) -> np.ndarray:  # noqa: N803
        check_numeric(X, "`X`", within=1)
        try:
            return np.asarray(validate_data(self, X, dtype=np.float64))
        except Exception as error:  # of scikit-learn, which says what is wrong, or of whatever was given
            refused = InputTypeError if isinstance(error, TypeError) else InputError
            raise refused(f"`X`: {' '.join(str(error).split())[:300]}") from None
