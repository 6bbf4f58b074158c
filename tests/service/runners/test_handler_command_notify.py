"""A `notify` program as the configuration asks for it, run for real."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.core.builders import START, other
from tests.service.runners.hooks import MARK, marked, script, survivors
from watchgate.core.config.config import load
from watchgate.core.config.configured_handlers import handler_of
from watchgate.core.dispatch.dispatch_loop import Dispatch
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.presets import CODEX_FORK_V1
from watchgate.core.model.events import Event, Text
from watchgate.core.model.verdicts import Allow, Failed, Report, TraceRow
from watchgate.link.paths import Paths
from watchgate.service.hub.components import build_components
from watchgate.service.runners.child_pool import ChildPool

FOREVER = "sleep 600"


@pytest.fixture
def pool() -> Iterator[ChildPool]:
    made = ChildPool(2)
    yield made
    made.close()


@pytest.fixture
def places(runtime_dir: Path, state_dir: Path) -> Paths:
    return Paths(
        runtime_dir=runtime_dir,
        state_dir=state_dir,
        config=state_dir / "config.toml",
        data_dir=state_dir,
    )


async def notify(
    places: Paths, pool: ChildPool, *argv: str, limit_s: float = 60, text: str = "words"
) -> tuple[Report, TraceRow]:
    """What the configured program did at the end of a turn, and its row; nothing is alive then."""
    env = marked()
    config = load(
        f"""
[dispatch]
preset = "codex-fork-v1"
[[handler]]
id = "notify"
on = ["turn.end"]
role = "observer"
protocol = "codex-notify"
command = {json.dumps(argv)}
env = {{ {MARK} = "{env[MARK]}" }}
""",
        "config.toml",
    )
    equipment = build_components(config, places, env, pool, prints=False)
    event = said(text, places.runtime_dir)
    report = await equipment.runners["notify"].run(event, limit_s)
    assert survivors(env) == []
    bus = Bus(CODEX_FORK_V1, [handler_of(each, CODEX_FORK_V1) for each in config.handler])
    dispatch = bus.start(event, START)
    assert isinstance(dispatch, Dispatch)
    dispatch.begin(START)
    dispatch.feed("notify", report, START)
    assert dispatch.outcome is not None
    assert (dispatch.outcome.decision, dispatch.outcome.decided_by) == ("allow", None)
    (row,) = dispatch.trace()
    return report, row


def said(text: str, folder: Path) -> Event:
    event = other("turn.end", cwd=str(folder), turn="12345")
    return msgspec.structs.replace(event, body=Text(text))


async def test_cx_30_its_event_is_its_last_argument_and_it_has_no_streams(
    places: Paths, pool: ChildPool, tmp_path: Path
) -> None:
    body = """printf '%s' "$2" >"$1"; cat; echo out; [ -p /dev/stdout ] || echo null >>"$1"; :"""
    report, row = await notify(places, pool, script(tmp_path, body), str(tmp_path / "told"))
    told, _, null = (tmp_path / "told").read_text().rpartition("}")
    assert json.loads(told + "}")["last-assistant-message"] == "words"
    assert null == "null\n"
    assert report.verdict == Allow()
    assert (report.run.stdout, report.run.stdin_bytes) == ("", 0)
    assert row.ignored


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("exit 2", "exited with 2"),
        ("kill -9 $$", "killed by SIGKILL"),
        (f"{FOREVER} & exit 0", ""),
    ],
)
async def test_cx_30_cx_b12_whatever_it_does_the_turn_goes_on_and_it_is_reaped(
    places: Paths, pool: ChildPool, tmp_path: Path, body: str, reason: str
) -> None:
    report, _ = await notify(places, pool, script(tmp_path, body))
    assert report.verdict == Allow(reason)


@pytest.mark.parametrize(
    ("body", "cause"), [(FOREVER, "timeout"), (None, "spawn")], ids=["too slow", "not there"]
)
async def test_cx_30_cx_b12_one_that_never_ends_or_starts_is_a_line_in_the_trace(
    places: Paths, pool: ChildPool, tmp_path: Path, body: str | None, cause: str
) -> None:
    program = script(tmp_path, body) if body else "./missing"
    report, row = await notify(places, pool, program, limit_s=0.3 if body else 60)
    assert isinstance(report.verdict, Failed)
    assert (report.verdict.cause, row.verdict, row.ignored) == (cause, "failed", True)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\0" * 100_000], ids=["long", "escaped"])
async def test_cx_b12_a_long_message_still_starts_it(
    places: Paths, pool: ChildPool, tmp_path: Path, text: str
) -> None:
    report, _ = await notify(places, pool, script(tmp_path, "exit 0"), text=text)
    assert report.verdict == Allow()
