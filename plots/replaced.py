"""Files that are replaced as a whole, whatever ends the program when."""

import errno
import os
import secrets
import signal
import stat
import sys
from pathlib import Path

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST_NAME = 200  # of a name's 255 bytes, so that the temporary one fits, too


def _leads_to(path: Path) -> Path:
    """The file that a path leads to through symbolic links, whether it is there or not."""
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return place


def _create_beside(target: Path, mode: int) -> tuple[Path, int]:
    """A new file in the target's folder. Nobody can tell its name beforehand, and one that is there is not touched."""
    shown = os.fsdecode(os.fsencode(target.name)[:LONGEST_NAME])
    while True:
        temporary = target.with_name(f".{shown}.{secrets.token_hex(8)}.tmp")
        try:
            return temporary, os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        except FileExistsError:
            continue


def replace(path: Path, content: str | bytes) -> None:
    """Gives a file this content: others see the old one or the new one, never a part. A symbolic link stays one and what it
    leads to is replaced; a file that is replaced keeps its permissions. What is no regular file is refused."""
    target = _leads_to(path)
    mode = None
    if target.exists():
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode):
            raise FileExistsError(errno.EEXIST, "it is no file: remove it, or choose another place", str(path))
    temporary = None
    try:
        # A signal between the two would leave the file.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            temporary, descriptor = _create_beside(target, 0o666)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
        temporary = None
    finally:
        if temporary is not None:
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
