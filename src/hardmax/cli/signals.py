"""Ending when the system says so: soon, with the usual exit code, and with nothing half-written left behind.

A signal becomes an exception in the main thread, so that drafts of files are removed on the way out. But Python tells
of a signal only between two steps of its own, and a kernel may take minutes: another thread hears of it at once, and
ends the process where the main thread cannot.
"""

import os
import signal
import threading
from types import FrameType

CODES = {number: 128 + number for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None)) if number}
# Seconds: for the main thread to hear of it; to clear up once it has.
_TO_HEAR, _TO_LEAVE = 1.0, 2.0

_heard = threading.Event()


def end_when_told() -> None:
    """From now on Ctrl-C, SIGTERM and SIGHUP end the process; those that are ignored (nohup) stay so."""
    for number in CODES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), daemon=True, name="hardmax signals").start()


def _leave(number: int, frame: FrameType | None) -> None:
    if _heard.is_set():  # it is on its way out, and should not be stopped from clearing up
        return
    _heard.set()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(CODES[signal.Signals(number)])


def _watch(reader: int) -> None:
    """Ends the process if the main thread has not, a while after the first signal."""
    number = next(byte for byte in iter(lambda: os.read(reader, 1)[0], None) if byte in CODES)
    if _heard.wait(_TO_HEAR):
        threading.Event().wait(_TO_LEAVE)
    os._exit(CODES[signal.Signals(number)])
