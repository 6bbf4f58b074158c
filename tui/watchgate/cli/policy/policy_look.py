"""`policy table`, `explain` and `reload`: what is in force, why, and taking in changes.

- Explains a request: from the running core while it knows it, else from the journal.
"""

from __future__ import annotations

import argparse
import difflib
import re
from typing import TYPE_CHECKING, Any

import msgspec

from watchgate.cli.base.command_environment import PROFILES, configured, here
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say, table
from watchgate.core.base import decoding

if TYPE_CHECKING:
    from watchgate.core.model.records import Record, RequestData


_ID = re.compile(r"[0-9a-z]{4,26}")


def request_of(beginning: str) -> tuple[str, RequestData] | None:
    """The request with this id or beginning, with its id; None where nobody knows it."""
    from watchgate.cli.base.ask import ask
    from watchgate.core.model.records import RequestData
    from watchgate.link.protocol import Request

    if not _ID.fullmatch(beginning):
        return None
    try:
        request: dict[str, Any] = ask(Request(id=1, verb="show", request=beginning))["request"]
    except Stop:
        return _recorded(beginning)
    return str(request["id"]), decoding.convert(request, RequestData)


def say_request(request: str, data: RequestData, *, as_json: bool) -> None:
    """Prints what the rules said about a request when it was made."""
    from watchgate.cli.policy import assessment_page
    from watchgate.core.model.assessment import Assessment
    from watchgate.core.secrets.redact import redact

    assessment = decoding.convert(
        {
            "decision": "ask",
            "risk": data.risk,
            "findings": msgspec.to_builtins(data.findings),
            "opaque": data.opaque,
            "segments": msgspec.to_builtins(data.segments),
        },
        Assessment,
    )
    if as_json:
        fields = {"request": request, "rule": data.rule, "reason": data.reason}
        fields |= {"summary": data.summary, "raised": data.raised}
        json_line(fields | assessment_page.as_json(assessment))
        return
    say(f"{request}  {redact(data.summary)}")
    say(f"{data.risk}  {data.rule}: {data.reason}")
    if data.raised:
        say(f"raised: {data.raised}")
    for line in assessment_page.findings(assessment, data.summary):
        say(redact(line))


def _recorded(beginning: str) -> tuple[str, RequestData] | None:
    from watchgate.core.model.records import RequestData

    records: dict[str, Record] = {}
    for record in _requests():
        if record.request and record.request.startswith(beginning):
            records[record.request] = record
    if len(records) > 1:
        raise Stop(f"{len(records)} requests begin with {beginning}; write more of the id")
    for request, record in records.items():
        return request, decoding.convert(record.data, RequestData)
    return None


def _requests() -> list[Record]:
    from watchgate.service.journal import journal_reader
    from watchgate.service.journal.schema import LAST_SEQ, JournalError

    journal = here().journal
    if not journal.exists():
        return []
    try:
        records = journal_reader.read(journal, 1, LAST_SEQ)
        return [record for record in records if record.kind == "approval.requested"]
    except JournalError as fault:
        raise Stop(str(fault)) from None


_ALLOW_MEANS = "an allow rule that covers a call"

_CELLS = {
    "record": "records it, and nothing else",
    "deny": "denies it",
    "hold": "holds it for an operator",
    "handback": "leaves it to the agent's own rules",
    "hold-if-unasked": (
        "holds it where nobody sits before the agent or nobody may be asked by it, else leaves it"
        " to it"
    ),
    "hold-if-autonomous": "holds it where nobody sits before the agent, else leaves it to it",
    "allow-if-configured": "allows it ([policy] auto_allow)",
}

BUILT_IN = {
    "policy.no-rule": "No rule knows the command, so nobody has said that it is harmless.",
    "policy.redirect": "It writes into a file, and no allow rule covers that.",
    "policy.env": "It sets a variable that can change what a program does.",
    "policy.broken": "A policy file cannot be read, so every call is asked until it is mended.",
    "policy.broken-project": "A project's policy file cannot be read: no rule allows anything.",
    "policy.retry": "It is close to what was denied in this session within 5 minutes.",
    "policy.flow": "The session read from elsewhere, then a secret, and now wants the network.",
    "text.hidden": "It holds characters that cannot be seen: what is read is not what runs.",
    "text.too-long": "It is longer than anybody reads.",
    "text.mixed-scripts": "A name in it mixes letters of several scripts: it may be another name.",
    "shell.opaque": "A part of it is only known when it runs, or cannot be read for certain.",
    "shell.unread-script": "It runs a file that it has just filled, and does not show with what.",
    "shell.fetched": "It runs a file that this session downloaded or decoded, which nobody read.",
    "shell.cloned": "It runs code of a repository that this session fetched.",
    "call.opaque": "What it would touch cannot be told from its input.",
    "call.spent": "It is too long or too involved to be judged in the time that one call may take.",
    "call.unseen": "It names a place that was not looked at, which may be a link to anywhere.",
}
"""Findings that no file says; they cannot be switched off."""


