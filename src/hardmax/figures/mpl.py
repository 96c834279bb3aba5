"""All that is taken of matplotlib: the one place that tells people which extra brings it."""

from hardmax._validation import MissingExtra

try:
    from matplotlib import rc_context as rc_context
    from matplotlib.animation import AbstractMovieWriter as AbstractMovieWriter
    from matplotlib.animation import FFMpegWriter as FFMpegWriter
    from matplotlib.animation import PillowWriter as PillowWriter
    from matplotlib.artist import Artist as Artist
    from matplotlib.axes import Axes as Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvasAgg
    from matplotlib.collections import LineCollection as LineCollection
    from matplotlib.collections import PathCollection as PathCollection
    from matplotlib.colors import is_color_like as is_color_like
    from matplotlib.colors import to_rgba as to_rgba
    from matplotlib.contour import QuadContourSet as QuadContourSet
    from matplotlib.figure import Figure as Figure
    from matplotlib.lines import Line2D as Line2D
    from matplotlib.patches import Circle as Circle
    from matplotlib.patches import FancyArrowPatch as FancyArrowPatch
    from matplotlib.patches import FancyBboxPatch as FancyBboxPatch
    from matplotlib.patches import Patch as Patch
    from matplotlib.patches import Polygon as Polygon
    from matplotlib.path import Path as Path
    from matplotlib.patheffects import withStroke as withStroke
    from matplotlib.text import Annotation as Annotation
    from matplotlib.text import Text as Text
    from matplotlib.ticker import MaxNLocator as MaxNLocator
    from matplotlib.transforms import Bbox as Bbox
    from mpl_toolkits.mplot3d.art3d import Line3DCollection as Line3DCollection
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection as Poly3DCollection
    from mpl_toolkits.mplot3d.axes3d import Axes3D as Axes3D
except ImportError:
    raise MissingExtra("Drawing", "figures") from None
