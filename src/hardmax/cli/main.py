"""Where the command `hardmax` starts, its commands, and the one place where errors become exit
codes.

0: done. 1: failed, or the output cannot be written. 2: the input cannot be used as given. 130:
interrupted.

Only the standard library is imported before signals are handled, so that Ctrl-C is quiet from the
start, and of the commands only the one that was typed, so that it starts fast."""

import errno
import importlib
import logging
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from hardmax import __version__
from hardmax._common.files import reason
from hardmax._common.validation import InputError, MissingExtra
from hardmax.cli.output import notify

if TYPE_CHECKING:
    import typer

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
# Their modules have the same names.
COMMANDS = ("simulate", "limit", "verify", "clouds", "sweep", "falsify", "explain")
COMMANDS += ("flip", "train", "evaluate", "score", "models", "page", "doctor", "demo")
# Options that are not called like the argument of the package.
_OPTION_OF = {"check_theorem": "--check", "replacements": "--replace", "engine": "--gpu"}
# Errors of a write to a standard stream: closed, full, over a quota or a limit, gone.
_STREAM_ERRORS = {errno.EBADF, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def start() -> NoReturn:
    """Run the command line that started the program, and exit with its code."""
    try:
        open_closed_streams()
        exit_on_signals()
        quiet_libraries()
        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def run() -> NoReturn:
    """The same without touching the streams, signals and warnings of the process."""
    arguments = sys.argv[1:]
    try:
        code = make_app(arguments)(prog_name="hardmax", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = FAILED  # `hardmax … | head`: the reader has what it wanted
    except Exception as error:
        message, code = describe_error(error, arguments)
        notify(f"error: {' '.join(message.split())}")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # Python would complain when it flushes at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)


def make_app(arguments: Sequence[str]) -> "typer.Typer":
    """The program with the command that the arguments name, or with all commands if they name
    none."""
    import typer

    app = typer.Typer(
        name="hardmax",
        rich_markup_mode=None,  # importing rich takes longer than all the rest
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def main(
        context: typer.Context,
        version: Annotated[
            bool, typer.Option("--version", help="Print the version and exit.")
        ] = False,
    ) -> None:
        """Hardmax self-attention as an exact dynamical system."""
        if version:
            typer.echo(f"hardmax {__version__}")
            raise typer.Exit
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    for name in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        module = importlib.import_module(f"hardmax.cli.{name}")
        app.command(name)(getattr(module, f"{name}_command"))
    return app


def describe_error(error: Exception, arguments: Sequence[str]) -> tuple[str, int]:
    """The message of an error and its exit code."""
    if isinstance(error, InputError):
        import typer

        program: Any = typer.main.get_command(make_app(arguments))
        parameters = [one for command in program.commands.values() for one in command.params]
        options = {
            one.name: max(one.opts, key=len)
            for one in parameters
            if one.param_type_name == "option"
        }
        return use_option_names(str(error), options), BAD_INPUT
    if isinstance(error, MissingExtra):
        return str(error), FAILED
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}", FAILED
    if format_message := getattr(
        error, "format_message", None
    ):  # typer's own: no such option, a missing argument
        context = getattr(error, "ctx", None)
        message = (
            format_message() if format_message().endswith((".", "?")) else f"{format_message()}."
        )
        return (
            f"{message} Try `{context.command_path if context else 'hardmax'} --help`.",
            BAD_INPUT,
        )
    if isinstance(error, OSError) and error.filename is None and error.errno in _STREAM_ERRORS:
        return f"the output cannot be written: {reason(error)}.", FAILED
    if os.environ.get("HARDMAX_TRACEBACK"):
        for line in "".join(traceback.format_exception(error)).splitlines():
            notify(line)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        f"hardmax failed ({what}). Please report it with what HARDMAX_TRACEBACK=1 prints.",
        FAILED,
    )


def use_option_names(message: str, options: dict[str, str]) -> str:
    """The message with options in place of the arguments of the package.

    >>> use_option_names("`layers` must be 0, or `force=True`.", {"layers": "--layers"})
    '`--layers` must be 0, or `force=True`.'
    """

    def typed(found: re.Match[str]) -> str:
        name, value = found.groups(default="")
        option = _OPTION_OF.get(name) or options.get(name)
        value = value.strip("'").removeprefix("True")
        return f"`{option} {value}".strip() + "`" if option else found[0]

    return re.sub(r"`(\w+)(?:=([^`]*))?`", typed, message)


def open_closed_streams() -> None:
    """Give a closed stream a file, or the next one opened would get its number, and be written to.

    Characters that an encoding lacks are printed as escapes.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]


def quiet_libraries() -> None:
    """Warnings of libraries become one line each; what they log, such as where they keep caches, is
    not shown."""

    def show(message: Warning | str, *_: Any) -> None:
        notify(f"warning: {' '.join(str(message).split())}")

    warnings.showwarning = show
    logging.getLogger().addHandler(logging.NullHandler())


SIGNALS = [
    number for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None)) if number
]
_SECONDS_TO_RECEIVE, _SECONDS_TO_CLEAN_UP = 0.5, 2.0
_received = threading.Event()


def exit_on_signals() -> None:
    """From now on Ctrl-C, SIGTERM and SIGHUP end the process; those that are ignored (nohup) stay
    so.

    A signal becomes an exception in the main thread, so that unfinished files are removed on the
    way out. But Python delivers signals between two steps of its own, and a kernel may take
    minutes: another thread is notified at once, and ends the process if the main thread has not.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)
    if sys.platform == "win32":  # pipes that do not block come with Python 3.12
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(
        target=_exit_if_stuck, args=(reader,), daemon=True, name="hardmax signals"
    ).start()


def _raise(number: int, frame: FrameType | None) -> None:
    if _received.is_set():  # on its way out: a second signal must not stop it from cleaning up
        return
    _received.set()
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _exit_if_stuck(reader: int) -> None:
    number = next(byte for byte in iter(lambda: os.read(reader, 1)[0], None) if byte in SIGNALS)
    if _received.wait(_SECONDS_TO_RECEIVE):
        threading.Event().wait(_SECONDS_TO_CLEAN_UP)
    os._exit(128 + number)
