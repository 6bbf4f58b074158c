"""A call of 4 MB stands in the journal once, whatever becomes of it, and is read back whole."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio.abc import SocketStream

from tests.service.host.test_core_host import Place
from tests.service.wire_frames import rest, until
from watchgate.core.base.patterns import allowance
from watchgate.core.model.records import Record
from watchgate.link.control_client import ControlClient, connect
from watchgate.link.protocol import Result
from watchgate.service.control.query_verbs import LISTED_CHARS
from watchgate.service.history import recorded_sessions
from watchgate.service.history.session_purge import purge_alone
from watchgate.service.journal import journal_reader
from watchgate.service.journal.verification import read_export, verify_export, verify_journal

WORD_BYTES = 20
MARKER = re.compile(rb"part-\d{7}")
OVERHEAD = 1.3


def text(size_bytes: int) -> str:
    return "".join(f"part-{number:07d} words  " for number in range(size_bytes // WORD_BYTES))


TEXT = text(4_000_000)
COMMANDS = {
    "shell": {"command": f"git push --force <<'END'\n{TEXT}\nEND"},
    "argument": {"command": f"git push --force -o '{TEXT}'"},
    "write": {"file_path": "/etc/profile", "content": TEXT},
}


def call(given: dict[str, Any], event: str = "PreToolUse", **more: Any) -> bytes:
    """What Claude Code writes to a hook's standard input."""
    fields: dict[str, Any] = {
        "session_id": "one",
        "hook_event_name": event,
        "cwd": "/home/u/app",
        "permission_mode": "default",
        "tool_name": "Bash" if "command" in given else "Write",
        "tool_input": given,
        "tool_use_id": "c1",
    }
    return msgspec.json.encode({**fields, **more})


@pytest.fixture(autouse=True)
def unhurried() -> None:
    """Looking for secrets has no end here: a program of the tests' may have given it one."""
    allowance.measure_by(None)


@pytest.fixture
def place(runtime_dir: Path, state_dir: Path) -> Place:
    return Place(runtime_dir, state_dir)


@asynccontextmanager
async def sent(place: Place, raw: bytes, lane: str = "gate") -> AsyncIterator[SocketStream]:
    event = msgspec.json.decode(raw)["hook_event_name"]
    head = f"watchgate/1 claude {lane}\nlength: {len(raw)}\nevent: {event}\n\n"
    async with await anyio.connect_unix(place.paths.ingest_socket) as stream:
        await stream.send(head.encode() + raw)
        yield stream


async def listed(client: ControlClient, count: int = 1) -> list[dict[str, Any]]:
    with anyio.fail_after(120):
        while True:
            answer = await client.call("list")
            assert isinstance(answer, Result)
            if len(found := answer.ok["requests"]) == count:
                return list(found)
            await anyio.sleep(0.05)


async def decided(place: Place, client: ControlClient, given: dict[str, Any], **more: Any) -> None:
    """The call is held and allowed, and runs; `more` is said with the decision."""
    async with sent(place, call(given)) as hook:
        (request,) = await listed(client)
        said = {"digest": request["digest"], "confirmed": True, "shown_ms": 900, **more}
        answer = await client.call("decide", request=request["id"], decision="allow", **said)
        assert isinstance(answer, Result), answer
        assert b'"allow"' in await rest(hook)
    async with sent(place, call(given, "PostToolUse", tool_response={"stdout": ""}), "observe"):
        pass
    end = (place.paths.journal, "tool.post", 1_000, 1)
    await until(lambda: list(journal_reader.of_kind(*end)), "the end of the call")


