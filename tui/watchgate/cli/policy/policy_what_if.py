"""`policy what-if`: what another policy would have done with the recorded calls."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import PROFILES, configured, here
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say, table
from watchgate.cli.base.since import since_us
from watchgate.cli.history.recorded import own_journal
from watchgate.cli.policy.held_rates import hours_words, proposal_lines, rate_rows

if TYPE_CHECKING:
    from watchgate.core.gate.what_if import Change
    from watchgate.core.lookback.lookback_report import LookbackReport
    from watchgate.core.model.records import CallData, Record


def add_parsers(verbs: Any) -> None:
    """Adds the command."""
    parser = verbs.add_parser(
        "what-if",
        help="judge the recorded calls by another policy: what would change, what would be held",
        epilog="example: watchgate policy what-if --profile strict (reads the journal alone)",
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a policy file in the place of your own; without it the rules that are there now",
    )
    parser.add_argument("--since", metavar="T", help="only the calls of the last 12h, 7d")
    parser.add_argument("--profile", choices=PROFILES, help="another profile than the configured")
    parser.add_argument("--json", action="store_true", help="one JSON object for each change")
    parser.set_defaults(run=_what_if)


def _what_if(args: argparse.Namespace) -> int:
    from watchgate.cli.policy.policy_in_force import Force
    from watchgate.core.gate.what_if import what_if
    from watchgate.core.lookback.transcript_call import call_of_record
    from watchgate.service.journal import journal_reader
    from watchgate.service.journal.schema import LAST_SEQ, JournalError

    paths = here()
    config = configured(paths)
    since = since_us(args.since)
    bare = args.file is None and args.profile is None
    force = Force(args.file)
    gate = force.gate(args.profile or config.profile)
    journal = own_journal()
    past = force.lookback(since or 0) if bare else None

    def also(record: Record, call: CallData) -> None:
        if past is not None:
            past.take([call_of_record(record, call)])

    try:
        records = (
            journal_reader.read(journal, 1, LAST_SEQ)
            if since is None
            else journal_reader.since(journal, since)
        )
        comparison = what_if(records, gate, also)
    except JournalError as fault:
        raise Stop(str(fault)) from None
    if args.json:
        for each in comparison.changes:
            json_line(_row(each))
    elif comparison.changes:
        table(
            ("RECORD", "WAS", "WOULD BE", "RISK", "RULE", "CALL"),
            [_cells(each) for each in comparison.changes],
        )
    if past is not None:
        _say_held(past.report(), as_json=args.json)
    complain(
        f"{len(comparison.changes)} of {comparison.judged} calls would be treated otherwise; "
        f"left out: {comparison.not_kept} whose input was not kept whole, {comparison.not_rules} "
        "that something else than the rules decided"
    )
    return Exit.DONE


def _say_held(report: LookbackReport, *, as_json: bool) -> None:
    """Says what each profile would hold of the calls, and what would take that away."""
    if as_json:
        row = {"rates": report.rates, "proposals": report.proposals}
        json_line({"kind": "held", **row})
    elif report.calls:
        table(("PROFILE", "HELD", "AN HOUR"), rate_rows(report.rates))
        say(f"in {hours_words(report.rates)}")
        for line in proposal_lines(report.proposals):
            say(line)


def _cells(change: Change) -> tuple[str, ...]:
    was = change.was.does if not change.ended else f"{change.was.does} ({change.ended})"
    call = change.call.summary.partition("\n")[0]
    would = change.would
    return str(change.record.seq), was, would.does, would.risk, would.rule, call


def _row(change: Change) -> dict[str, Any]:
    record, call = change.record, change.call
    return {
        "seq": record.seq,
        "at": record.at,
        "agent": record.agent,
        "session": record.session,
        "tool": call.tool.name,
        "summary": call.summary,
        "cwd": call.cwd,
        "was": change.was,
        "would": change.would,
        "ended": change.ended,
    }
