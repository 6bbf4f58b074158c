"""`grants`: the standing grants in force, and taking one back.

- The rules of an allow for good: what a person typed, and what the core proposes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.ask import ask
from watchgate.cli.base.drawn_text import drawn_fact, styled_output
from watchgate.cli.base.printing import Exit, Stop, json_line, say, table
from watchgate.core.base import decoding
from watchgate.core.secrets.redact import redact
from watchgate.link.protocol import Request

if TYPE_CHECKING:
    from watchgate.core.model.standing_grant import GrantRule, Width


_PAST_SHOWN = 10


def rules_from(texts: Sequence[str], scope: str, width: Width | None) -> tuple[GrantRule, ...]:
    """The rules of these texts; ends the command where one cannot be read or none is wanted."""
    from watchgate.core.model.standing_grant import GrantRule, read_rule, width_of

    if width is not None and scope == "once":
        raise Stop("--width goes with a --scope beyond once", Exit.USAGE)
    if texts and width_of(scope, width) != "program":
        raise Stop("--rule goes with --scope always or --width program alone", Exit.USAGE)
    rules = []
    for text in texts:
        try:
            words, more = read_rule(text)
        except ValueError as fault:
            raise Stop(f"--rule {fault}", Exit.USAGE) from None
        rules.append(GrantRule(words=words, more=more))
    return tuple(rules)


_LASTS = {
    "turn": "it ends with the turn",
    "session": "it ends with the session",
    "15m": "it ends after 15 minutes, or with the session",
    "always": "it ends when it was not used for 30 days",
}


def proposal_lines(
    request: str, rules: tuple[GrantRule, ...], scope: str, width: Width | None
) -> list[str]:
    """The rules that a wide allow would give, and the past calls that they cover."""
    proposal = ask(Request(id=1, verb="propose", request=request, rules=rules, width=width))
    count = proposal["past_count"]
    past = [
        (datetime.fromtimestamp(each["at"] / 1_000_000, UTC).astimezone(), redact(each["summary"]))
        for each in proposal["past"][:_PAST_SHOWN]
    ]
    lines = [
        "",
        f"  {scope}, in {proposal['folder']} and nowhere else:",
        *(f"    {rule['text']}" for rule in proposal["rules"]),
        *([_whole(proposal["answers"])] if width == "folder" else []),
        f"  of the calls that were asked about it would have answered {count or 'none'}",
        *(f"    {moment:%Y-%m-%d %H:%M}  {summary}" for moment, summary in past),
        f"  it is listed by `watchgate grants`, and {_LASTS[scope].removeprefix('it ')}",
    ]
    styled = styled_output()
    return [drawn_fact(line, styled=styled) for line in lines]


def _whole(answers: Sequence[str]) -> str:
    return f"    every command that only {', '.join(answers)} or a rule of ordinary work asks about"


_SHORT = 8


def add_parser(commands: Any) -> None:
    """Adds the command; without an action it lists."""
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

    from watchgate.core.model.standing_grant import GrantRule

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
