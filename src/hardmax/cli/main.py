"""Where the command `hardmax` starts, and the one place where errors become exit codes.

0: done. 1: failed, or the output cannot be written. 2: the input cannot be used as given. 130:
interrupted. Of the commands only the one that was typed is imported, so that it starts fast."""

import argparse
import importlib
import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from hardmax import __version__
from hardmax._common.files import reason
from hardmax._common.validation import InputError, MissingExtra
from hardmax.cli.output import notify

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
# Their modules have the same names: `run` does the work and may return an exit code, and what
# stands above is the help.
COMMANDS = {
    "clouds": "List the named clouds, or write one of them.",
    "simulate": "Run a cloud, or many, through the layers.",
    "limit": "Find where every token ends after infinitely many layers.",
    "verify": "Check the proof of a limit.",
    "sweep": "Find the limits of many clouds under many dynamics.",
    "falsify": "Search for a cloud for which a statement is false.",
    "explain": "Explain why a model gives a text its label.",
    "flip": "Find the fewest words that change the label of a text.",
    "train": "Train a classifier on labelled texts.",
    "evaluate": "Evaluate a model on labelled texts.",
    "score": "Classify every row of a table.",
    "models": "List the shipped models.",
    "card": "Print the card of a model, or write its dashboard.",
    "diff": "Compare two models, word by word and text by text.",
    "drift": "Compare the texts of two tables, such as those of two months.",
    "page": "Write a page that runs hardmax attention in any browser.",
    "doctor": "Check the installation.",
    "demo": "Show what the package does, on a cloud and two film reviews.",
}


class Parser(argparse.ArgumentParser):
    """One whose errors are those of the package."""

    def __init__(self, **settings: Any) -> None:
        plain = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=plain, allow_abbrev=False, **settings)
        self._negative_number_matcher = re.compile(r"-[\d.]")  # -1,0;0,1 is a value, not an option

    def error(self, message: str) -> NoReturn:
        """Refuse what was typed."""
        raise InputError(f"{message}. Try `{self.prog} --help`.")


def make_parser(arguments: Sequence[str]) -> Parser:
    """The parser, which knows the options of the command that was typed."""
    parser = Parser(prog="hardmax", description="Hardmax self-attention, exactly.")
    parser.add_argument("--version", action="version", version=f"hardmax {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", dest="COMMAND", required=True)
    for name, about in COMMANDS.items():
        command = commands.add_parser(name, help=about)
        if name in arguments[:1]:
            module = importlib.import_module(f"hardmax.cli.{name}")
            command.description = module.__doc__
            for option, settings in module.OPTIONS.items():
                command.add_argument(*option.split(), **settings)
            command.set_defaults(start=module.run)
    return parser


def start() -> NoReturn:
    """Run the command line that started the program, and exit with its code."""
    warnings.showwarning = show_warning
    sys.meta_path.insert(0, _WithoutPandas)
    logging.getLogger().addHandler(logging.NullHandler())  # where libraries keep their caches
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    run(sys.argv[1:])


class _WithoutPandas:
    """Any pyarrow would import pandas, which takes half a second, and only overviews need it."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name == "pandas" and "hardmax.text.overview" not in sys.modules:
            raise ModuleNotFoundError(name)


def show_warning(message: Warning | str, *_: Any) -> None:
    """Print a warning in one line."""
    notify(f"warning: {' '.join(str(message).split())}")


def run(arguments: Sequence[str]) -> NoReturn:
    """The same without touching the streams and warnings of the process."""
    options: dict[str, Any] = {}
    try:
        options = vars(make_parser(arguments).parse_args(arguments or ["--help"]))
        code = options["start"](argparse.Namespace(**options))
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        code = BAD_INPUT if isinstance(error, InputError) else FAILED
        if not isinstance(error, BrokenPipeError):  # `hardmax … | head` has what it wanted
            notify(f"error: {use_option_names(describe_error(error), options)}")
        discard_stdout()
    sys.exit(code)


def describe_error(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, InputError | MissingExtra):
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}"
    if isinstance(error, OSError) and error.filename is None:
        return f"the output cannot be written: {reason(error)}."
    if os.environ.get("HARDMAX_TRACEBACK"):
        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"hardmax failed ({what}). Please report it with what HARDMAX_TRACEBACK=1 prints."


def use_option_names(message: str, options: dict[str, Any]) -> str:
    """The message with options in place of the arguments of the package.

    >>> use_option_names("`layers` must be 0, or `force=True`.", {"force": False})
    '`layers` must be 0, or `--force`.'
    """

    def typed(found: re.Match[str]) -> str:
        name, value = found.groups(default="")
        value = value.strip("'").removeprefix("True")
        option = f"--{name.replace('_', '-')} {value}".strip()
        return f"`{option}`" if name in options else found[0]

    return re.sub(r"`(\w+)(?:=([^`]*))?`", typed, message)


def discard_stdout() -> None:
    """What could not be written is not written at exit either, where Python would complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
