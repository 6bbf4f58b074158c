"""The moment that pictures of the Traces screen show: twenty calls and what their hooks did."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tests.ui.picture import AGENTS, at_us, busy, call_rows
from watchgate.core.model.records import TraceData
from watchgate.core.model.verdicts import Run, TraceRow
from watchgate.core.state.traces import TraceView
from watchgate.link.protocol import Snapshot

ENV = ("PATH", "HOME", "LANG", "CLAUDE_PROJECT_DIR", "TERM", "TZ", "USER", "SHELL", "TMPDIR")

ROUTINE = """
12:02:38|ci|x|3
12:02:44|api-fix||4
12:03:02|web||4
12:03:07|docs||2
12:03:11|docs|+|8
12:03:18|ci||5
12:03:25|api-fix|T|7
12:03:31|api-fix||2
12:03:36|docs|b|5
12:03:40|docs||4
12:03:44|ci||4
12:03:49|api-fix||4
12:03:52|docs||2
12:03:56|web||3
12:03:59|ci||2
12:04:02|docs|?|4
12:04:05|web||5
12:04:08|docs||2
12:04:11|api-fix|?|31
"""


def ran(
    handler: str, start_ms: float, duration_ms: float, said: str = "defer", **more: object
) -> TraceRow:
    """A handler that was asked; a gate run in process unless said otherwise."""
    fields = {"role": "gate", "limit_s": 5.0, **more}
    return TraceRow(
        handler=handler,
        status="ran",
        verdict=said,
        start_ms=start_ms,
        duration_ms=duration_ms,
        **fields,  # type: ignore[arg-type]
    )


def skipped(handler: str, why: str, **more: object) -> TraceRow:
    """A handler that was not asked."""
    fields = {"role": "gate", **more}
    return TraceRow(handler=handler, status="skipped", why=why, **fields)  # type: ignore[arg-type]


FMT = ran(
    "./hooks/fmt.sh",
    0.7,
    214,
    kind="command",
    run=Run(
        exit_code=0,
        stdin_bytes=612,
        stderr="ruff 0.14.5: 3 files left unchanged",
        env=ENV,
        queue_ms=9,
    ),
)
BEFORE = TraceData(
    native="PreToolUse",
    kind="tool.pre",
    decision="allow",
    decided_by="policy",
    reason="always: uv run pytest *",
    took_ms=243,
    tool="Bash",
    summary="uv run pytest -q tests/api",
    rows=(
        ran("redact", 0, 0.4, "modify", times=2),
        FMT,
        ran("acme-guard", 215, 26.1, kind="extension", run=Run(health="running", queue_ms=2)),
        ran("policy", 242, 0.3, "allow", kind="policy"),
        skipped("budget", "disabled"),
        skipped("no-force-push", "matcher", kind="command"),
    ),
)
AFTER = TraceData(
    native="PostToolUse",
    kind="tool.post",
    decision="none",
    tool="Bash",
    summary="uv run pytest -q tests/api",
    rows=(
        ran(
            "notify",
            0,
            200,
            "failed",
            role="observer",
            kind="command",
            detail="it is registered as observer: timeout: no answer in 0.2 s",
            ignored=True,
            limit_s=0.2,
        ),
        ran("audit", 0, 0.2, "allow", role="sink", ignored=True),
        skipped("webhook", "filter", role="sink"),
    ),
)

REFUSED = TraceData(
    native="PreToolUse",
    kind="tool.pre",
    decision="deny",
    decided_by="guard",
    reason="guard failed (exit): exit code 3",
    took_ms=58,
    tool="Fetch",
    summary="http://10.0.0.7/runner/token",
    rows=(
        ran(
            "acme-guard",
            0,
            31.2,
            "inject",
            kind="extension",
            ignored=True,
            detail="inject is not allowed at tool.pre: 120 characters for the model",
            run=Run(health="degraded", restarts=2, queue_ms=12),
        ),
        ran(
            "guard",
            31.4,
            26.5,
            "failed",
            kind="command",
            detail="exit: exit code 3",
            run=Run(
                exit_code=3,
                stdin_bytes=540,
                stdout="checking the address",
                stderr="Traceback (most recent call last):\n  guard.py, line 3\nKeyError: 'host'",
                env=ENV,
            ),
        ),
        skipped("policy", "after-stop", kind="policy"),
    ),
)

HIDDEN = TraceData(
    native="item.started/command_execution",
    kind="tool.pre",
    decision="deny",
    preset="sdk-first-match",
    decided_by="no-secrets",
    reason="prints a secret",
    effect="view",
    took_ms=2,
    tool="Bash",
    summary="cat ~/.aws/credentials",
    rows=(
        ran("no-secrets", 0, 1.8, "block", detail="prints a secret"),
        skipped("costs", "after-stop"),
    ),
)

PROMPT = TraceData(
    native="UserPromptSubmit",
    kind="prompt.submit",
    decision="none",
    took_ms=12,
    rows=(ran("context", 0, 12, "inject", kind="command", detail="340 characters for the model"),),
)


def view(time: str, label: str, data: TraceData, *, call: str = "", seq: int = 0) -> TraceView:
    """A trace of one of the pictures' sessions."""
    return TraceView(
        seq=seq or at_us(time) // 1_000_000,
        at=at_us(time),
        agent=AGENTS[label],
        session=f"{label}-session",
        call=call,
        label=label,
        data=data,
    )


def call_of(time: str) -> str:
    """The id of the call that was made then."""
    return next(row.call for row in call_rows() if row.at == at_us(time))


def routine(time: str, took_ms: float, *, tool: str = "", summary: str = "") -> TraceData:
    """What an ordinary call leaves: policy alone was asked."""
    row = next((row for row in call_rows() if time and row.at == at_us(time)), None)
    return TraceData(
        native="PreToolUse",
        kind="tool.pre",
        decision="none",
        took_ms=took_ms,
        tool=tool or (row.tool if row else "Bash"),
        summary=summary or (row.summary if row else ""),
        rows=(ran("policy", 0, took_ms, kind="policy"),),
    )


def views() -> tuple[TraceView, ...]:
    """The traces of the pictures, oldest first."""
    plain = [
        view(time, label, routine(time, float(ms)), call=call_of(time))
        for time, label, _, ms in (line.split("|") for line in ROUTINE.strip().splitlines())
    ]
    bash = call_of("12:02:52")
    mine = [
        view("12:02:52", "api-fix", BEFORE, call=bash),
        view("12:02:52", "api-fix", AFTER, call=bash, seq=7),
    ]
    return tuple(sorted([*plain, *mine], key=lambda trace: trace.at))


def traced(traces: Iterable[TraceView] | None = None) -> Snapshot:
    """The busy picture with these traces."""
    return msgspec.structs.replace(busy(), traces=views() if traces is None else tuple(traces))
