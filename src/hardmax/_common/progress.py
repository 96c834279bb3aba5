"""How work reports its progress."""

from collections.abc import Callable
from typing import Any

from hardmax._common.validation import InputError, shorten

Progress = Callable[[int, int], None]
"""Called with how much is done, and with the total."""


def check_progress(progress: Any) -> None:
    """Refuse what cannot be called."""
    if not (progress is None or callable(progress)):
        raise InputError(
            f"`progress` must be None or a function of (done, total), not {shorten(progress)}."
        )
