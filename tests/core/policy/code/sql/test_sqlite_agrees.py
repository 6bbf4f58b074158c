"""A statement that is taken for a read does nothing else when SQLite runs it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from watchgate.core.policy.code.sql.sql_clients import acts_in

_ONLY_READS = frozenset(
    (
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
        sqlite3.SQLITE_PRAGMA,
    )
)
_GRAVE = ("drop table t", "delete from t", "update t set a = 1", "insert into t values (1)")

pieces = st.sampled_from(
    (
        *_GRAVE,
        *"select a from t where with x as ( ) ; , * 1 = or in values all".split(),
        *(
            "'",
            '"',
            "`",
            "[",
            "]",
            "''",
            '""',
            "--",
            "/*",
            "*/",
            "\n",
            "\\",
            "#",
            "$$",
            "$a$",
            "E'",
            "x'",
        ),
        *(
            "{#",
            "#}",
            "{{",
            "/*!",
            "/*+",
            "//",
            "@",
            ":",
            "?",
            "begin",
            "commit",
            "pragma table_info(t)",
        ),
        *(
            "replace(a, 1, 2)",
            "returning",
            "attach 'x' as y",
            "vacuum",
            "create table u (a)",
            "as",
            "t.",
        ),
    )
)


@given(st.lists(pieces, max_size=14), st.sampled_from((" ", "", "\n", "/**/", "\t")))
@example(["select 1 /*", "/*", "*/", ";", "drop table t", ";", "--", "*/"], " ")
@example(["select [", "'", "]", ";", "drop table t", ";", "select [", "'", "]"], " ")
@example(["select 1 {#", ";", "drop table t", ";", "#}"], " ")
@example(["select", "$$", ";", "drop table t", ";", "$$"], " ")
@example(["select 'a\\'", ";", "drop table t", "--'"], " ")
def test_a_read_only_reads(parts: list[str], between: str) -> None:
    text = between.join(parts)
    if {act.kind for act in acts_in(text, "sqlite")} <= {"read"}:
        assert set(_actions(text)) <= _ONLY_READS


def _actions(text: str) -> Iterator[int]:
    """The actions that SQLite takes for the statements of a text, going on behind a fault."""
    found: list[int] = []

    def note(action: int, *_: object) -> int:
        found.append(action)
        return sqlite3.SQLITE_OK

    for statement in _statements(text):
        connection = sqlite3.connect(":memory:")
        connection.execute("create table t (a)")
        connection.set_authorizer(note)
        try:
            connection.execute(statement)
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            pass
        finally:
            connection.close()
    yield from found


def _statements(text: str) -> Iterator[str]:
    own = ""
    for part in text.split(";"):
        own += part + ";"
        if sqlite3.complete_statement(own):
            yield own
            own = ""
    yield own
