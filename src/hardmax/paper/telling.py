"""Whom long work tells how far it is."""

from collections.abc import Callable

Progress = Callable[[str], None]


def say_nothing(line: str) -> None:
    """Progress that nobody asked for."""
