"""Estimators in the shape of scikit-learn: a classifier of texts, and clustering by where points end.

>>> from hardmax.estimators import HardmaxClustering
>>> HardmaxClustering(alpha=0.5).fit_predict([[3.0], [-1.0], [2.0], [-0.5]]).tolist()
[0, 1, 0, 1]
"""

from importlib.util import find_spec

from hardmax._validation import MissingExtra

if find_spec("sklearn") is None:
    raise MissingExtra("An estimator", "sklearn")

from hardmax.estimators.classifier import HardmaxClassifier
from hardmax.estimators.clustering import HardmaxClustering

__all__ = ["HardmaxClassifier", "HardmaxClustering"]
