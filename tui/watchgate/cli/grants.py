"""`grants`: the standing grants in force, and taking one back."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import Any

from watchgate.cli.ask import ask
from watchgate.cli.exits import Exit
from watchgate.cli.output import json_line, say, table
from watchgate.core import decoding
from watchgate.core.redact import redact
from watchgate.link.protocol import Request

_SHORT = 8


def add_parser(commands: Any) -> None:
    """Add the command; without an action it lists."""
    grants = commands.add_parser(
        "grants",
        help="standing grants, and taking them back",
        epilog="example: watchgate grants   ·   watchgate grants revoke a41f",
    )
    grants.add_argument("--json", action="store_true", help="one JSON object a line")
    grants.set_defaults(run=_ls)
    actions = grants.add_subparsers(title="actions", metavar="ACTION")
    ls = actions.add_parser(
        "ls",
        help="those in force, with who gave them, when, how often they answered, and until when",
        epilog="example: watchgate grants ls --json | jq .rules",
    )
    # Without a default, so that it does not undo one that stood before the action.
    suppressed = argparse.SUPPRESS
    ls.add_argument(
        "--json", action="store_true", default=suppressed, help="one JSON object a line"
    )
    ls.set_defaults(run=_ls)
    revoke = actions.add_parser(
        "revoke",
        help="take a grant back: what it answered is asked again from now on",
        epilog="example: watchgate grants revoke a41f",
    )
    revoke.add_argument("id", metavar="GRANT", help="grant id or a unique prefix of 4 or more")
    revoke.add_argument("--as", dest="name", metavar="NAME", help="the name to sign with")
    revoke.add_argument(
        "--json", action="store_true", default=suppressed, help="print the result as JSON"
    )
    revoke.set_defaults(run=_revoke)


def _ls(args: argparse.Namespace) -> int:
    grants = ask(Request(id=1, verb="grants"))["grants"]
    if args.json:
        for each in grants:
            json_line(each)
    elif not grants:
        say("no grant is in force: every call that is held is asked about")
    else:
        head = ("ID", "SCOPE", "AGENT", "BY", "GIVEN", "USED", "ENDS", "FOLDER", "LETS RUN")
        table(head, [_row(each) for each in grants])
    return Exit.DONE


def _revoke(args: argparse.Namespace) -> int:
    done = ask(Request(id=1, verb="revoke", grant=args.id, as_=args.name))
    if args.json:
        json_line(done)
    else:
        say(f"#{done['grant'][:4]} is taken back: what it answered is asked again")
    return Exit.DONE


def _row(grant: dict[str, Any]) -> tuple[str, ...]:
    hits = grant.get("hits", 0)
    return (
        grant["id"][:_SHORT],
        grant["scope"],
        grant["agent"],
        grant["by"],
        _moment(grant["given_at"]),
        f"{hits} x, {_moment(grant['used_at'])}" if hits else "never",
        _end(grant),
        grant["folder"] or "-",
        redact(", ".join(_texts(grant)) or _without_rules(grant)),
    )


def _texts(grant: dict[str, Any]) -> list[str]:

    from watchgate.core.grants.rule import GrantRule

    return [decoding.convert(rule, GrantRule).text for rule in grant.get("rules", ())]


def _without_rules(grant: dict[str, Any]) -> str:
    if grant.get("width") == "folder":
        return f"what {', '.join(grant.get('answers', ()))} or ordinary work asks about there"
    return str(grant["summary"])


def _end(grant: dict[str, Any]) -> str:
    if grant.get("until_at"):
        unused = " unused" if grant["scope"] == "always" else ""
        return f"{_moment(grant['until_at'])}{unused}"
    return f"with the {grant['scope']}"


def _moment(at_us: int) -> str:
    return f"{datetime.fromtimestamp(at_us / 1_000_000, UTC).astimezone():%Y-%m-%d %H:%M}"
