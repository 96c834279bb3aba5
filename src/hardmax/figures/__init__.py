"""Pictures, by matplotlib (extra `figures`): `run.plot()`, `lim.plot()`, `model.plot()`, and cards
in a notebook.

`layers.draw_layer` and `limits.draw_limit` draw on axes of your own and return the artists; nothing
here calls `show`."""
