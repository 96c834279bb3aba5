"""What goes wrong at the door, in one line: which argument, what was expected, what came, what to do."""

from hardmax.foreign import harmless_line


class InputError(ValueError):
    """The input cannot be used as given. The message is one line for people; the command line exits with 2.

    What came, be it the name of a file or a value, is quoted in it: nothing that a terminal would obey is left there.
    """

    def __init__(self, message: str) -> None:
        super().__init__(harmless_line(message))


class MissingExtra(ImportError):
    """An optional part of the package is not installed. The message names the extra that brings it."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the extra `{extra}`: pip install 'hardmax[{extra}]'")
