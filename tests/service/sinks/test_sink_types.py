from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.service.sinks.parts import answering, record, running, seqs
from tests.service.wire_frames import served, until
from watchgate.core.dispatch.handler_config import SinkConfig
from watchgate.link.paths import SOCKET_PATH_MAX_BYTES
from watchgate.service.sinks.sink import Sink, Sinks
from watchgate.service.sinks.sink_types import SinkError, build_sink


def jsonl(path: Path, **fields: object) -> SinkConfig:
    return SinkConfig(type="jsonl", path=str(path), **fields)  # type: ignore[arg-type]


async def written(config: SinkConfig, path: Path) -> list[dict[str, object]]:
    """What a file holds after a denied call and a prompt."""
    each = build_sink(config, 0)
    async with running(each):
        each.offer(record(1, kind="tool.pre", gate="denied"))
        each.offer(record(2, kind="prompt.submit"))
    return [json.loads(line) for line in _read(path).splitlines()]


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def test_cw_b7_envelope_is_acted_on(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert [line["seq"] for line in await written(jsonl(path), path)] == [1, 2]
    path = tmp_path / "y.jsonl"
    found = await written(jsonl(path, envelope="codewhale"), path)
    assert [set(line) for line in found] == [{"at", "event"}] * 4


async def test_cw_b7_kinds_are_acted_on(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    found = await written(jsonl(path, kinds=("prompt.submit",)), path)
    assert [line["seq"] for line in found] == [2]


async def test_cw_b7_queue_is_acted_on(tmp_path: Path) -> None:
    each = build_sink(jsonl(tmp_path / "x.jsonl", queue=2), 0)
    for seq in range(5):
        each.offer(record(seq))
    assert each.counters.dropped == 3


async def test_cw_4_the_stdout_sink_prints_bare_events_and_the_others_wrap_them(
    capfd: pytest.CaptureFixture[str],
) -> None:
    each = build_sink(SinkConfig(type="stdout", envelope="codewhale"), 0)
    async with running(each):
        each.offer(record(1, kind="prompt.submit"))
    (line,) = capfd.readouterr().out.splitlines()
    assert json.loads(line)["type"] == "generic_event_frame"


async def test_a_unix_socket_sink_is_built_with_its_socket(runtime_dir: Path) -> None:
    got: list[bytes] = []

    async def handle(stream: object) -> None:
        async with stream:  # type: ignore[attr-defined]
            got.append(await stream.receive())  # type: ignore[attr-defined]

    path = runtime_dir / "b.sock"
    async with served(path, handle):
        each = build_sink(SinkConfig(type="unix-socket", path=str(path), envelope="codewhale"), 1)
        async with running(each):
            each.offer(record(1, kind="prompt.submit"))
            await until(lambda: got, "it arrives")
    assert set(json.loads(got[0])) == {"at", "event"}


async def test_cw_6_sinks_that_cannot_deliver_keep_nothing_from_one_that_can(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    async with answering() as server:
        gone = server.url
    configs = [
        jsonl(tmp_path / "file" / "x.jsonl"),
        SinkConfig(type="webhook", url=gone),
        SinkConfig(type="unix-socket", path=str(tmp_path / "x.sock")),
        jsonl(tmp_path / "good.jsonl"),
    ]
    sinks = Sinks([build_sink(config, index) for index, config in enumerate(configs)])
    async with running(sinks):
        sinks.offer(record(1))
        await until((tmp_path / "good.jsonl").exists, "the last sink has it")
    assert seqs(_read(tmp_path / "good.jsonl").encode()) == [1]
    told = sinks.reports(every=True)
    assert [re.split(r"[ :]", text)[1] for text in told] == ["1", "2"]


def test_a_sink_is_named_after_its_place_and_no_secret_of_its_url() -> None:
    each = build_sink(
        SinkConfig(type="webhook", url="https://example.org/hook/T0ken?key=s3cret"), 2
    )
    assert each.name == "[[sink]] 3 (webhook https://example.org)"


def test_a_tilde_is_this_users_home() -> None:
    assert isinstance(build_sink(SinkConfig(type="jsonl", path="~/x.jsonl"), 0), Sink)


def test_cw_13_a_sink_without_a_path_is_not_built() -> None:
    with pytest.raises(SinkError, match=re.escape("[[sink]] 1 (unix-socket): a unix-socket sink")):
        build_sink(SinkConfig(type="unix-socket"), 0)


def test_cw_b10_a_socket_path_that_no_system_takes_is_refused_readably() -> None:
    path = "/tmp/" + "é" * SOCKET_PATH_MAX_BYTES
    with pytest.raises(SinkError, match=f"has {5 + 2 * SOCKET_PATH_MAX_BYTES} bytes") as fault:
        build_sink(SinkConfig(type="unix-socket", path=path), 0)
    assert f"the platform takes {SOCKET_PATH_MAX_BYTES}: use a shorter one" in str(fault.value)
    just = "/tmp/".ljust(SOCKET_PATH_MAX_BYTES, "x")
    build_sink(SinkConfig(type="unix-socket", path=just), 0)


@pytest.mark.parametrize("alias", [False, True])
def test_a_sink_that_would_feed_the_core_with_its_own_records_is_refused(
    runtime_dir: Path, alias: bool
) -> None:
    own = runtime_dir / "ingest.sock"
    path = own
    if alias:
        (runtime_dir / "link").symlink_to(runtime_dir)
        path = runtime_dir / "link" / "ingest.sock"
    with pytest.raises(SinkError, match="this core's own"):
        build_sink(SinkConfig(type="unix-socket", path=str(path)), 0, (own,))
    build_sink(SinkConfig(type="unix-socket", path=str(path) + "2"), 0, (own,))
