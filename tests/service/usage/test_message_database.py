"""An OpenCode database is followed while OpenCode writes it, and left as it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.service.usage.tiny import a_ledger, told
from watchgate.agents.usage import FileFacts, UsagePlace
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.usage_calls import UsageCall
from watchgate.service.usage import message_database as module
from watchgate.service.usage.file_index import Unreadable
from watchgate.service.usage.usage_files import UsageFiles

TABLE = "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created, data TEXT)"
UPSERT = (
    "INSERT INTO message VALUES (?, ?, 0, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data"
)


class RowReader:
    """Takes rows; `rows` are all that came."""

    rows: list[dict[str, Any]]
    newest: RowReader

    def __init__(self, _path: str) -> None:
        type(self).newest = self
        self.rows = []
        self.facts = FileFacts()
        self.unreadable = 0
        self.gone: list[tuple[str, str, bool]] = []
        self._known: dict[str, UsageCall] = {}
        self._new: dict[str, UsageCall] = {}

    def read(self, chunk: bytes) -> None:
        assert chunk.endswith(b"\n")
        for line in chunk.split(b"\n")[:-1]:
            try:
                row = json.loads(line)
                self._take(row["id"], row["session_id"], row["data"])
            except (ValueError, AttributeError):
                self.unreadable += 1
                continue
            self.rows.append(row)

    def _take(self, message: str, session: str, data: dict[str, Any]) -> None:
        if (out := data.get("out")) is None:
            return
        name = f"{message}:{out}"  # a call is named by what it used
        call = UsageCall(id=name, request=name, at_us=1, session=session, output=out)
        if before := self._known.get(message):
            self.gone.append((before.id, before.request, False))
        self._known[message] = self._new[message] = call

    def take(self) -> list[UsageCall]:
        calls = list(self._new.values())
        self._new.clear()
        return calls

    def facts_of(self, session: str) -> FileFacts | None:
        found = any(call.session == session for call in self._known.values())
        return FileFacts(session=session, cwd=f"/src/{session}") if found else None


class Code:
    """OpenCode as far as its database goes."""

    def __init__(self, path: Path, journal: str = "wal") -> None:
        self.path = path
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute(f"PRAGMA journal_mode = {journal}")
        self._database.execute(TABLE)

    def say(self, message: str, out: int | None, *, done: bool = True, session: str = "s") -> None:
        data: dict[str, Any] = {"role": "assistant", "time": {"created": 1}}
        if out is not None:
            data["out"] = out
        if done:
            data["time"]["completed"] = 2
        self.run(UPSERT, message, session, json.dumps(data, indent=1))

    def run(self, statement: str, *values: object) -> None:
        self._database.execute(statement, values)

    def close(self) -> None:
        self._database.close()


class Follower:
    def __init__(self, folder: Path) -> None:
        self.ledger: Ledger = a_ledger()
        place = UsagePlace(agent="code", root=str(folder), pattern="code*.db", form="rows")
        self.book = UsageFiles([place], self.ledger, readers={"code": RowReader})

    def tick(self) -> dict[str, int]:
        self.book.look()
        self.book.refresh()
        return {name.partition(":")[0]: out for name, out in told(self.ledger).items()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    return folder


@pytest.fixture(params=["wal", "delete"])
def code(home: Path, request: pytest.FixtureRequest) -> Iterator[Code]:
    with closing(Code(home / "code.db", request.param)) as made:
        yield made


@pytest.fixture
def follower(home: Path) -> Follower:
    return Follower(home)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_messages_are_told_as_they_are_written(code: Code, follower: Follower) -> None:
    assert follower.tick() == {}
    code.say("one", None, done=False)
    assert follower.tick() == {}
    code.say("one", 11, done=False)
    assert follower.tick() == {"one": 11}
    code.say("two", 2)
    code.say("one", 111)
    assert follower.tick() == {"one": 111, "two": 2}
    assert follower.book.unreadable == Unreadable()


def test_only_new_messages_and_those_still_written_are_read(code: Code, follower: Follower) -> None:
    code.say("one", 1)
    code.say("two", 2, done=False)
    follower.tick()
    code.say("three", 3)
    follower.tick()
    follower.tick()
    assert [row["id"] for row in RowReader.newest.rows] == ["one", "two", "three"]
    code.say("two", 22)
    follower.tick()
    assert [row["id"] for row in RowReader.newest.rows][3:] == ["two"]


def test_facts_are_those_of_each_session(code: Code, follower: Follower) -> None:
    code.say("one", 1, session="a")
    code.say("two", 2, session="b")
    follower.tick()
    assert follower.book.of(("code", "a")).cwd == "/src/a"
    assert follower.book.of(("code", "b")).cwd == "/src/b"
    assert follower.book.of(("code", "c")).cwd == ""


def test_the_parent_of_a_session_is_told_where_the_database_has_it(
    code: Code, follower: Follower
) -> None:
    code.run("CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT)")
    code.run("INSERT INTO session VALUES ('s', NULL), ('b', 's'), ('c', 'b'), ('own', 'own')")
    for session in ("s", "b", "c", "own"):
        code.say(session, 1, session=session)
    follower.tick()
    assert [row["parent_id"] for row in RowReader.newest.rows] == ["", "s", "s", "own"]


def test_nothing_is_left_beside_a_database(home: Path, follower: Follower) -> None:
    code = Code(home / "code.db")
    code.say("one", 1)
    code.close()
    assert names(home) == {"code.db"}
    before = code.path.stat()
    assert follower.tick() == {"one": 1}
    assert names(home) == {"code.db"}
    after = code.path.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)
    with closing(sqlite3.connect(home / "code.db")) as writer:
        writer.execute("DELETE FROM message")
        assert follower.tick() == {"one": 1}  # it is not committed yet
        writer.commit()
        assert names(home) == {"code.db", "code.db-wal", "code.db-shm"}
        assert follower.tick() == {"one": 1}  # what was used was used
    assert names(home) == {"code.db"}  # its writer could tidy up


def test_a_log_that_was_left_behind_is_read_and_left(home: Path, follower: Follower) -> None:
    with closing(Code(home / "origin.db")) as code:
        code.say("one", 1)
        for name in ("origin.db", "origin.db-wal", "origin.db-shm"):
            copy = home / name.replace("origin", "code")
            copy.write_bytes((home / name).read_bytes())
    before = {name: (home / name).read_bytes() for name in names(home)}
    assert follower.tick() == {"one": 1}
    assert {name: (home / name).read_bytes() for name in names(home)} == before


def test_a_log_without_its_index_is_read_and_none_is_made(home: Path, follower: Follower) -> None:
    with closing(Code(home / "code.db")) as code:
        code.say("one", 1)
        (home / "code.db-shm").unlink()
        assert follower.tick() == {"one": 1}
        assert names(home) == {"code.db", "code.db-wal"}


def test_a_locked_database_is_tried_again(home: Path, follower: Follower) -> None:
    with closing(Code(home / "code.db", "delete")) as code:
        code.say("one", 1)
        code.run("BEGIN EXCLUSIVE")
        assert follower.tick() == {}
        assert follower.book.unreadable == Unreadable(files=1)
        code.run("COMMIT")
        assert follower.tick() == {"one": 1}
        assert follower.book.unreadable == Unreadable()


@pytest.mark.parametrize(
    "content", [b"no database", b"SQLite format 3\0" + b"\xff" * 4096, b"SQLite format 3\0"]
)
def test_what_is_no_database(home: Path, follower: Follower, content: bytes) -> None:
    (home / "code.db").write_bytes(content)
    assert follower.tick() == {}
    assert follower.book.unreadable == Unreadable(files=1)
    assert names(home) == {"code.db"}


def test_an_empty_database(home: Path, follower: Follower) -> None:
    (home / "code.db").touch()
    assert follower.tick() == {}
    assert follower.book.unreadable == Unreadable()


def test_a_database_of_another_form_is_tried_again(home: Path, follower: Follower) -> None:
    path = home / "code.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("CREATE TABLE message (id TEXT)")
        writer.commit()
        assert follower.tick() == {}
        assert follower.book.unreadable == Unreadable(files=1)
        writer.execute("DROP TABLE message")
        writer.execute(TABLE)
        writer.execute(UPSERT, ("one", "s", '{"out": 1}'))
        writer.commit()
        assert follower.tick() == {"one": 1}
        assert follower.book.unreadable == Unreadable()


def test_rows_that_are_none(code: Code, follower: Follower) -> None:
    for name, data in (("a", None), ("b", 7), ("c", "{"), ("d", b"\xff\0"), ("e", '{"x":\n1}')):
        code.run(UPSERT, name, "s", data)
    code.say("one", 1)
    assert follower.tick() == {"one": 1}
    assert follower.book.unreadable == Unreadable(lines=4)


def test_rows_may_be_numbered_anew(code: Code, follower: Follower) -> None:
    for number in range(5):
        code.say(f"m{number}", number + 1)
    follower.tick()
    code.run("DELETE FROM message WHERE id IN ('m0', 'm1')")
    code.run("VACUUM")
    code.say("new", 9)
    expected = {"m0": 1, "m1": 2, "m2": 3, "m3": 4, "m4": 5, "new": 9}
    assert follower.tick() == expected
    code.run("DELETE FROM message WHERE id = 'new'")
    code.say("newer", 10)  # it takes the number of the one that is gone
    assert follower.tick() == {**expected, "newer": 10}


def test_another_database_in_its_place_is_read_anew(home: Path, follower: Follower) -> None:
    with closing(Code(home / "code.db", "delete")) as code:
        code.say("one", 1)
    assert follower.tick() == {"one": 1}
    with closing(Code(home / "other.db", "delete")) as code:
        code.say("two", 2)
    (home / "other.db").rename(home / "code.db")
    assert follower.tick() == {"two": 2}


def test_a_database_that_is_gone_stays_counted(home: Path, follower: Follower) -> None:
    with closing(Code(home / "code.db", "delete")) as code:
        code.say("one", 1)
    follower.tick()
    (home / "code.db").unlink()
    assert follower.tick() == {"one": 1}
    assert follower.book.unreadable == Unreadable()


def test_many_rows_are_read_in_parts(
    code: Code, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROWS", 3)
    for number in range(10):
        code.say(f"m{number}", 1)
    follower.book.look()
    assert follower.book.refresh(1) > 0
    assert len(told(follower.ledger)) == 3
    assert len(follower.tick()) == 10
    assert follower.book.refresh() == 0


def test_messages_that_never_end_are_let_go(
    code: Code, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_OPEN", 2)
    for number in range(4):
        code.say(f"m{number}", 1, done=False)
    follower.tick()
    for number in range(4):
        code.say(f"m{number}", 2)
    assert follower.tick() == {"m0": 1, "m1": 1, "m2": 2, "m3": 2}


ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"


@pytest.mark.parametrize(
    "program",
    [
        f"CREATE VIEW message AS {ENDLESS} SELECT n id, n session_id, NULL data FROM c WHERE n < 0",
        "CREATE TABLE message (id, session_id, data AS (zeroblob(60000000)) VIRTUAL)",
        f"{TABLE}; CREATE VIEW Session AS {ENDLESS} SELECT n id, n parent_id FROM c",
    ],
)
def test_a_database_that_is_a_program_is_not_run(
    home: Path, follower: Follower, program: str
) -> None:
    with closing(sqlite3.connect(home / "code.db")) as database:
        database.executescript(program)
    assert follower.tick() == {}
    assert follower.book.unreadable == Unreadable(files=1)


def test_large_messages_are_read_a_few_at_a_time(
    code: Code, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINE_BYTES", 150)
    for number in range(5):
        code.say(f"m{number}", number)
    assert follower.tick() == {f"m{number}": number for number in range(5)}
