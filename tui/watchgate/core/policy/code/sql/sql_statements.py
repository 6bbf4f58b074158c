"""One statement of SQL, by its tokens: what it does, and to what.

- The condition of a `DELETE` or `UPDATE`: whether it chooses rows, or holds for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from watchgate.core.policy.code.sql.sql_acts import Act, Statement
from watchgate.core.policy.code.sql.sql_functions import DATA_FILE, calls
from watchgate.core.policy.code.sql.sql_tokens import Dialect, SqlToken
from watchgate.core.policy.shell.commands import names

ConditionTokens = Sequence[SqlToken]

_NO_COLUMNS: Final = names(
    """TRUE FALSE NULL NOT IS AND LIKE ILIKE IN BETWEEN EXISTS ANY ALL SOME SELECT FROM WHERE AS
    CASE WHEN THEN ELSE END INTERVAL DATE TIMESTAMP CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP
    CURRENT_USER SESSION_USER USER LIMIT DISTINCT VALUES UNION"""
)
_COMPARED: Final = frozenset(("=", "==", ">=", "<=", "<=>"))


def chooses(tokens: ConditionTokens) -> bool:
    """Tells whether a statement that begins here has a `WHERE` of its own that chooses rows."""
    condition = list(_where(tokens))
    return bool(condition) and all(
        any(map(_chooses, _parts(either, "AND"))) for either in _parts(condition, "OR", "||")
    )


def _where(tokens: ConditionTokens) -> Iterator[SqlToken]:
    depth, inside = 0, False
    for token in tokens:
        depth += token.is_sign("(") - token.is_sign(")")
        if depth < 0:
            return
        if depth == 0 and token.is_word("WHERE"):
            inside = True
        elif depth == 0 and token.is_word("RETURNING", "ORDER", "LIMIT", "ON"):
            inside = False
        elif inside:
            yield token


def _parts(tokens: ConditionTokens, *between: str) -> Iterator[list[SqlToken]]:
    own: list[SqlToken] = []
    for token in tokens:
        if token.kind in ("word", "sign") and token.text in between:
            yield own
            own = []
        else:
            own.append(token)
    yield own


def _chooses(part: ConditionTokens) -> bool:
    """Tells whether one comparison may fail for some rows."""
    own = [token for token in part if token.text not in ("(", ")")]
    texts = [token.text for token in own]
    columns = [
        token
        for token, behind in zip(part, [*part[1:], None], strict=False)
        if (token.kind == "name" or (token.kind == "word" and token.text not in _NO_COLUMNS))
        and not (behind is not None and behind.is_sign("("))
    ]
    if not columns:
        return False
    if "NULL" in texts and "NOT" in texts:
        return False
    if len(texts) % 2 and texts[: len(texts) // 2] == texts[len(texts) // 2 + 1 :]:
        return texts[len(texts) // 2] not in _COMPARED
    if own[-1].kind == "string" and own[-1].text.strip("%") == "" and own[-1].text:
        return False
    above = any(text in (">", ">=", "<>", "!=") for text in texts)
    low = own[-1].kind == "number" and (own[-1].text.strip("0.") == "" or texts[-2:-1] == ["-"])
    return not (above and low)


Tokens = Sequence[SqlToken]

_UNREAD: Final = Act("unread")


def acts(tokens: Tokens, dialect: Dialect) -> Iterator[Act]:
    """All that a statement does."""
    while tokens and tokens[0].is_sign("("):
        tokens = tokens[1:]
    if not tokens or tokens[0].kind != "word":
        yield _UNREAD
        return
    verb = tokens[0].text
    if verb in _SIMPLE:
        yield _act(_SIMPLE[verb], tokens[1:])
    elif verb == "EXPLAIN":
        yield from _explained(tokens, dialect)
    elif verb == "COPY" and dialect == "duckdb":
        yield from (_of_data(act) for act in _copies(tokens))
    else:
        yield from _READ_BY.get(verb, _unread)(tokens)
    if verb not in ("EXPLAIN", *_SIMPLE):
        yield from _inner(tokens)
        yield from calls(tokens, dialect)


_SIMPLE: Final[Mapping[str, Statement]] = {
    **dict.fromkeys(("USE", "SHOW", "DESCRIBE", "DESC", "RESET"), "read"),
    **dict.fromkeys(
        names("ANALYZE ANALYSE REINDEX CLUSTER OPTIMIZE CHECKPOINT REFRESH COMMENT LOCK UNLOCK"),
        "change",
    ),
    **dict.fromkeys(names("LISTEN UNLISTEN NOTIFY DETACH"), "change"),
    **dict.fromkeys(names("GRANT REVOKE DENY REASSIGN"), "rights"),
    **dict.fromkeys(names("ATTACH EXPORT IMPORT BACKUP RESTORE UNLOAD BULK PUT GET"), "file"),
    **dict.fromkeys(
        names("DO EXECUTE EXEC CALL PREPARE INSTALL KILL SHUTDOWN RECONFIGURE SYSTEM"), "program"
    ),
}


def _unread(_tokens: Tokens) -> Iterator[Act]:
    yield _UNREAD


def _reads(_tokens: Tokens) -> Iterator[Act]:
    yield Act("read")


def _changes(tokens: Tokens) -> Iterator[Act]:
    verb = tokens[0].text
    if any(token.is_word("OVERWRITE") for token in tokens[:3]):
        yield _act("delete-all", tokens[2:])
    elif _is_of_system(tokens):
        yield _act("rights", tokens[1:])
    elif verb not in ("UPDATE", "DELETE"):
        yield Act("file" if any(t.is_word("FUNCTION") for t in tokens[:4]) else "change")


def _drops(tokens: Tokens) -> Iterator[Act]:
    yield _act("drop", tokens[1:])


def _truncates(tokens: Tokens) -> Iterator[Act]:
    yield _act("delete-all", tokens[1:])


def _transaction(tokens: Tokens) -> Iterator[Act]:
    plain = len(tokens) <= 6 and all(token.kind == "word" or token.text == "," for token in tokens)
    yield Act("read") if plain else _UNREAD


def _creates(tokens: Tokens) -> Iterator[Act]:
    words = [token.text for token in tokens[1:8] if token.kind == "word"]
    kind = next((word for word in words if word not in _MODIFIERS), "")
    behind = tokens[1:]
    if kind in ("USER", "ROLE", "LOGIN", "GROUP", "POLICY"):
        yield _act("rights", behind)
    elif kind not in _PLAIN_OBJECTS:
        yield _act("program", behind)
    elif "EXTERNAL" in words[:3]:
        yield _act("file", behind)
    elif "VIRTUAL" in words[:2] and not any(t.is_word("FTS5", "FTS4", "RTREE") for t in tokens):
        yield _UNREAD
    elif words[:2] == ["OR", "REPLACE"] and kind != "VIEW":
        yield _act("drop", behind)
    else:
        yield Act("change")


_OF_RIGHTS: Final = names("USER ROLE LOGIN GROUP DEFAULT POLICY AUTHORIZATION")
_RIGHTS: Final = names("OWNER SECURITY TRIGGER")
_MODIFIERS: Final = names(
    "OR REPLACE TEMP TEMPORARY UNIQUE MATERIALIZED UNLOGGED EXTERNAL GLOBAL LOCAL VIRTUAL RECURSIVE"
    " TRANSIENT CLUSTERED NONCLUSTERED FULLTEXT"
)
_PLAIN_OBJECTS: Final = names("TABLE VIEW INDEX SCHEMA DATABASE SEQUENCE TYPE DOMAIN DATASET")


def _alters(tokens: Tokens) -> Iterator[Act]:
    words = [token.text for token in tokens if token.kind == "word"]
    kind, behind = (words[1] if len(words) > 1 else ""), tokens[1:]
    follows = list(zip(words, [*words[1:], ""], strict=True))
    if kind in _OF_RIGHTS or not _RIGHTS.isdisjoint(words):
        yield _act("rights", behind)
    elif kind not in _PLAIN_OBJECTS:
        yield _act("program", behind)
    elif any(a == "DROP" and b not in ("NOT", "DEFAULT", "IDENTITY") for a, b in follows):
        yield _act("drop", _dropped(tokens))
    elif not {"TRUNCATE", "DISCARD", "EXCHANGE", "IMPORT"}.isdisjoint(words):
        yield _act("delete-all", behind)
    else:
        yield Act("change")


def _copies(tokens: Tokens) -> Iterator[Act]:
    depth, turn = 0, None
    for index, token in enumerate(tokens):
        depth += token.is_sign("(") - token.is_sign(")")
        if depth == 0 and token.is_word("TO", "FROM"):
            turn = index
            break
    behind = tokens[turn + 1] if turn is not None and turn + 1 < len(tokens) else None
    if turn is None or behind is None:
        yield _UNREAD
    elif behind.is_word("STDOUT", "STDIN"):
        yield Act("read" if behind.text == "STDOUT" else "change")
    elif behind.is_word("PROGRAM"):
        yield Act("program")
    else:
        yield Act("file", "file", behind.text if behind.kind == "string" else "")


def _of_data(act: Act) -> Act:
    """Returns the act, which is a plain change where it concerns a data file of the folder."""
    return Act("change") if act.kind == "file" and DATA_FILE.fullmatch(act.name) else act


def _loads(tokens: Tokens) -> Iterator[Act]:
    yield Act("file" if tokens[1:2] and tokens[1].is_word("DATA", "XML") else "program")


def _sets(tokens: Tokens) -> Iterator[Act]:
    words = [token.text for token in tokens[1:4] if token.kind == "word"]
    name = next((word for word in words if word not in ("SESSION", "LOCAL")), "")
    if any(word in ("GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD", "ROLE") for word in words):
        yield Act("rights")
    elif name in _HARMLESS_SETTINGS:
        yield Act("read")
    elif name == "SEARCH_PATH":
        yield Act("change")
    else:
        yield _UNREAD


_HARMLESS_SETTINGS: Final = names(
    """STATEMENT_TIMEOUT LOCK_TIMEOUT TIMEZONE TIME CLIENT_ENCODING CLIENT_MIN_MESSAGES WORK_MEM
    NAMES CHARACTER TRANSACTION ENABLE_SEQSCAN ENABLE_INDEXSCAN ENABLE_NESTLOOP ENABLE_HASHJOIN JIT
    NOCOUNT ROWCOUNT DATESTYLE TRANSACTION_READ_ONLY DEFAULT_TRANSACTION_READ_ONLY MEMORY_LIMIT
    THREADS SQL_SAFE_UPDATES MAX_EXECUTION_TIME APPLICATION_NAME"""
)


def _pragma(tokens: Tokens) -> Iterator[Act]:
    behind = [token for token in tokens[1:] if token.kind != "sign" or token.text != "."]
    name = behind[0].text.upper() if behind else ""
    assigns = any(token.is_sign("=") for token in tokens)
    if name in _READING_PRAGMAS or (name in _SETTING_PRAGMAS and len(tokens) == 2):
        yield _UNREAD if assigns and name in _READING_PRAGMAS else Act("read")
    else:
        yield Act("change") if name in _SETTING_PRAGMAS else _UNREAD


_READING_PRAGMAS: Final = names(
    """TABLE_INFO TABLE_XINFO TABLE_LIST INDEX_LIST INDEX_INFO INDEX_XINFO FOREIGN_KEY_LIST
    DATABASE_LIST INTEGRITY_CHECK QUICK_CHECK FOREIGN_KEY_CHECK COMPILE_OPTIONS PAGE_COUNT
    FREELIST_COUNT FUNCTION_LIST COLLATION_LIST SHOW_TABLES STORAGE_INFO DATABASE_SIZE VERSION"""
)
_SETTING_PRAGMAS: Final = names(
    """USER_VERSION SCHEMA_VERSION APPLICATION_ID JOURNAL_MODE SYNCHRONOUS FOREIGN_KEYS CACHE_SIZE
    BUSY_TIMEOUT AUTO_VACUUM WAL_CHECKPOINT OPTIMIZE PAGE_SIZE ENCODING QUERY_ONLY"""
)


def _vacuums(tokens: Tokens) -> Iterator[Act]:
    yield Act("file" if any(token.is_word("INTO") for token in tokens) else "change")


def _renames(tokens: Tokens) -> Iterator[Act]:
    yield _act("change", tokens[1:])


_READ_BY: Final[Mapping[str, Callable[[Tokens], Iterator[Act]]]] = {
    **dict.fromkeys(("SELECT", "WITH", "VALUES", "TABLE", "FROM", "SUMMARIZE"), _reads),
    **dict.fromkeys(("INSERT", "REPLACE", "MERGE", "UPDATE", "DELETE"), _changes),
    **dict.fromkeys(names("BEGIN START COMMIT END ROLLBACK SAVEPOINT RELEASE ABORT"), _transaction),
    "DROP": _drops,
    "TRUNCATE": _truncates,
    "CREATE": _creates,
    "ALTER": _alters,
    "COPY": _copies,
    "LOAD": _loads,
    "PIVOT": _reads,
    "UNPIVOT": _reads,
    "SET": _sets,
    "PRAGMA": _pragma,
    "VACUUM": _vacuums,
    "RENAME": _renames,
}

_SYSTEM: Final = names("PG_AUTHID PG_SHADOW PG_CATALOG PG_PROC SQLITE_MASTER SQLITE_SCHEMA MYSQL")


def _is_of_system(tokens: Tokens) -> bool:
    """Tells whether what is written are a database's own tables."""
    return any(
        token.kind in ("word", "name") and token.text.upper() in _SYSTEM for token in tokens[1:6]
    )


