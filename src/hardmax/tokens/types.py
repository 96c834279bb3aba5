"""What tokens may come as, for type checkers: lists tell whether they hold one cloud or many.

Arrays, tensors and tables do not: the type of an array seldom says how many axes it has, so what comes of one is `Any`.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from hardmax.tokens.batches import Ragged

Number: TypeAlias = int | float | str | Fraction | Decimal
OneCloud: TypeAlias = Sequence[Sequence[Number]]
ManyClouds: TypeAlias = Ragged | Sequence[Sequence[Sequence[Number]]]
