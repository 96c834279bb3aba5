"""Training a text classifier: a convex start, and settings chosen by folds; seconds, and no torch.

>>> from hardmax.train import fit
>>> model = fit(["a good film", "so good", "a bad film", "so bad"] * 5, [1, 1, 0, 0] * 5)
>>> model.predict(["good", "a bad one"]).tolist()
[1, 0]
"""

from hardmax.train.fitting import Settings, fit

__all__ = ["Settings", "fit"]