def add_parsers(verbs: Any) -> None:
    """Adds the three commands."""
    shown = verbs.add_parser(
        "table",
        help="what the gate does with each word of the rules, and which files they are from",
        epilog="example: watchgate policy table --profile strict",
    )
    shown.add_argument("--profile", choices=PROFILES, help="another than the configured one")
    shown.add_argument("--json", action="store_true", help="one JSON object a row")
    shown.set_defaults(run=_table)
    explain = verbs.add_parser(
        "explain",
        help="a rule, or why a request was asked",
        epilog="example: watchgate policy explain git.force-push (or the id of a request)",
    )
    explain.add_argument("id", metavar="ID", help="of a rule, or of a request or its beginning")
    explain.add_argument("--json", action="store_true", help="one JSON object")
    explain.set_defaults(run=_explain)
    reload = verbs.add_parser(
        "reload",
        help="let the running core read its policy files again; on an error the old rules stay",
        epilog="example: watchgate policy reload",
    )
    reload.add_argument("--json", action="store_true", help="one JSON object")
    reload.set_defaults(run=_reload)


def _table(args: argparse.Namespace) -> int:
    from watchgate.cli.policy.policy_in_force import Force
    from watchgate.core.policy.rules import profiles

    config = configured(here())
    profile = args.profile or config.profile
    rows = profiles.table(profile, auto_allow=config.policy.auto_allow)
    if args.json:
        for says, does in rows:
            json_line({"profile": profile, "says": says, "does": does})
        return Exit.DONE
    cells = [(says, _CELLS[does]) for says, does in rows]
    table(("THE RULES SAY", f"THE GATE, UNDER {profile.upper()},"), cells)
    force = Force()
    say()
    table(("RULES", "FROM"), [(str(count), origin) for origin, count in force.counts()])
    return Exit.DONE


def _explain(args: argparse.Namespace) -> int:
    from watchgate.cli.policy.policy_in_force import Force

    if args.id in BUILT_IN:
        fields = {"id": args.id, "tier": "built in", "reason": BUILT_IN[args.id]}
        if args.json:
            json_line(fields)
        else:
            say(f"{args.id} (built in; it cannot be switched off): {BUILT_IN[args.id]}")
        return Exit.DONE
    force = Force()
    if (rule := force.rule(args.id)) is not None:
        _say_rule(args, rule)
    elif (request := request_of(args.id)) is not None:
        say_request(*request, as_json=args.json)
    else:
        close = difflib.get_close_matches(args.id, [*BUILT_IN, *force.ids()], n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise Stop(f"no rule and no recorded request is called {args.id}{hint}")
    return Exit.DONE


def _say_rule(args: argparse.Namespace, rule: dict[str, Any]) -> None:
    if args.json:
        json_line(rule)
        return
    off = "" if rule["in_force"] else ", SWITCHED OFF by your files"
    say(f"{rule['id']}  {rule['decision']}  {rule['risk']}  ({rule['tier']}, {rule['place']}{off})")
    say(rule["reason"] or _ALLOW_MEANS)
    if rule["suggest"]:
        say(f"safer: {rule['suggest']}")
    if rule["always_ask"]:
        say("no grant answers it")
    print()
    print(rule["toml"], end="")


def _reload(args: argparse.Namespace) -> int:
    from watchgate.cli.base.ask import Unreached, ask
    from watchgate.link.protocol import Request

    try:
        answer = ask(Request(id=1, verb="policy", action="reload"))
    except Unreached:
        raise
    except Stop as stop:
        # The request was good; it is the file that is not.
        raise Stop(str(stop)) from None
    if args.json:
        json_line(answer)
        return Exit.DONE
    say(f"{answer['rules']} rules are in force, the shipped ones and those of:")
    for file in answer["files"]:
        say(f"  {file['path']}  ({file['tier']})")
    for fault in answer["faults"]:
        complain(fault)
    return Exit.DONE
