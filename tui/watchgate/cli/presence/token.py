"""`token`: programs that may let calls run without a terminal, each by a token of its own."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import Any

from watchgate.cli.ask import ask
from watchgate.cli.exits import Exit
from watchgate.cli.output import complain, json_line, say, table
from watchgate.link.protocol import Request


def add_parser(commands: Any) -> None:
    """Add the command with its actions."""
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
