"""Pictures, by matplotlib (extra `figures`): `run.plot()`, `lim.plot()`, `model.plot()`.

`draw_layer` and `draw_limit` draw on axes of your own and return the artists; nothing here calls
`show`."""

from hardmax._common.lazy import attach_stub

# matplotlib is imported by what is drawn first.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
