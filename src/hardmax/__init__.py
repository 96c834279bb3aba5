"""Hardmax self-attention as an exact dynamical system.

>>> import hardmax as hm
>>> run = hm.simulate(hm.clouds.square(inside=[(0.5, 0.0)]), hm.Dynamics(alpha=0.5), layers=30)
>>> run.leaders.tolist(), run.certified
([0, 1, 2, 3], True)
"""

from hardmax._common.lazy import attach_stub

__version__ = "0.1.0.dev0"

# The stub beside this file says where each name is defined; it is imported when first used, so that
# `hardmax --help` does not wait for numpy.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
