"""The commands of the clients themselves, such as `.tables`, each on a line of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from watchgate.core.patterns.allowance import check
from watchgate.core.policy.code.sql.acts import Act
from watchgate.core.policy.code.sql.statements import acts
from watchgate.core.policy.code.sql.tokens import Dialect, UnreadableError, statements, tokens

_SIGNS: Final[dict[Dialect, str]] = {
    "postgres": "\\",
    "mysql": "\\",
    "sqlite": ".",
    "duckdb": ".",
    "tsql": ":!",
    "snowflake": "!",
}
# What a line may say that only shows something, or says how it is shown.
_READING: Final[dict[Dialect, re.Pattern[str]]] = {
    "postgres": re.compile(
        r"\\(?:d[a-zA-Z]{0,3}[+S]{0,2}|l\+?|z|sf\+?|sv\+?|x|a|t|timing|pset|conninfo|echo|q|encoding|H)"
        r"(?: [\w.*+\"' -]*)?"
        r"|\\set (?:ON_ERROR_STOP|ON_ERROR_ROLLBACK|QUIET|VERBOSITY|ECHO) \w+"
    ),
    **dict.fromkeys(
        ("sqlite", "duckdb"),
        re.compile(
            r"\.(?:tables?|schema|fullschema|indexes|indices|headers?|mode|width|dbinfo|databases|help"
            r"|nullvalue|separator|show|timer|quit|exit|dump|print|changes|bail|echo|eqp|explain|stats"
            r"|timeout|maxrows|maxwidth|columns|rows)(?: [^|`]*)?"
        ),
    ),
}
# It prints what the statement in it finds.
_SHOWN: Final = re.compile(r"\\copy [^;]*\bto stdout\b[^;]*", re.IGNORECASE)
_ACTING: Final = re.compile(
    r"(?P<program>\\!|\\g|\\w|\\e|\\setenv|\.(?:sh|sy|load)|!!|!(?:system|sh)|.*\\g(?:exec)?\b)"
    r"|(?P<file>\\(?:o|copy|i|ir|lo_|out|s\b)"
    r"|\.(?:o|once|read|import|save|backup|restore|clone|log|excel|ar|www))"
)


# The same text is looked at for each wrapper around it, and for each folder where it may run.
@lru_cache(maxsize=64)
def acts_in(text: str, dialect: Dialect) -> tuple[Act, ...]:
    """All that a text does which a client of this dialect gets."""
    try:
        return tuple(dict.fromkeys(_acts(text, dialect)))
    except UnreadableError:
        return (Act("unread"),)


def _acts(text: str, dialect: Dialect) -> Iterator[Act]:
    signs = _SIGNS.get(dialect, "")
    chunk: list[str] = []
    for line in text.split("\n"):
        command = line.strip()
        if signs and command[:1] in signs and command:
            yield from _statements("\n".join(chunk), dialect, ends=True)
            if dialect == "postgres" and _SHOWN.fullmatch(command):
                yield from _statements(command[1:], dialect)
            else:
                yield _command(command, dialect)
            chunk = []
        else:
            chunk.append(line)
    yield from _statements("\n".join(chunk), dialect)


def _statements(text: str, dialect: Dialect, *, ends: bool = False) -> Iterator[Act]:
    statement_tokens = tokens(text, dialect)
    if ends and statement_tokens and not statement_tokens[-1].is_sign(";"):
        # The client may take the line that follows for a part of the statement.
        raise UnreadableError
    if dialect == "postgres" and _has_variable(text, [token.text for token in statement_tokens]):
        raise UnreadableError
    for statement in statements(statement_tokens, dialect):
        check()
        yield from acts(statement, dialect)


def _has_variable(text: str, texts: list[str]) -> bool:
    """Tell whether psql may put the value of a variable there: `:name`, but no cast or slice."""
    return ":" in texts and re.search(r"(?:^|[^:\w\]]):[A-Za-z_'\"{]", text) is not None


def _command(line: str, dialect: Dialect) -> Act:
    reading = _READING.get(dialect)
    if reading is not None and reading.fullmatch(line):
        return Act("read")
    match = _ACTING.match(line)
    if match is None:
        return Act("unread", "command", line[:40])
    return Act("program" if match["program"] else "file", "command", line[:40])
