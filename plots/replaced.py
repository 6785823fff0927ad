"""Files that are replaced as a whole, whatever ends the program when."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to. It gets the name at the end, or is removed if that is not reached."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def exit_on_signals() -> None:
    """Signals end the program by an exception, so that temporary files go. Those that were ignored stay so."""

    def leave(number: int, _frame) -> None:
        for other in ENDING:
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, leave)
