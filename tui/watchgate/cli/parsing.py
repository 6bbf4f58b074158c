"""The parser of every command: a wrong command line is told what was meant and where help is."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from typing import Any, NoReturn

from watchgate.cli.exits import Exit
from watchgate.core.text import safe_text

_CHOICE = re.compile(r"invalid choice: '(?P<wrong>.*)' \(choose from (?P<allowed>.*)\)")


class Parser(argparse.ArgumentParser):
    """A parser whose errors say how to mend them; parsers of sub-commands are of the same kind.

    With `intermixed`, options may stand between the words of a command that takes any number.
    """

    intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in argparse, which by itself takes an open list of words in one piece only."""
        if not self.intermixed:
            return super().parse_known_args(args, namespace)
        self.intermixed = False
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.intermixed = True

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and end with the exit code for usage."""
        self.print_usage(sys.stderr)
        text = f"{self.prog}: error: {safe_text(message)};{_meant(message)}"
        self.exit(Exit.USAGE, f"{text} see `{self.prog} --help`\n")


def _meant(message: str) -> str:
    match = _CHOICE.search(message)
    if match is None:
        return ""
    close = difflib.get_close_matches(match["wrong"], re.findall(r"[\w-]+", match["allowed"]), n=1)
    return f" did you mean {close[0]}?" if close else ""
