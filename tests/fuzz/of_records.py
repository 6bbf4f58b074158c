"""Records from a file: exports, journal rows, the head beside them, and what is drawn of them."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC
from functools import cache
from html.parser import HTMLParser
from typing import Any

import msgspec

from tests.fuzz.of_files import BROKEN, written
from tests.fuzz.target import Target, demand
from watchgate.core.chain.chain_walk import anchor_of, anchor_text, walk
from watchgate.core.chain.hash_chain import START, Chain, JournalRow
from watchgate.core.model.records import Draft
from watchgate.core.report.call_steps import build_story
from watchgate.core.report.html_page import JournalProof, report_page
from watchgate.core.secrets.redact import journal_json
from watchgate.core.state.state import State
from watchgate.link.protocol import Snapshot
from watchgate.link.snapshots import restored, snapshot
from watchgate.service.journal import verification
from watchgate.service.journal.journal_disk import HeadError, read_head
from watchgate.service.journal.verification import ExportError
from watchgate.service.search import index_file

_TAGS = frozenset(("script", "iframe", "img", "object", "embed", "link", "svg", "form", "base"))


class _Drawn(HTMLParser):
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        demand(tag not in _TAGS, "no element comes from outside")
        demand(all(not key.startswith("on") for key, _ in attrs), "and no script of an element")


def export(data: bytes) -> None:
    """An exported file: proven or faulted, folded into a state, and drawn as a page."""
    path = written("export.jsonl", data)
    records = verification.read_export(path)
    verification.verify_export(path)
    state = State()
    for record in records:
        state.apply(record)
    taken = snapshot(state, core="c", now_us=1)
    again = msgspec.json.decode(msgspec.json.encode(taken), type=Snapshot)
    restored(again)
    for agent, session in {(each.agent or "", each.session or "") for each in records}:
        with suppress(ValueError):
            told = build_story(records, agent, session)
            drawn = "".join(report_page(told, JournalProof(False, "x", 1, "p"), UTC))
            _Drawn().feed(drawn)


@cache
def _sealed() -> tuple[JournalRow, ...]:
    chain = Chain("core-a", START, lambda data: journal_json(data, "full"))
    drafts = [Draft(kind="notice", at=at, data={"text": f"n{at}"}) for at in range(4)]
    return tuple(chain.seal(draft)[1] for draft in drafts)


def journal_rows(data: bytes) -> None:
    """A row of the journal whose data somebody changed: told as no record, and always found."""
    rows = list(_sealed())
    kinds = ("notice", "policy.checkpoint", "policy.purged")
    for kind in kinds:
        rows[2] = msgspec.structs.replace(_sealed()[2], data=data, kind=kind)
        rows[2].record()
        index_file._decoded(data)
        verdict = walk(iter(rows), {each.seq: each.hash for each in rows}.get).verification
        same = kind == "notice" and data == _sealed()[2].data
        demand(same or verdict.problem is not None, "what was changed is found")


def anchors(data: bytes) -> None:
    """An anchor as a person types one."""
    anchor = anchor_of(data.decode("utf-8", "replace"))
    demand(anchor_of(anchor_text(anchor)) == anchor, "the same when read again")


def heads(data: bytes) -> None:
    """The head file beside a journal."""
    read_head(written("journal.head", data))


def sealing(data: bytes) -> None:
    """What an event carries is sealed, told and proven, or turned down as what has no JSON form."""
    given = json.loads(data)
    chain = Chain("core-a", START, lambda kept: journal_json(kept, "commands"))
    told: dict[str, Any] = {"native": "x", "tool": given, "text": str(given), "input": given}
    record, row = chain.seal(Draft(kind="tool.pre", at=1, data=told))
    demand(row.record().hash == record.hash, "one record")
    demand(walk(iter((row,)), {1: row.hash}.get).verification.problem is None, "it proves itself")


def _export(*datas: dict[str, Any]) -> bytes:
    chain = Chain("core-a", START, lambda data: journal_json(data, "full"))
    lines = []
    for at, data in enumerate(datas, 1_795_000_000_000_000):
        kind = data.pop("kind")
        draft = Draft(
            kind=kind, at=at, data=data, agent="claude", session="s", call="c", request="r-1"
        )
        lines.append(msgspec.json.encode(chain.seal(draft)[1].record()))
    return b"\n".join(lines) + b"\n"


_TOOL = {
    "name": "Bash",
    "native_name": "Bash",
    "cls": "shell",
    "input": {"command": "ls"},
    "input_hash": "h",
}

RECORDS = {
    "export": Target(
        feed=export,
        refusals=(ExportError,),
        seeds=(
            _export(
                {"kind": "session.start", "native": "SessionStart", "text": "hi"},
                {
                    "kind": "tool.pre",
                    "native": "PreToolUse",
                    "tool": _TOOL,
                    "lane": "observe",
                    "summary": "ls",
                    "gate": "recorded",
                },
                {
                    "kind": "approval.requested",
                    "digest": "d",
                    "lane": "gate",
                    "native": "PreToolUse",
                    "tool": _TOOL,
                    "summary": "ls",
                    "risk": "high",
                    "rule": "r",
                    "reason": "why",
                    "deadline_at": 1_795_000_060_000_000,
                },
                {"kind": "approval.extended", "deadline_at": 1_795_000_090_000_000},
                {
                    "kind": "approval.decided",
                    "word": "denied-by-operator",
                    "by": "u",
                    "waited_s": 1,
                },
                {
                    "kind": "tool.post",
                    "native": "PostToolUse",
                    "tool": _TOOL,
                    "summary": "ls",
                    "ok": True,
                    "result": "a",
                },
                {"kind": "usage", "input": 3, "output": 4, "native": "u"},
                {"kind": "notice", "native": "Notification", "text": "<b>x"},
            ),
        ),
    ),
    "journal-rows": Target(
        feed=journal_rows, found=BROKEN, seeds=(b'{"text":"n2"}', b'{"removed_to":1}')
    ),
    "head-file": Target(
        feed=heads, refusals=(HeadError,), seeds=(b"%020d " % 12 + b"0f" * 32 + b"\n",)
    ),
    "anchor": Target(feed=anchors, refusals=(ValueError,), seeds=(b"12:" + b"0f" * 32 + b"\n",)),
    "sealing": Target(
        feed=sealing,
        refusals=(ValueError, TypeError, RecursionError),
        seeds=(b'{"command":"AWS_SECRET=abc ls","x":[1,2.5,null]}', b'["token=ghp_x"]'),
    ),
}
