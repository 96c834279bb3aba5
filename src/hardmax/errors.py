"""What goes wrong at the door, in one line: which argument, what was expected, what came, what to do."""

from importlib.util import find_spec

from hardmax.foreign import harmless_line


class InputError(ValueError):
    """The input cannot be used as given. The message is one line for people; the command line exits with 2.

    What came, be it the name of a file or a value, is quoted in it: nothing that a terminal would obey is left there.

    `argument` is the one that the message is about; `also` are others in it, as written there (`any_metric=True`).
    Whoever knows arguments by other names, as the command line does, can put these in their place.

    >>> error = InputError("`layers` must be a whole number from 0 up, not -1.", argument="`layers`")
    >>> error.argument, error.also
    ('layers', ())
    """

    def __init__(self, message: str, *, argument: str = "", also: tuple[str, ...] = ()) -> None:
        super().__init__(harmless_line(message))
        self.argument, self.also = argument.strip("`"), also


class NoSuchPlace(InputError, IndexError):
    """An index beyond the ends of a sequence: also the IndexError by which Python's loops know where it ends."""


class WrongKind(InputError, TypeError):
    """A thing of the wrong kind, where others expect a TypeError: scikit-learn does of its estimators."""


class MissingExtra(ImportError):
    """An optional part of the package is not installed. The message names the extra that brings it."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the extra `{extra}`: pip install 'hardmax[{extra}]'")


# What is imported of each extra.
_BROUGHT = {
    "faithfulness": ("lime", "shap", "sklearn"),
    "figures": ("matplotlib",),
    "gpu": ("torch", "triton"),
    "hub": ("huggingface_hub",),
    "sklearn": ("sklearn",),
    "tables": ("pyarrow", "pandas", "narwhals"),
    "train": ("torch", "sklearn"),
}


def need(purpose: str, extra: str, *modules: str) -> None:
    """Refuse, before the work, what needs an extra that is not there; `modules` are those needed of it, if not all.

    >>> need("Adding up", "figures", "math")
    """
    if not all(map(_is_there, modules or _BROUGHT[extra])):
        raise MissingExtra(purpose, extra)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # a module without a spec was put in its place
        return True