def _explained(tokens: Tokens, dialect: Dialect) -> Iterator[Act]:
    """A statement whose plan is shown; it is run where the plan is compared with that."""
    for index, token in enumerate(tokens[1:], 1):
        if token.kind == "word" and (token.text in _READ_BY or token.text == "EXECUTE"):
            if any(t.is_word("ANALYZE", "ANALYSE", "PROFILE") for t in tokens[1:index]):
                yield from acts(tokens[index:], dialect)
                return
            break
    yield Act("read")


def _inner(tokens: Tokens) -> Iterator[Act]:
    """The changes that stand within a statement, such as a `WITH x AS (DELETE ...)`."""
    first = tokens[0].text
    if sum(token.is_word("DELETE", "UPDATE") for token in tokens) > _MAX_CHANGES:
        yield _UNREAD
        return
    for index, token in enumerate(tokens):
        if token.kind != "word" or token.text not in _INNER:
            continue
        before = tokens[index - 1] if index else None
        behind = tokens[index + 1] if index + 1 < len(tokens) else None
        called = behind is not None and behind.is_sign("(")
        if before is not None and (before.is_sign(".") or before.is_word("AS")):
            continue
        word = token.text
        if word == "INTO":
            yield from _into(tokens, index, behind)
        elif word in ("DELETE", "UPDATE"):
            yield from _rows(tokens, index, before)
        elif word in ("INSERT", "MERGE") and index and not called:
            yield Act("change")
        elif word in _NEVER_INNER and index and not called and first not in ("ALTER", "CREATE"):
            yield _UNREAD


