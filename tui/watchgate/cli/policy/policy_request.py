"""Explains a request: from the running core while it knows it, else from the journal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Stop, json_line, say
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
    """Print what the rules said about a request when it was made."""
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
