from .polytope import Polytope
from .projection import project_exact

__all__ = ["Polytope", "project_exact"]
