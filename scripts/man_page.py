"""Writes man/watchgate.1 from the parsers that the command line itself is made of.

`python -m scripts.man_page [--check]`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from argparse_manpage.manpage import Manpage  # type: ignore[import-untyped]  # it has no stubs

from scripts.marked import written
from watchgate import __version__
from watchgate.cli import parser

PAGE: Final = Path(__file__).resolve().parent.parent / "man" / "watchgate.1"
DATE: Final = "2026-11-22"
"""When the page was last made anew by hand; a date of today would change it every day."""

_SECTIONS: Final = {
    "exit status": {
        "0": "done",
        "1": "refused, or nothing of that kind was found",
        "2": "the command line or a filter is wrong",
        "3": "no core is reachable",
        "4": "too late: the deadline has passed, or the request is settled already",
    },
    "environment": {
        "WATCHGATE_RUNTIME_DIR": "where the sockets and the off switch are",
        "WATCHGATE_STATE_DIR": "where the journal, the grants and the log are",
        "WATCHGATE_CONFIG": "the configuration; policy.toml is beside it",
        "WATCHGATE_SSH": "the program that reaches other machines, ssh by default",
        "NO_COLOR": "set to anything, the console draws without colours",
    },
    "files": {
        "config.toml, policy.toml": "in the user's configuration directory: "
        "`watchgate config path` prints where",
        "journal.db": "what happened, chained by hashes; journal.head beside it tells its end, and "
        "journal.index.db is made from it anew when it is missing",
        "ingest.sock, control.sock": "in the runtime directory: what agents and consoles speak to",
    },
}


def render() -> str:
    """The page in roff."""
    os.environ["COLUMNS"] = "80"  # usage lines are as wide as the terminal that they are made in
    whole = parser()
    whole.epilog = None  # what the help says at its end has sections of its own here
    page = Manpage(
        whole,
        {
            "date": DATE,
            "project_name": "watchgate",
            "version": __version__,
            "manual_title": "User Commands",
            "description": "watch coding agents, and gate what they run",
        },
    )
    for heading, entries in _SECTIONS.items():
        lines = (f".TP\n\\fB{_roff(word)}\\fR\n{_roff(means)}" for word, means in entries.items())
        page.add_section(heading, "<", "\n".join(lines))
    return str(page)


def _roff(text: str) -> str:
    return text.replace("\\", "\\\\").replace("-", "\\-").replace("`", '"')


def main(check: bool) -> int:
    """Writes the page, or with `check` say whether it is what the parsers say."""
    return written({PAGE: render()}, "man-page", check=check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
