"""What the user sees of the command line: notices, progress, errors and exit statuses."""

import sys

DONE, FAILED, USAGE, SETUP_LACKS, SKIPPED, INTERRUPTED = 0, 1, 2, 3, 77, 130


class CourseError(Exception):
    """An error to show as it is, with the exit status it stands for."""

    def __init__(self, message: str, status: int = FAILED):
        super().__init__(message)
        self.status = status


def notice(message: str) -> None:
    """One line about what is going on; on stderr, since stdout belongs to the program's results."""
    print(message, file=sys.stderr, flush=True)


class Progress:
    """One line rewritten in place on a terminal, a plain line for each step elsewhere."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.pending = False

    def step(self, message: str) -> None:
        if self.terminal:
            print(f"\r\x1b[K{message[:100]}", end="", file=sys.stderr, flush=True)
            self.pending = True
        else:
            notice(message)

    def done(self) -> None:
        """Clears the line, so that what follows starts on an empty one."""
        if self.pending:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.pending = False
