"""The package speaks of arguments, the command line of options: the same error in the words of the one who reads it."""

from hardmax._validation import InputError

# Options that are not called like the argument.
_CALLED = {"check_theorem": "--check", "instead": "--replace", "engine": "--gpu"}


def in_words_of_the_command(error: InputError, options: set[str]) -> str:
    """The message with options for the arguments of that name.

    >>> wrong = InputError("`layers` must be 0. Or pass force=True.", argument="layers", also=("force=True",))
    >>> in_words_of_the_command(wrong, {"layers", "force"})
    '`--layers` must be 0. Or pass --force.'
    """
    message = str(error)
    for written in (f"`{error.argument}`", *error.also):
        name, _, value = written.strip("`").partition("=")
        if name in options or name in _CALLED:
            message = message.replace(written, _as_option(written, name, value))
    return message


def _as_option(written: str, name: str, value: str) -> str:
    option = _CALLED.get(name, "--" + name.replace("_", "-"))
    if written.startswith("`"):
        return f"`{option}`"
    return option if value in ("", "True") else f"{option} {_as_typed(value)}"


def _as_typed(value: str) -> str:
    """A value as one types it, where the package would have an object or a text."""
    if value == "LastOnly()":
        return "last"
    return value.removeprefix("Every(").removesuffix(")").replace(",", "").strip("'")
