"""Completion in shells: `completion` prints what a shell loads, `complete` answers its Tab key.

The shell starts this program for each Tab, so what is proposed is what is so now: the requests that
wait, the sessions there are, the words that a filter knows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from watchgate.cli.base.printing import Exit, Stop

SHELLS = ("bash", "zsh", "fish")
COMMANDS = ("watchgate", "wgate")
ID_CHARS = 8
"""Characters of an id that are proposed: enough to be the only one that begins so."""

Proposed = Mapping[str, str] | list[str]
Completer = Callable[..., Proposed]

_LOADED = """\
example: watchgate completion fish | source       in ~/.config/fish/config.fish
         eval "$(watchgate completion bash)"      in ~/.bashrc
         eval "$(watchgate completion zsh)"       in ~/.zshrc, after compinit
"""


def add_parser(commands: Any) -> None:
    """Adds the command."""
    completion = commands.add_parser(
        "completion",
        help="what your shell loads to complete commands, ids, sessions and filters",
        epilog=_LOADED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(run=_completion)


def _completion(args: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    shell = "fish" if args.shell == "fish" else "bash"  # one text serves bash and zsh
    print(shellcode(COMMANDS, shell=shell))
    return Exit.DONE


def complete(parser: argparse.ArgumentParser) -> None:
    """Answers the shell that started this program for its Tab key, and ends."""
    from argcomplete import autocomplete

    for action in _arguments(parser):
        completer = _COMPLETERS.get(str(action.metavar))
        if completer is not None and not action.choices:
            action.completer = completer  # type: ignore[attr-defined]  # argcomplete reads it
    autocomplete(parser, always_complete_options=False)


def _arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _arguments(below)
        else:
            yield action


def _requests(**_about: object) -> Proposed:
    listed = _asked("requests", what="requests")
    return {one["id"][:ID_CHARS]: _line(f"{one['risk']} {one['summary']}") for one in listed}


def _grants(**_about: object) -> Proposed:
    return {one["id"][:ID_CHARS]: _line(one["summary"]) for one in _asked("grants", verb="grants")}


def _sessions(**_about: object) -> dict[str, str]:
    listed = _asked("sessions", what="sessions")
    return {one["session"]: _line(f"{one['agent']} {one['label']}") for one in listed}


def _recordings(prefix: str, **about: Any) -> Proposed:
    from argcomplete.completers import FilesCompleter

    files = FilesCompleter()(prefix, **about)
    return {**dict.fromkeys(files, ""), **_sessions()}


def _agents(**_about: object) -> Proposed:
    from watchgate.agents.registry import ADAPTERS

    return [name for name, each in ADAPTERS.items() if each.setup is not None]


def _times(**_about: object) -> Proposed:
    return ["10m", "1h", "24h", "7d", "today", "yesterday"]


def _filters(prefix: str, **_about: object) -> Proposed:
    from watchgate.core.filters.filter_completion import KnownValues, propose

    sessions = _asked("sessions", what="sessions")
    known = KnownValues(
        agents=tuple({one["agent"]: None for one in sessions}),
        sessions=tuple({one["label"]: None for one in sessions}),
    )
    proposals = propose(prefix, len(prefix), known)
    return [proposals.put(prefix, number)[0] for number in range(len(proposals.texts))]


def _line(text: str) -> str:
    from watchgate.core.base.text import safe_text

    return safe_text(text.partition("\n")[0])[:60]


def _asked(key: str, **fields: Any) -> list[dict[str, Any]]:
    """Returns the list of a running core, or nothing: a Tab key is no place for an error."""
    from watchgate.cli.base.ask import ask
    from watchgate.link.protocol import Request

    try:
        return list(ask(Request(id=1, **{"verb": "list", **fields}))[key])
    except Stop:
        return []


_COMPLETERS: dict[str, Completer] = {
    "ID": _requests,
    "GRANT": _grants,
    "S": _sessions,
    "[AGENT:]SESSION": _sessions,
    "SESSION|FILE": _recordings,
    "AGENT": _agents,
    "FILTER": _filters,
    "T": _times,
}
"""The function that completes an argument, by the word that the help has for it."""