# More than anybody writes into one statement.
_MAX_CHANGES: Final = 20
_NEVER_INNER: Final = names("DROP TRUNCATE ALTER CREATE GRANT REVOKE EXEC EXECUTE CALL ATTACH")
_INNER: Final = _NEVER_INNER | names("INTO DELETE UPDATE INSERT MERGE")


def _into(tokens: Tokens, index: int, behind: SqlToken | None) -> Iterator[Act]:
    if behind is None or behind.is_word("OUTFILE", "DUMPFILE"):
        yield Act("file")
    elif not any(token.is_word("INSERT", "REPLACE", "MERGE", "LOAD") for token in tokens[:index]):
        yield Act("change")


def _rows(tokens: Tokens, index: int, before: SqlToken | None) -> Iterator[Act]:
    """A `DELETE` or `UPDATE`, by whether it says of which rows."""
    if before is not None and before.is_word("FOR", "ON", "DO", "KEY"):
        return
    word = tokens[index].text
    if before is not None and before.is_word("THEN"):
        yield Act("delete-all" if word == "DELETE" else "change")
        return
    yield _act("change" if chooses(tokens[index:]) else "delete-all", tokens[index + 1 :])


_BEFORE_NAMES: Final = names(
    "IF NOT EXISTS FROM ONLY INTO TEMP TEMPORARY CONCURRENTLY IGNORE LOW_PRIORITY QUICK OR REPLACE"
)
_OBJECTS: Final = names(
    """TABLE DATABASE SCHEMA VIEW MATERIALIZED INDEX USER ROLE COLUMN SEQUENCE TRIGGER FUNCTION
    PROCEDURE TYPE EXTENSION DOMAIN TABLESPACE POLICY LOGIN"""
)


def _dropped(tokens: Tokens) -> Tokens:
    """The tokens behind the `DROP` of an `ALTER`, or those of the table where it names none."""
    place = next(index for index, token in enumerate(tokens) if token.is_word("DROP"))
    behind = tokens[place + 1 :]
    return behind if behind[:1] and behind[0].is_word(*_OBJECTS) else tokens[1:]


def _act(kind: Statement, tokens: Tokens) -> Act:
    """An act with the object that comes first in these tokens."""
    noun, name = "", ""
    for token in tokens[:12]:
        if token.is_word(*_BEFORE_NAMES) and not name:
            continue
        if token.is_word(*_OBJECTS) and not name:
            noun = f"{noun} {token.text.lower()}".strip()
        elif token.kind in ("word", "name") and (not name or name.endswith(".")):
            name += token.text.lower() if token.kind == "word" else token.text
        elif token.is_sign(".") and name:
            name += "."
        else:
            break
    return Act(kind, noun or "table", name) if name else Act(kind)
