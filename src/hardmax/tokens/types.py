"""What tokens may come as, for type checkers: one cloud, many clouds, or something that only the data tell."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from hardmax.tokens.batches import Ragged

Number: TypeAlias = int | float | str | Fraction | Decimal
Table: TypeAlias = np.ndarray[tuple[int, int], np.dtype[Any]]
Stack: TypeAlias = np.ndarray[tuple[int, int, int], np.dtype[Any]]

OneCloud: TypeAlias = Sequence[Sequence[Number]] | Table
ManyClouds: TypeAlias = Ragged | Sequence[Sequence[Sequence[Number]]] | Sequence[Table] | Stack
