from .halfspaces import half_plane, leader_cells
from .polytope import Polytope
from .projection import project_exact

__all__ = ["Polytope", "half_plane", "leader_cells", "project_exact"]
