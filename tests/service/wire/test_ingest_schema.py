"""What `watchgate schema ingest` tells is what the core reads and answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.service.host.test_core_host import Place
from tests.service.wire_frames import rest
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing
from watchgate.service.wire import framing
from watchgate.service.wire.framing import parse_head
from watchgate.service.wire.ingest_lines import line_answer
from watchgate.service.wire.ingest_schema import LineReply, ingest_schema

FRAME: dict[str, Any] = ingest_schema()["hookFrame"]


def test_its_example_is_a_frame() -> None:
    head, payload = FRAME["example"].encode().split(b"\n\n", 1)

    read = parse_head(head)

    assert (read.agent, read.lane, read.length) == ("claude", Lane.GATE, len(payload))
    assert msgspec.json.decode(payload)["tool_name"] == "Bash"


def test_its_example_of_an_answer_has_as_many_bytes_as_it_says() -> None:
    line, body = FRAME["answer"]["example"].encode().split(b"\n", 1)

    code, stdout, stderr = map(int, line.split(b" "))

    assert (code, len(body)) == (2, stdout + stderr)
    assert body[stdout:] == b"Not now.\n"


def test_every_header_line_that_is_read_is_told_of() -> None:
    source = Path(framing.__file__).read_text()
    read = set(re.findall(r'fields(?:\.get\(|\[)"(\w+)"', source)) | {"env.NAME"}

    assert {header["name"] for header in FRAME["headers"]} == read
    assert [header["name"] for header in FRAME["headers"] if header["required"]] == ["length"]
    assert set(FRAME["lanes"]) == {str(lane) for lane in Lane}


@pytest.mark.parametrize(
    "reply",
    [SayAllow(), SayAllow({"a": 1}, "mind"), SayDeny("no"), SayNothing(), SayNothing("mind")],
)
def test_every_reply_to_a_line_is_one_that_is_told_of(reply: Reply) -> None:
    told = line_answer(7, reply).stdout

    assert msgspec.json.decode(told, type=LineReply, strict=True).id == 7
    assert set(msgspec.json.decode(told)) <= set(LineReply.__struct_fields__)


async def test_a_client_written_from_it_is_answered(runtime_dir: Path, state_dir: Path) -> None:
    place = Place(runtime_dir, state_dir)
    async with (
        place.running(),
        await anyio.connect_unix(place.paths.ingest_socket) as stream,
    ):
        await stream.send(FRAME["example"].replace("make deploy", "make  check").encode())
        assert await rest(stream) == b"0 0 0\n"
