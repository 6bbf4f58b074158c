"""The clients of databases: by which words they are given SQL, and what that does.

- The commands of the clients themselves, such as `.tables`, each on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.code.sql.sql_acts import GRAVE, Act
from watchgate.core.policy.code.sql.sql_statements import acts
from watchgate.core.policy.code.sql.sql_tokens import (
    Dialect,
    UnreadableSqlError,
    statements,
    tokens,
)
from watchgate.core.policy.shell.commands import Command, Word, names
from watchgate.core.policy.shell.contents import printed

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
    except UnreadableSqlError:
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
        raise UnreadableSqlError
    if dialect == "postgres" and _has_variable(text, [token.text for token in statement_tokens]):
        raise UnreadableSqlError
    for statement in statements(statement_tokens, dialect):
        check()
        yield from acts(statement, dialect)


def _has_variable(text: str, texts: list[str]) -> bool:
    """Tells whether psql may put the value of a variable there: `:name`, but no cast or slice."""
    return ":" in texts and re.search(r"(?:^|[^:\w\]]):[A-Za-z_'\"{]", text) is not None


def _command(line: str, dialect: Dialect) -> Act:
    reading = _READING.get(dialect)
    if reading is not None and reading.fullmatch(line):
        return Act("read")
    match = _ACTING.match(line)
    if match is None:
        return Act("unread", "command", line[:40])
    return Act("program" if match["program"] else "file", "command", line[:40])


class DatabaseClient(msgspec.Struct, frozen=True):
    """The options of a client: one that stands in no list may do what nobody knows.

    `code` are options whose value is SQL, `files` those whose value is a file of it, `valued`
    others with a value, `flags` those without; a flag that ends in `=` has its value glued. Where
    `whole` is true names have one dash or two, and none stand in clusters. `operands` are how many
    operands stand before SQL, None where none is. `sub` are words that come first.
    """

    dialect: Dialect
    code: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    whole: bool = False
    operands: int | None = None
    sub: frozenset[str] = frozenset()


_PSQL: Final = DatabaseClient(
    "postgres",
    code=names("-c --command"),
    files=names("-f --file"),
    valued=names(
        """-d --dbname -h --host -p --port -U --username -v --set --variable -P --pset -F
        --field-separator -R --record-separator -T --table-attr"""
    ),
    flags=names(
        """-A --no-align -a --echo-all -b --echo-errors -e --echo-queries -E --echo-hidden -n
        --no-readline -q --quiet -s --single-step -S --single-line -t --tuples-only -w
        --no-password -W --password -x --expanded -X --no-psqlrc -z --field-separator-zero -0
        --record-separator-zero -1 --single-transaction -l --list -H --html --csv -V --version
        --help -?"""
    ),
)
_MYSQL: Final = DatabaseClient(
    "mysql",
    code=names("-e --execute"),
    valued=names(
        """-h --host -P --port -u --user -D --database -S --socket --protocol --connect-timeout
        --default-character-set --ssl-mode --ssl-ca --max-allowed-packet --login-path
        --defaults-group-suffix"""
    ),
    flags=names(
        """-p= --password= -p --password -B --batch -N --skip-column-names -s --silent -t --table
        -v --verbose -E --vertical -r --raw -A --no-auto-rehash -H --html -X --xml -q --quick -f
        --force -C --compress -n --unbuffered -w --wait --column-names --skip-ssl --safe-updates
        -U -b -V --version --help -?"""
    ),
)
_SQLITE: Final = DatabaseClient(
    "sqlite",
    code=names("-cmd"),
    files=names("-init"),
    valued=names("-separator -nullvalue -newline -maxsize -mmap -vfs"),
    flags=names(
        """-csv -json -line -list -column -table -box -markdown -html -quote -tabs -ascii -header
        -noheader -batch -bail -echo -readonly -safe -stats -interactive -nofollow -version -help"""
    ),
    whole=True,
    operands=1,
)

CLIENTS: Final[Mapping[str, DatabaseClient]] = {
    "psql": _PSQL,
    **dict.fromkeys(("mysql", "mariadb"), _MYSQL),
    **dict.fromkeys(("sqlite3", "sqlite"), _SQLITE),
    "duckdb": msgspec.structs.replace(
        _SQLITE,
        dialect="duckdb",
        code=names("-c -s -cmd"),
        files=names("-f -init"),
        flags=_SQLITE.flags | names("-jsonlines -latex -trash -no-stdin -unsigned"),
    ),
    "bq": DatabaseClient(
        "bigquery",
        valued=names("--format --project_id --location --max_rows -n --start_row --dataset_id"),
        flags=names(
            """--use_legacy_sql= --nouse_legacy_sql --use_cache= --nouse_cache --dry_run --quiet -q
        --headless --format= --project_id= --location= --max_rows= --maximum_bytes_billed="""
        ),
        operands=0,
        sub=names("query"),
    ),
    **dict.fromkeys(
        ("clickhouse-client", "clickhouse"),
        DatabaseClient(
            "clickhouse",
            code=names("-q --query"),
            files=names("--queries-file"),
            valued=names("-h --host --port -u --user --password -d --database -f --format"),
            flags=names(
                "-m -n -s -t --multiline --multiquery --secure --stacktrace --time --vertical -E"
            ),
            sub=names("client"),
        ),
    ),
    "snowsql": DatabaseClient(
        "snowflake",
        code=names("-q --query"),
        files=names("-f --filename"),
        valued=names(
            """-a --accountname -u --username -d --dbname -s --schemaname -r --rolename -w
            --warehouse
        -c --connection"""
        ),
    ),
    "sqlcmd": DatabaseClient(
        "tsql",
        code=names("-Q -q"),
        files=names("-i"),
        valued=names("-S -U -P -d -h -s -w -y -Y -l -t -a -H --database --name"),
        flags=names("-E -C -W -b -N -I -G -k -r -e -m -x -u -? --help --version"),
        operands=None,
    ),
}
"""By the plain names of programs."""

# A word from such a variable says which database is meant.
_DATABASE = re.compile(r"\$\{?\w*(?:URL|URI|DSN|DB|DATABASE|CONN)\w*\}?", re.IGNORECASE)
_FEW_DOUBTS = re.compile(
    r"\b(?:drop|truncate|delete|update|alter|grant|revoke|program|outfile)\b|\\!", re.IGNORECASE
)
_HIDDEN: Final = Act("hidden")


def acts_of(command: Command) -> tuple[Act, ...]:
    """All that a client does to a database by the SQL that it gets; () for other programs."""
    client = CLIENTS.get(command.program)
    if client is None:
        return ()
    given = _Given(client)
    given.take(command.arguments)
    if client.sub and given.operands and given.operands[0].text in client.sub:
        given.operands.pop(0)
    elif client.sub and command.program != "clickhouse-client":
        return ()
    texts = [*given.code, *_sql_operands(command.program, client, given.operands)]
    acts = [act for word in texts for act in _of_word(word, client.dialect)]
    if given.unclear:
        # A value that nobody knows may have been taken for SQL.
        acts = [act for act in acts if act.kind != "unread"]
        acts += (act for act in _of_any(command.arguments, client) if act.kind in GRAVE)
        acts.append(_HIDDEN)
    if given.files:
        acts.append(_HIDDEN)
    if not texts and not given.files:
        acts += _fed(command, client)
    return tuple(dict.fromkeys(acts))


def _sql_operands(program: str, client: DatabaseClient, operands: Sequence[Word]) -> Sequence[Word]:
    if program == "sqlcmd" and operands and operands[0].text == "query":
        return operands[1:]
    return () if client.operands is None else operands[client.operands :]


class _Given:
    """The statements and files that the words of a client give to it."""

    def __init__(self, client: DatabaseClient) -> None:
        self._client = client
        self.code: list[Word] = []
        self.files: list[Word] = []
        self.operands: list[Word] = []
        self.unclear = False

    def take(self, words: Sequence[Word]) -> None:
        """Takes these words, of which any may be an option until `--`."""
        left = list(reversed(words))
        while left:
            word = left.pop()
            if word.text == "--" and not word.dynamic:
                self.operands += reversed(left)
                return
            if word.expands in ("words", "value") and word.prefix == "":
                self._unknown(word)
            elif word.text[:1] != "-" or word.text == "-":
                self.operands.append(word)
            else:
                self._option(word, left)

    def _unknown(self, word: Word) -> None:
        """Takes a word that may be an option, unless it names a database or is one quoted text."""
        named = _DATABASE.fullmatch(word.text) is not None
        self.unclear |= not named and not (word.expands == "value" and " " in word.text)
        self.operands.append(word)

    def _option(self, word: Word, left: list[Word]) -> None:
        client, text = self._client, word.text
        if client.whole and text.startswith("--"):
            text = text[1:]
        name, sign, _ = text.partition("=")
        takes = client.code | client.files | client.valued
        if text in client.flags or (sign and name + "=" in client.flags):
            return
        if name in takes and (text.startswith("--") or not sign or client.whole):
            if sign:
                self._value(name, _end_of(word, len(word.text) - word.text.index("=") - 1))
            elif left:
                self._value(name, left.pop())
            return
        if text.startswith("--") or client.whole or not self._cluster(word, left):
            self.unclear = True

    def _cluster(self, word: Word, left: list[Word]) -> bool:
        client = self._client
        takes = client.code | client.files | client.valued
        for place, letter in enumerate(word.text[1:], 2):
            option = "-" + letter
            if option + "=" in client.flags:
                return True
            if option in takes:
                if place < len(word.text):
                    self._value(option, _end_of(word, len(word.text) - place))
                elif left:
                    self._value(option, left.pop())
                return True
            if option not in client.flags:
                return False
        return True

    def _value(self, name: str, word: Word) -> None:
        if name in self._client.code:
            self.code.append(word)
        elif name in self._client.files:
            self.files.append(word)
        elif word.expands == "words" and not _DATABASE.fullmatch(word.text):
            self.unclear = True


def _end_of(word: Word, chars: int) -> Word:
    """The last characters of a word, as a word."""
    start = len(word.text) - chars
    return msgspec.structs.replace(word, text=word.text[start:], at=word.at[start:])


def _of_word(word: Word, dialect: Dialect) -> Iterator[Act]:
    """Returns the acts of an SQL text, of which some may only be known at run time."""
    acts = acts_in(word.text, dialect)
    if not word.dynamic:
        yield from acts
        return
    yield _HIDDEN
    doubtful = _FEW_DOUBTS.search(word.text) is not None
    yield from (act for act in acts if act.kind in GRAVE and (act.kind != "unread" or doubtful))


def _of_any(words: Sequence[Word], client: DatabaseClient) -> Iterator[Act]:
    """Returns the acts of any of these words that reads like SQL; most do not."""
    for word in words:
        text = word.text
        for each in (text, text.partition("=")[2], text[2:] if text[:1] == "-" else ""):
            if " " in each and _FEW_DOUBTS.search(each):
                yield from acts_in(each, client.dialect)


def _fed(command: Command, client: DatabaseClient) -> Iterator[Act]:
    """Returns the acts of the SQL on the command's standard input."""
    if any(redirect.reads for redirect in command.redirects):
        yield _HIDDEN
    if command.documents:
        for document in command.documents:
            yield from _of_word(document, client.dialect)
    elif command.piped_from:
        lines = printed(command.piped_from[-1])
        if not lines:
            yield _HIDDEN
        else:
            yield from _of_word(_joined(lines), client.dialect)
    elif command.reads_input:
        yield _HIDDEN


def _joined(lines: Sequence[Word]) -> Word:
    """The lines as one text."""
    dynamic = any(line.dynamic for line in lines)
    text = "\n".join(line.text for line in lines)
    first = lines[0]
    return Word(
        text, (first.start,) * len(text), first.start, first.end, "words" if dynamic else ""
    )
