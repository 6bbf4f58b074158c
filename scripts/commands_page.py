"""Writes docs/commands.md from the parsers that the command line itself is made of.

`python -m scripts.commands_page [--check]`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from scripts.marked import as_table, written
from watchgate.cli import parser

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
HEAD: Final = """# Commands

`make commands-page` writes this page from the parsers of the command line; `watchgate COMMAND
--help` and `man watchgate` say the same. Commands that print data take `--json`: one object a line,
with names that stay.

Exit codes: 0 done, 1 refused or not found, 2 usage, 3 no core reachable, 4 too late or already
settled.
"""
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Look": ("lookback", "demo", "attach", "popup", "status", "costs", "prices"),
    "Install and check": ("install", "uninstall", "doctor", "crashtest", "hook", "agent", "config"),
    "Decide": ("ls", "show", "allow", "deny", "handback", "answer", "grants"),
    "Who decides": ("pin", "unlock", "lock", "token"),
    "Switch": ("guard", "off", "on", "serve", "stop", "service"),
    "What happened": ("tail", "search", "replay", "export", "audit", "purge"),
    "Rules": ("policy",),
    "Beside the hooks": ("acp", "stream-json", "permission-prompt", "statusline", "tap"),
    "For programs": ("stdio", "schema", "completion"),
}
"""Where a reader looks for a command; every one stands in one of them."""

Commands = Mapping[str, argparse.ArgumentParser]


def render() -> str:
    """The page: a table of every command, then each with its arguments and an example."""
    top = parser()
    commands, helps = _below(top)
    known = [name for names in SECTIONS.values() for name in names]
    if odd := set(known) ^ set(commands):
        raise ValueError(f"in only one of the sections and the parsers: {', '.join(sorted(odd))}")
    lines = [HEAD]
    for title, names in SECTIONS.items():
        rows = [(f"[`{name}`](#watchgate-{name})", helps[name]) for name in names]
        lines += [f"## {title}", "", as_table(("command", "does"), rows)]
        lines += ["", *(line for name in names for line in _told(commands[name], helps[name]))]
    return "\n".join(lines).rstrip() + "\n"


def _below(command: argparse.ArgumentParser) -> tuple[Commands, Mapping[str, str]]:
    """The commands below this one and what the help says of each."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help or "" for each in action._choices_actions}
            return action.choices, helps
    return {}, {}


def _told(command: argparse.ArgumentParser, does: str, level: int = 3) -> Iterator[str]:
    """One command, and those below it."""
    commands, helps = _below(command)
    listed = [each for each in command._actions if _is_listed(each)]
    words = " ".join(_word(each) for each in listed if not each.option_strings)
    yield f"{'#' * level} {command.prog}"
    yield ""
    yield f"{does[:1].upper()}{does[1:]}."
    yield ""
    if words:
        yield f"`{command.prog} {words}`"
        yield ""
    if listed:
        yield from (f"- {_named(each)}{_says(each)}" for each in listed)
        yield ""
    if command.epilog and command.epilog.strip():
        yield "```"
        yield command.epilog.strip()
        yield "```"
        yield ""
    for name, each in commands.items():
        yield from _told(each, helps.get(name, ""), level + 1)


def _is_listed(action: argparse.Action) -> bool:
    hidden = action.help == argparse.SUPPRESS or action.dest == "help"
    return not hidden and not isinstance(action, argparse._SubParsersAction)


def _word(action: argparse.Action) -> str:
    """A positional argument or the value of an option, as a usage line shows it."""
    metavar = action.metavar[0] if isinstance(action.metavar, tuple) else action.metavar
    choices = "|".join(map(str, action.choices)) if action.choices else ""
    word = metavar or choices or (action.dest.upper() if action.option_strings else action.dest)
    return {"*": f"[{word}...]", "+": f"{word}...", "?": f"[{word}]"}.get(str(action.nargs), word)


def _named(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_word(action)}`"
    value = "" if action.nargs == 0 else f" {_word(action)}"
    return ", ".join(f"`{name}{value}`" for name in action.option_strings)


def _says(action: argparse.Action) -> str:
    return f": {action.help % vars(action)}" if action.help else ""


def main(check: bool) -> int:
    """Writes the page, or with `check` say whether it is what the parsers say."""
    return written({PAGE: render()}, "commands-page", check=check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
