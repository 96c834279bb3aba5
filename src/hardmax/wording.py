"""Words for numbers."""


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "token"), counted(1000, "token")
    ('1 token', '1,000 tokens')
    """
    return f"{number:,} {noun if number == 1 else noun + 's'}"
