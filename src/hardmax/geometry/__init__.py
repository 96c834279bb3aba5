"""Polytopes and projections: the shapes among which tokens move.

>>> import hardmax as hm
>>> hm.geometry.Polytope([[0, 0], [1, 0], [0, 1], [0, 0]])
Polytope(dimension 2 in R^2, 4 points)
"""

from hardmax._common.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