def copies(folder: Path, size_bytes: int) -> float:
    """How often the text stands in the files of a folder."""
    files = [file for file in folder.iterdir() if file.is_file()]
    found = sum(len(MARKER.findall(file.read_bytes())) for file in files)
    return found / (size_bytes // WORD_BYTES)


def of_kind(place: Place, kind: str) -> Record:
    (found,) = journal_reader.of_kind(place.paths.journal, kind, 1_000, 2)
    return found


def stored(place: Place, kind: str) -> Record:
    """The record as it stands in the journal."""
    with journal_reader.opened_journal(place.paths.journal, as_stored=True) as held:
        (found,) = (each for each in journal_reader.read(held, 1, 1_000) if each.kind == kind)
        return found


@pytest.mark.parametrize("given", COMMANDS.values(), ids=COMMANDS.keys())
async def test_its_bytes_stand_once_on_the_disk(place: Place, given: dict[str, Any]) -> None:
    async with place.running(), connect(place.paths.control_socket) as client:
        await decided(place, client, given)
    journal = place.paths.journal
    assert 0.99 <= copies(journal.parent, 4_000_000) <= 1.1
    assert journal.stat().st_size <= 4_000_000 * OVERHEAD
    assert verify_journal(journal).problem is None
    begun = of_kind(place, "tool.pre").seq
    for kind in ("approval.requested", "tool.post"):
        tool = stored(place, kind).data["tool"]
        assert (tool["input"], tool["input_in"]) == ({}, begun)
        assert tool["input_bytes"] == len(msgspec.json.encode(given))
        assert of_kind(place, kind).data["tool"]["input"] == given


async def test_so_do_those_of_one_that_an_operator_edits(place: Place) -> None:
    edited = {"command": f"git push --force <<'END'\n{TEXT[::-1]}\nEND"}
    async with (
        place.running(),
        connect(place.paths.control_socket) as client,
        sent(place, call(COMMANDS["shell"])) as hook,
    ):
        (request,) = await listed(client)
        seen = await client.call("preview", request=request["id"], input=edited)
        assert isinstance(seen, Result), seen
        said = {"digest": seen.ok["digest"], "confirmed": True, "shown_ms": 900}
        done = await client.call(
            "decide", request=request["id"], decision="allow", input=edited, **said
        )
        assert isinstance(done, Result), done
        assert b'"allow"' in await rest(hook)
    assert 0.99 <= copies(place.paths.journal.parent, 4_000_000) <= 1.1
    asked = [each.data for each in place.records() if each.kind == "approval.requested"]
    assert [each["tool"]["input"] for each in asked] == [COMMANDS["shell"], edited]
    assert asked[1]["before"] == COMMANDS["shell"]


async def test_a_crowd_of_held_calls_takes_what_they_are_and_no_more(place: Place) -> None:
    size_bytes, count = 400_000, 20
    given = {"command": f"git push --force <<'END'\n{text(size_bytes)}\nEND"}
    async with place.running(), connect(place.paths.control_socket) as client:
        async with anyio.create_task_group() as hooks:
            for number in range(count):
                hooks.start_soon(_held, place, call(given, session_id=f"session-{number}"))
            found = await listed(client, count)
            hooks.cancel_scope.cancel()
        assert len(msgspec.json.encode(found)) < count * 2 * LISTED_CHARS
    assert place.paths.journal.stat().st_size <= count * size_bytes * OVERHEAD


async def _held(place: Place, raw: bytes) -> None:
    async with sent(place, raw) as hook:
        await rest(hook)


async def test_a_console_and_show_have_it_to_its_end(place: Place) -> None:
    given = COMMANDS["shell"]
    async with (
        place.running(),
        connect(place.paths.control_socket) as client,
        sent(place, call(given)),
    ):
        (request,) = await listed(client)
        assert request["summary"].startswith(given["command"][:LISTED_CHARS])
        assert request["summary"].endswith(f"more characters: watchgate show {request['id'][:8]}")
        answer = await client.call("show", request=request["id"])
        assert isinstance(answer, Result)
        assert answer.ok["request"]["summary"] == given["command"]
        assert answer.ok["request"]["tool"]["input"] == given
        attached = await client.call("attach", observer=True)
        assert isinstance(attached, Result)
        (pending,) = attached.ok["snapshot"]["pending"]
        assert pending["data"]["tool"]["input"] == given
        assert pending["data"]["summary"] == given["command"]


async def test_of_its_line_the_beginning_stays_and_names_the_record(place: Place) -> None:
    given = COMMANDS["shell"]
    async with place.running(), connect(place.paths.control_socket) as client:
        await decided(place, client, given)
    begun = of_kind(place, "tool.pre").seq
    line = of_kind(place, "approval.requested").data["summary"]
    left_out = len(given["command"]) - 8_192
    assert line == f"{given['command'][:8_192]}… {left_out} more characters, see record {begun}"


async def test_an_export_proves_itself_and_is_read_back_whole(place: Place, tmp_path: Path) -> None:
    async with place.running(), connect(place.paths.control_socket) as client:
        await decided(place, client, COMMANDS["write"])
    path = tmp_path / "export.jsonl"
    with journal_reader.opened_journal(place.paths.journal, as_stored=True) as held:
        lines = [msgspec.json.encode(each) for each in journal_reader.read(held, 1, 1_000)]
    path.write_bytes(b"\n".join(lines))
    assert verify_export(path).problem is None
    again = {each.kind: each for each in read_export(path)}
    assert again["approval.requested"].data["tool"]["input"] == COMMANDS["write"]
    own = recorded_sessions.records_of(place.paths.journal, "claude", "one")
    (ended,) = (each for each in own if each.kind == "tool.post")
    assert ended.data == again["tool.post"].data


async def test_a_purge_takes_it_with_every_reference_to_it(place: Place) -> None:
    async with place.running(), connect(place.paths.control_socket) as client:
        await decided(place, client, COMMANDS["write"])
    purge_alone(place.paths, "claude", "one", by="kim", at=1, content="commands")
    assert copies(place.paths.journal.parent, 4_000_000) == 0
    assert of_kind(place, "approval.requested").data == {}
    assert verify_journal(place.paths.journal).problem is None


async def test_a_record_whose_holder_left_the_journal_says_how_large_it_was(place: Place) -> None:
    async with place.running(), connect(place.paths.control_socket) as client:
        await decided(place, client, COMMANDS["write"])
    begun = of_kind(place, "tool.pre").seq
    with closing(sqlite3.connect(place.paths.journal)) as connection:
        connection.execute("UPDATE record SET data = NULL WHERE seq = ?", (begun,))
        connection.commit()
    tool = of_kind(place, "approval.requested").data["tool"]
    assert (tool["input"], tool["input_in"]) == ({}, begun)
