"""The command `hardmax` and the one place where errors become exit codes.

0: done. 1: failed on our side, or the output cannot be written. 2: the input cannot be used as given. 130: interrupted.
"""

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.models import OptionInfo

from hardmax import __version__
from hardmax._files import reason
from hardmax._validation import InputError, MissingExtra
from hardmax.cli.output import narrate, narrate_lines
from hardmax.cli.streams import give_up_output, is_of_a_stream
from hardmax.cli.words import in_words_of_the_command

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

# By the modules of `hardmax.cli.commands` that have them. What is asked for is imported, and the others only to be
# listed: together they take longer than a command may.
COMMANDS = {
    "simulate": "simulate",
    "limit": "limit",
    "verify": "verify",
    "explain": "explain",
    "flip": "flip",
    "train": "train",
    "evaluate": "evaluate",
    "score": "score",
    "reproduce": "reproduce",
    "import": "importing",
    "card": "card",
    "models": "models",
    "clouds": "clouds",
    "doctor": "doctor",
    "demo": "demo",
}


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hardmax {__version__}")
        raise typer.Exit


def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Hardmax self-attention as an exact dynamical system."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The program, with the command that these arguments name, or with all if they name none."""
    app = typer.Typer(
        name="hardmax",
        rich_markup_mode=None,  # drawing boxes around the help takes longer than all the rest
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(start)
    for name in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        module = importlib.import_module(f"hardmax.cli.commands.{COMMANDS[name]}")
        app.command(name)(getattr(module, f"{name}_command"))
    return app


def run() -> NoReturn:
    """Runs the command line that started the program, and leaves with its exit code."""
    app = app_for(sys.argv[1:])
    try:
        code = app(prog_name="hardmax", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        code = _say(in_words_of_the_command(error, _option_names(app)), BAD_INPUT)
    except MissingExtra as error:
        code = _say(str(error), FAILED)
    except MemoryError as error:
        code = _say(f"not enough memory. {error}", FAILED)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = FAILED  # `hardmax … | head`: the reader has what it wanted
    except Exception as error:
        code = _usage_error(error) or _output_error(error) or _folder_error(error) or _our_fault(error)
    give_up_output()
    sys.exit(code)


def _option_names(app: typer.Typer) -> set[str]:
    """The names of all options, as Python has them."""
    taken = (inspect.signature(one.callback).parameters for one in app.registered_commands if one.callback)
    return {name for parameters in taken for name, one in parameters.items() if _is_option(one.annotation)}


def _is_option(annotation: Any) -> bool:
    return any(isinstance(about, OptionInfo) for about in getattr(annotation, "__metadata__", ()))


def _say(message: str, code: int) -> int:
    narrate(f"error: {' '.join(message.split())}")
    return code


def _usage_error(error: Exception) -> int | None:
    """Typer's own complaints (no such option, a missing argument) in one line like all others; else None."""
    # Typer brings its own copy of click or uses the installed one, so the class has no name that always works.
    message = getattr(error, "format_message", None)
    if message is None:
        return None
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "hardmax"
    sentence = message() if message().endswith((".", "?")) else f"{message()}."
    return _say(f"{sentence} Try `{command} --help`.", BAD_INPUT)


def _output_error(error: Exception) -> int | None:
    if not isinstance(error, OSError) or not is_of_a_stream(error):
        return None
    return _say(f"the output cannot be written: {reason(error)}.", FAILED)


def _folder_error(error: Exception) -> int | None:
    """Where the current folder was removed, names of files mean nothing, and numba compiles nothing."""
    if not isinstance(error, FileNotFoundError):
        return None
    try:
        Path.cwd()
    except FileNotFoundError:
        return _say("the current folder does not exist any more: change to one that does.", BAD_INPUT)
    return None


def _our_fault(error: Exception) -> int:
    if os.environ.get("HARDMAX_TRACEBACK"):
        narrate_lines("".join(traceback.format_exception(error)))
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _say(f"hardmax failed ({what}). Please report it with what HARDMAX_TRACEBACK=1 shows.", FAILED)
