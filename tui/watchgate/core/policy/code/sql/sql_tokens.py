"""The tokens of SQL, by sqlglot's tokenizer of each dialect.

A text that a database may split in another way than the tokenizer does is not read at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, get_args

import msgspec

from watchgate.core.base.patterns.allowance import check, uncounted

if TYPE_CHECKING:
    from sqlglot.tokens import Tokenizer

Dialect = Literal[
    "postgres", "mysql", "sqlite", "duckdb", "bigquery", "clickhouse", "snowflake", "tsql"
]
Kind = Literal["word", "name", "string", "number", "sign"]

MAX_CHARS: Final = 6_000
_MAX_TOKENS: Final = 2_000

# Escaped quotes, comments that one database has and another has not, templates, and blanks that
# only some take for such.
_AMBIGUOUS = re.compile(
    r"""\\['"`]|/\*[!M+]|[\w)\]'"`]--\S|\{[\{%\#]|\[[A-Za-z_ ][^\]\['"`]{0,99}['"`]|\$\$"""
    r"""|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]"""
)


class SqlToken(msgspec.Struct, frozen=True, gc=False):
    """One token; `text` of a word is in capitals, that of a quoted name or string is its value."""

    kind: Kind
    text: str

    def is_word(self, *texts: str) -> bool:
        """Tells whether it is one of these words, not quoted."""
        return self.kind == "word" and self.text in texts

    def is_sign(self, text: str) -> bool:
        """Tells whether it is this sign."""
        return self.kind == "sign" and self.text == text


class UnreadableSqlError(ValueError):
    """The text has no tokens that are sure."""


def tokens(text: str, dialect: Dialect) -> list[SqlToken]:
    """The tokens of a text; raises `UnreadableSqlError`."""
    if len(text) > MAX_CHARS or _AMBIGUOUS.search(text):
        raise UnreadableSqlError
    if dialect == "mysql" and re.search(r"--[^\s]", text):
        raise UnreadableSqlError
    check()
    parts = list(_split(text, dialect))
    check()
    if len(parts) > _MAX_TOKENS or (not parts and text.strip()):
        raise UnreadableSqlError
    return parts


def load() -> None:
    """Loads the tokenizers, which takes longer than a text may."""
    for dialect in get_args(Dialect):
        list(_split("select 1", dialect))


def _split(text: str, dialect: Dialect) -> Iterator[SqlToken]:
    with uncounted():
        tokenizer = _tokenizer(dialect)(dialect=dialect)
        from sqlglot.errors import SqlglotError  # noqa: PLC0415 - slow to load
    try:
        lexed = tokenizer.tokenize(text)
    except (SqlglotError, ValueError, IndexError, RecursionError):
        raise UnreadableSqlError from None
    done = 0
    for token in lexed:
        if _nests_comments(text[done : token.start]):
            raise UnreadableSqlError
        done = token.end + 1
        kind = _KINDS.get(token.token_type.name)
        if kind:
            yield SqlToken(kind, token.text)
        elif token.token_type.name in _DOUBTFUL:
            raise UnreadableSqlError
        elif token.text[:1].isalpha() or token.text[:1] == "_":
            yield from (SqlToken("word", each.upper()) for each in token.text.split())
        else:
            yield SqlToken("sign", token.text)
    if _nests_comments(text[done:]):
        raise UnreadableSqlError


_STRINGS: Final = (
    "STRING", "NATIONAL_STRING", "RAW_STRING", "BYTE_STRING", "HEX_STRING", "BIT_STRING",
)  # fmt: skip
_STRING: Final[Kind] = "string"
_KINDS: Final[dict[str, Kind]] = {
    "IDENTIFIER": "name",
    "NUMBER": "number",
    **dict.fromkeys(_STRINGS, _STRING),
}
_DOUBTFUL: Final = frozenset(
    ("HEREDOC_STRING", "UNICODE_STRING", "BLOCK_START", "BLOCK_END", "HINT")
)


@cache
def _tokenizer(dialect: Dialect) -> type[Tokenizer]:
    """The class of a dialect's tokenizer; other threads read at the same time, each by its own."""
    from sqlglot.dialects.dialect import Dialect as Known  # noqa: PLC0415 - slow to load

    # Else all behind some first words is one text.
    plain: type[Tokenizer] = type(
        "Plain", (Known.get_or_raise(dialect).tokenizer_class,), {"COMMANDS": set()}
    )
    return plain


def _nests_comments(text: str) -> bool:
    """Tells whether a comment is open or opens in another, which databases read in two ways."""
    start = text.find("/*")
    while start >= 0:
        end = text.find("*/", start + 2)
        if end < 0 or text.find("/*", start + 2, end + 1) >= 0:
            return True
        start = text.find("/*", end + 2)
    return False


def statements(lexed: Sequence[SqlToken], dialect: Dialect) -> Iterator[list[SqlToken]]:
    """The statements of a text, without what ends them; raises `UnreadableSqlError`."""
    own: list[SqlToken] = []
    before = None
    for token, behind in zip(lexed, [*lexed[1:], None], strict=False):
        ends = token.is_sign(";") or (dialect == "tsql" and token.is_word("GO"))
        if token.is_sign("\\"):
            # MySQL's client takes `\G` for the end.
            ends = dialect == "mysql" and behind is not None and behind.is_word("G")
            if not ends:
                raise UnreadableSqlError
        elif before is not None and before.is_sign("\\"):
            before = token
            continue
        before = token
        if ends or (dialect == "tsql" and _begins(token, own)):
            if own:
                yield own
            own = []
        if not ends:
            own.append(token)
    if own:
        yield own


# Words that begin a statement of T-SQL, where nothing has to stand between two.
_VERBS: Final = frozenset(
    """ALTER BACKUP BULK CREATE DBCC DECLARE DELETE DENY DROP EXEC EXECUTE GRANT INSERT KILL MERGE
    RECONFIGURE RESTORE REVOKE SHUTDOWN TRUNCATE UPDATE USE WAITFOR""".split()
)


def _begins(token: SqlToken, own: Sequence[SqlToken]) -> bool:
    if token.kind != "word" or token.text not in _VERBS:
        return False
    before = own[-1] if own else None
    return before is None or not (before.is_sign(".") or before.is_word("ON", "AS", "FOR"))
