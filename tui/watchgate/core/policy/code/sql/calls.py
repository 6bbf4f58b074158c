"""The functions that a statement calls: only those that are known to read leave it a read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from watchgate.core.policy.code.sql.acts import Act, Statement
from watchgate.core.policy.code.sql.functions import ACTING, DATA_FILE, FILE_READERS, READERS
from watchgate.core.policy.code.sql.tokens import Dialect, Token
from watchgate.core.policy.shell.words import names

Tokens = Sequence[Token]

# Words before a bracket that is no call.
_SYNTAX: Final = names(
    """SELECT FROM WHERE IN AND OR NOT ON AS BY USING OVER EXISTS ANY ALL SOME UNION EXCEPT
    INTERSECT WHEN THEN ELSE CASE LIKE ILIKE HAVING LIMIT OFFSET INTERVAL DISTINCT BETWEEN IS ARRAY
    ROW ROWS LATERAL SETS ROLLUP CUBE RETURNING MATERIALIZED FILTER GROUP JOIN VALUES VALUE TABLE
    KEY UNIQUE CHECK CONFLICT DEFAULT INCLUDE SET WITH INTO TOP FETCH THAN PRIMARY IDENTITY INDEX
    EXPLAIN MINUS RETURN PARTITION STRUCT PIVOT UNPIVOT EXCLUDE QUALIFY ORDINALITY WITHIN ANALYZE
    PRAGMA ADD COLUMN GENERATED ALWAYS COPY SETTINGS END INSERT"""
)
# A name behind these is that of a table, an index or an alias.
_NAMING: Final = names(
    "INTO TABLE REFERENCES VIEW AS WITH RECURSIVE KEY INDEX UNIQUE CONSTRAINT INSERT COPY"
)
# More than the columns of a query that has a name take.
_MAX_COLUMNS_TOKENS: Final = 60
_PATH_SIGNS: Final = frozenset("/:*.")
_QUERIES: Final = names("SELECT WITH VALUES INSERT UPDATE DELETE TABLE")


def calls(tokens: Tokens, dialect: Dialect) -> Iterator[Act]:
    """Return what the functions do that a statement calls, those that read left out."""
    if tokens[0].is_word("PRAGMA"):
        return
    creates = tokens[0].is_word("CREATE")
    for index, token in enumerate(tokens):
        behind = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.kind == "string" and dialect == "duckdb" and _follows_from(tokens, index):
            yield from _file(token)
        if token.kind == "name" and dialect == "duckdb" and _PATH_SIGNS.intersection(token.text):
            yield Act("file", "file", token.text)
        if token.kind not in ("word", "name"):
            continue
        projected = index > 1 and tokens[index - 1].is_sign(".") and tokens[index - 2].is_sign(")")
        if projected or (behind is not None and behind.is_sign("(")):
            yield from _call(tokens, index, creates=creates)
        elif ACTING.fullmatch(token.text.lower()) and _is_telling(token.text.lower()):
            yield Act("unread", "function", token.text.lower())


def _call(tokens: Tokens, index: int, *, creates: bool) -> Iterator[Act]:
    token = tokens[index]
    start = index
    while start > 1 and tokens[start - 1].is_sign("."):
        start -= 2
    before = tokens[start - 1] if start else None
    names_something = before is not None and (
        before.is_word(*_NAMING)
        or before.is_sign(")")
        or (creates and before.is_word("ON", "USING", "EXISTS"))
    )
    if (token.kind == "word" and start == index and token.text in _SYNTAX) or names_something:
        return
    if start == index and _heads_query(tokens, index):
        return
    qualifier = tokens[start].text.lower() if start < index else ""
    name = token.text.lower() if token.kind == "word" else token.text
    known = qualifier in ("", "pg_catalog", "safe") and start >= index - 2
    if known and name in READERS:
        return
    if known and name in FILE_READERS:
        yield from _files_of(tokens, index)
        return
    match = ACTING.fullmatch(name.lower())
    kind: Statement = "hidden"
    if match is not None:
        kind = "program" if match["program"] else "file" if match["file"] else "change"
    yield Act(kind, "function", name)


def _is_telling(name: str) -> bool:
    """Tell whether a name is hardly that of a column."""
    return name.startswith(("pg_read_", "pg_ls_", "lo_", "xp_", "dblink", "pg_terminate"))


def _heads_query(tokens: Tokens, index: int) -> bool:
    """Tell whether these are the columns of a named query: `b(x) AS (SELECT`."""
    depth = 0
    for place in range(index + 1, min(len(tokens), index + _MAX_COLUMNS_TOKENS)):
        depth += tokens[place].is_sign("(") - tokens[place].is_sign(")")
        if depth == 0:
            rest = [
                t for t in tokens[place + 1 : place + 6] if not t.is_word("NOT", "MATERIALIZED")
            ]
            return (
                len(rest) > 2
                and rest[0].is_word("AS")
                and rest[1].is_sign("(")
                and rest[2].is_word(*_QUERIES)
            )
    return False


def _follows_from(tokens: Tokens, index: int) -> bool:
    return index > 0 and tokens[index - 1].is_word("FROM", "JOIN", ",")


def _files_of(tokens: Tokens, index: int) -> Iterator[Act]:
    """Return the files that a call reads whose brackets hold only files and options."""
    depth, some = 0, False
    for token in tokens[index + 1 :]:
        depth += token.is_sign("(") - token.is_sign(")")
        if depth == 0:
            break
        if token.kind == "string" and len(token.text) > 1:
            some = True
            yield from _file(token)
    if not some:
        yield Act("hidden")


def _file(token: Token) -> Iterator[Act]:
    if not DATA_FILE.fullmatch(token.text):
        yield Act("file", "file", token.text)
