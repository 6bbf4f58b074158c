"""`token`: programs that may let calls run without a terminal, each by a token of its own."""

from __future__ import annotations

import argparse
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from watchgate.cli.base.ask import ask
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say, table
from watchgate.cli.base.typed_input import at_terminal
from watchgate.link.protocol import Request

VARIABLE = "WATCHGATE_TOKEN"
UNREGISTERED = (
    "without a terminal only a program that you registered may let a call run: "
    "`watchgate token add NAME` once, then give it as WATCHGATE_TOKEN or --token-file FILE"
)
_LONGEST = 4096


def add_token_option(command: argparse.ArgumentParser) -> None:
    """Adds `--token-file` to a command that lets calls run."""
    command.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"for a registered program (`watchgate token add`): its token, instead of {VARIABLE}",
    )


def given_token(file: str | None) -> str | None:
    """The token of this program, from that file or its environment.

    None where a person sits at the terminal and names no file.

    Ends the command for a file that others may read: whoever reads it may allow.
    """
    if file is not None:
        return _read(Path(file))
    return None if at_terminal() else os.environ.get(VARIABLE) or None


def _read(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            mode = stat.S_IMODE(status.st_mode)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or mode & 0o077:
                raise Stop(
                    f"{path}: others may read this token ({mode:04o}), so it is not used: "
                    f"chmod 600 {path}, and register the program again",
                    Exit.USAGE,
                )
            words = opened.read(_LONGEST).decode("utf-8", "replace").split()
    except OSError as fault:
        raise Stop(f"{path}: no token can be read: {fault.strerror}", Exit.USAGE) from None
    if not words:
        raise Stop(f"{path}: there is no token in it", Exit.USAGE)
    # Above it may stand what `token add` printed before it.
    return words[-1]


def add_parser(commands: Any) -> None:
    """Adds the command with its actions."""
    token = commands.add_parser(
        "token",
        help="register programs that may allow without a terminal",
        description="A program may let calls run only with a token of its own, up to the risk that "
        "you gave it, never critical ones. Every record of what it decides names it.",
        epilog="example: watchgate token add night-build --risk medium",
    )
    actions = token.add_subparsers(title="actions", metavar="ACTION", required=True)
    add = actions.add_parser(
        "add",
        help="register a program and print its token, which is told only now",
        epilog="example: watchgate token add night-build > ~/.night-build-token   (umask 077)",
    )
    add.add_argument("name", metavar="NAME", help="how the records name it")
    add.add_argument(
        "--risk",
        choices=("medium", "high"),
        default="medium",
        help="the gravest risk that it may let run",
    )
    add.set_defaults(run=_add)
    ls = actions.add_parser(
        "ls", help="the registered programs", epilog="example: watchgate token ls --json"
    )
    ls.add_argument("--json", action="store_true", help="one JSON object a line")
    ls.set_defaults(run=_ls)
    revoke = actions.add_parser(
        "revoke",
        help="take a program's token back: it may only deny from now on",
        epilog="example: watchgate token revoke night-build",
    )
    revoke.add_argument("name", metavar="NAME", help="the program")
    revoke.set_defaults(run=_revoke)


def _add(args: argparse.Namespace) -> int:
    done = ask(Request(id=1, verb="token", action="add", name=args.name, risk=args.risk))
    complain(
        f"{done['name']} may now let calls of {_risks(done['risk'])} risk run, never critical ones."
    )
    complain("This is its token. It is told only now, and whoever has it may allow in its name:")
    complain("keep it in a file that you alone can read (chmod 600), and give that to the program")
    complain("with --token-file FILE, or the token itself in WATCHGATE_TOKEN.")
    print(done["token"], flush=True)
    return Exit.DONE


def _risks(risk: str) -> str:
    return "low and medium" if risk == "medium" else "low, medium and high"


def _ls(args: argparse.Namespace) -> int:
    tokens = ask(Request(id=1, verb="token", action="ls"))["tokens"]
    if args.json:
        for each in tokens:
            json_line(each)
    elif not tokens:
        say("no program is registered: without a terminal nothing can be allowed")
    else:
        rows = [(each["name"], _risks(each["risk"]), _moment(each["added_at"])) for each in tokens]
        table(("NAME", "MAY ALLOW", "SINCE"), rows)
    return Exit.DONE


def _revoke(args: argparse.Namespace) -> int:
    ask(Request(id=1, verb="token", action="revoke", name=args.name))
    say(f"{args.name} is no longer registered: its token lets nothing run any more.")
    return Exit.DONE


def _moment(at_us: int) -> str:
    return f"{datetime.fromtimestamp(at_us / 1_000_000, UTC).astimezone():%Y-%m-%d %H:%M}"
