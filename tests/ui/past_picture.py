"""Five days of recorded calls as the pictures show them, and a core that answers with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from watchgate.core.filters.filter_fields import history_test
from watchgate.core.filters.filter_parser import parse
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.records import Record
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import Request, Result

RECORDS = 48_211
NEWEST = 48_190

CALLS = """
20 12:03:25|api-fix|claude|Bash|high|T|timed out|nobody, 0:30|denied-by-timeout|docker compose down -v
20 11:48:02|api-fix|claude|Bash|high|x|denied|you|denied-by-operator|git push --force origin main
20 10:15:40|ci|gemini|Bash|critical|x|denied|rule no-sudo|denied-by-rule|sudo rm /etc/apt/sources.list.d/x.list
20 09:31:12|docs|codex|Bash|high|b|handed back|you|handed-back-by-operator|git reset --hard origin/main
19 17:22:09|web|cursor|Bash|critical|#|DENIED BUT RAN|rule files/world-writable|denied-by-rule|chmod -R 777 /srv/app
19 16:04:14|api-fix|claude|Edit|high|~|elsewhere|in claude|answered-elsewhere|~/.zshrc  +2 -0
19 15:59:30|api-fix|claude|Bash|high|=|by rule|docker-dev|allowed-by-rule|docker compose down -v
19 11:20:18|infra|claude|Bash|critical|x|denied|you|denied-by-operator|terraform destroy -auto-approve
16 18:40:33|infra|claude|Bash|high|+|allowed|you, twice|allowed-by-operator|kubectl rollout restart deploy/api
16 18:38:07|infra|claude|Bash|high|-|withdrawn|agent gone|withdrawn|kubectl delete pod -l app=api
16 09:02:55|docs|codex|Bash|high|x|denied|no core|denied-core-stopped|npm publish
"""  # noqa: E501 - one call a line

FIRST = (48_100, 47_900, 46_000, 45_500, 31_871, 31_200, 31_100, 27_000, 9_000, 8_900, 7_000)


def at_us(time: str) -> int:
    """A moment of November 2026 (`19 17:22:09`), in UTC µs."""
    moment = datetime.strptime(f"2026-11-{time}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1_000_000


def past(lines: str = CALLS) -> tuple[HistoryRow, ...]:
    """The calls of the picture, newest first."""
    rows = []
    for number, line in enumerate(lines.strip().splitlines()):
        time, label, agent, tool, risk, glyph, outcome, by, word, summary = line.split("|", 9)
        rows.append(
            HistoryRow(
                at=at_us(time),
                agent=agent,
                session=f"{label}-session",
                label=label,
                call=f"toolu-{number}",
                tool=tool,
                risk=risk,
                glyph=glyph,
                outcome=outcome,
                by=by,
                word=word,
                first=FIRST[number],
                last=FIRST[number] + 3,
                summary=summary,
                alarm=glyph == "#",
                request="e77a4m2k" if glyph == "#" else None,
                rule="files/world-writable" if glyph == "#" else "",
                cwd="/srv",
                state=(outcome, word),
            )
        )
    return tuple(rows)


def row(number: int, **changes: Any) -> HistoryRow:
    """One more call of the session api-fix, whose first record is `number`."""
    fields = {"at": at_us("20 08:00:00") + number * 1000, "agent": "claude", "label": "api-fix",
              "session": "api-fix-session", "call": f"c-{number}", "tool": "Read", "risk": "low",
              "glyph": "", "outcome": "ran", "first": number, "last": number + 1,
              "summary": f"file-{number}.py", "state": ("ran", "done")}  # fmt: skip
    return HistoryRow(**{**fields, **changes})


def timeline(of: HistoryRow) -> tuple[Record, ...]:
    """The records of a call that was denied, and ran all the same."""
    call = {"native": "PreToolUse", "cwd": "/srv", "gate": "denied", "word": "denied-by-rule"}
    alarm = {"word": "deny", "what": "it ran", "alarm": "DENIED BUT RAN"}
    told = (
        (0, 114, "tool.pre", call),
        (3, 341, "tool.post", {"native": "PostToolUse", "ok": True, "took_ms": 41}),
        (3, 341, "effect.contradicted", alarm),
    )
    return tuple(
        Record(v=1, seq=of.first + more, core="core", at=of.at + ms * 1000, kind=kind, data=data,
               agent=of.agent, session=of.session, call=of.call)
        for more, ms, kind, data in told
    )  # fmt: skip


def answering(
    rows: tuple[HistoryRow, ...], *, size: int = 100, records: int = RECORDS
) -> Callable[[Request], ControlAnswer]:
    """A core that knows these calls, and gives at most `size` of them at once."""

    def answer(request: Request) -> ControlAnswer:
        if request.verb != "search":
            return Result(id=request.id)
        if request.what != "calls":
            found = (each for each in rows if each.first == request.from_seq)
            return Result(id=request.id, ok={"records": [r for f in found for r in timeline(f)]})
        keeps = history_test(parse(request.filter or "", now_us=at_us("20 12:04:48")))
        asked = {"records": records, "newest": NEWEST}
        if request.from_seq is not None:
            return Result(id=request.id, ok={"calls": [], **asked})
        before = request.before or 2**40
        fitting = [each for each in rows if each.first < before and keeps(each)]
        page = fitting[: min(size, request.limit)]
        more = page[-1].first if len(fitting) > len(page) else None
        looked = before if more is None else before - more
        return Result(
            id=request.id,
            ok={"calls": page, "next": more, "looked_at": min(looked, records), **asked},
        )

    return answer
