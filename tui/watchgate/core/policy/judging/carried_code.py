"""Commands, code and statements that a call of any other tool carries in its input.

No table says what an MCP server or an unlisted tool does with a field. Where the field's name says
that something will run its text, the text is judged as the shell command that would run the same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.text_guards import MAX_CHARS, MAX_SCANNED_CHARS

MAX_CARRIED: Final = 20
_MAX_VALUES: Final = 10_000

# Names of fields as they are compared: in small letters, without `_` and `-`.
_SHELL: Final = frozenset(
    "bash bashcommand cli clicommand cmd cmdline command commandline commands execcommand"
    " runcommand shell shellcommand terminalcommand".split()
)
# Their texts may be no commands.
_SCRIPT: Final = frozenset(
    "batch exec executable program run script scripts shellscript scripttext".split()
)
_POWERSHELL: Final = frozenset(
    "powershell powershellcommand powershellscript pscommand psscript pwsh".split()
)
_PYTHON: Final = frozenset("python pythoncode pythonscript".split())
_CODE: Final = frozenset(
    "code expression function javascript javascriptcode js jscode pagefunction snippet source"
    " sourcecode".split()
)
_SQL: Final = frozenset("cypher ddl hql sql sqlquery sqlstatement sqltext".split())
_QUERY: Final = frozenset("query queries querytext statement statements".split())
_ONE_COMMAND: Final = frozenset(("cmd", "command", "executable", "program"))
_ARGUMENTS: Final = frozenset("args arguments argv".split())
_PYTHON_TOOL: Final = re.compile(r"python|jupyter|notebook", re.IGNORECASE)
_POWERSHELL_TOOL: Final = re.compile(r"powershell|pwsh", re.IGNORECASE)
# A tool that is called as a program takes what comes behind its name.
_PROGRAM_TOOL: Final = re.compile(
    r"(aws|az|docker|gcloud|gh|git|helm|kubectl|oc|podman|terraform)(?:[_-](?:cli|command|exec"
    r"|generic|run))?",
    re.IGNORECASE,
)

_LOOKS_CODED = re.compile(r"\w\s{0,9}\(|[;=`\n]|\bimport\s|\breturn\b")
_BEFORE_SQL = re.compile(r"(?:\s|\(|;|--[^\n]*\n|/\*[^*]*\*/)*")
_BEGINS_SQL = re.compile(
    r"(?:alter|analyze|attach|begin|call|cluster|comment|commit|copy|create|declare|delete|detach"
    r"|do|drop|exec|execute|explain|grant|import|insert|kill|load|lock|merge|optimize|pragma"
    r"|reindex|rename|replace|reset|revoke|select|set|start|truncate|unload|update|use|vacuum|with"
    r")\s|db\.\w|match\s*\(|(?:flushall|flushdb)\b",
    re.IGNORECASE,
)
# What is given a function calls it.
_IS_FUNCTION: Final = re.compile(
    r"\s*(?:async\s+)?(?:function\b|(?:\([^()]{0,200}\)|[A-Za-z_$][\w$]{0,60})\s{0,9}=>)"
)
_MUTATES: Final = re.compile(r"\s*mutation\b")
# Who reads what is no SQL, by its beginning.
_CLIENTS: Final = (
    ("flush", "redis-cli"),
    ("db.", "mongosh --eval"),
    ("match", "cypher-shell"),
)
_SEARCHES: Final = ("search", "find", "docs", "lookup", "ask")


class _TooMuchError(ValueError):
    """Raised where the input has more values than are looked at."""


class Carried(msgspec.Struct, frozen=True):
    """A text that something will run, and the shell command that would run the same.

    `certain` is false where the text may be no shell at all, so that it says nothing when it cannot
    be read as such.
    """

    text: str
    command: str
    certain: bool = True


def carried(tool: Tool) -> tuple[tuple[Carried, ...], bool]:
    """Returns the texts that the input carries, in its order, and whether those are all.

    No more than `MAX_CARRIED` texts are given, and none behind those that are as long together as
    what is scanned of one command.
    """
    texts: dict[Carried, None] = {}
    left_chars = MAX_SCANNED_CHARS
    try:
        for given in _carried(tool):
            if given in texts:
                continue
            if len(texts) == MAX_CARRIED or left_chars < 0:
                return tuple(texts), False
            texts[given] = None
            left_chars -= len(given.text)
    except _TooMuchError:
        return tuple(texts), False
    return tuple(texts), True


def _carried(tool: Tool) -> Iterator[Carried]:
    name = tool.name.rpartition(":")[2]
    searches = any(word in name.lower() for word in _SEARCHES)
    program = match[1].lower() if (match := _PROGRAM_TOOL.fullmatch(name)) else ""
    for field, whole in _fields(tool.input):
        # A little more than is ever read, so that what is cut is found to be too long.
        text = whole[: MAX_SCANNED_CHARS + 1]
        runs = field in _SHELL or field in _SCRIPT
        if field in _POWERSHELL or (runs and _POWERSHELL_TOOL.search(name)):
            yield Carried(text, f"pwsh -Command {shlex.quote(text)}", certain=field not in _SCRIPT)
        elif runs:
            yield Carried(text, text, certain=field in _SHELL)
        if program and (runs or field in _ARGUMENTS):
            yield Carried(text, f"{program} {text}", certain=False)
        # What is longer than anybody reads may hide behind its beginning what it is.
        long = len(whole) > MAX_CHARS
        coded = field in _SCRIPT or field in _CODE or field in _PYTHON
        if coded and (long or _LOOKS_CODED.search(text)):
            is_python = field in _PYTHON or _PYTHON_TOOL.search(name)
            called = f"({text})()" if _IS_FUNCTION.match(text) else text
            run = (
                f"python3 -c {shlex.quote(text)}" if is_python else f"node -e {shlex.quote(called)}"
            )
            yield Carried(text, run)
        asks = field in _QUERY and not searches
        may_be = asks or field in _SHELL or coded
        if field in _SQL or (may_be and _is_sql(text)) or (asks and long):
            yield from _statements(text)
        if asks and _MUTATES.match(text):
            yield Carried(text, f"gh api graphql -f query={shlex.quote(text)}")


def _statements(text: str) -> Iterator[Carried]:
    begins = text[_leading(text) :].lstrip().lower()
    client = next((name for start, name in _CLIENTS if begins.startswith(start)), "psql -c")
    if client == "psql -c" and "`" in text and "#" not in text:
        client = "mysql -e"
    yield Carried(text, f"{client} {shlex.quote(text.strip())}")


def _is_sql(text: str) -> bool:
    return _BEGINS_SQL.match(text, _leading(text)) is not None


def _leading(text: str) -> int:
    """Returns the index at which a statement begins behind blanks, comments and brackets."""
    before = _BEFORE_SQL.match(text)
    return before.end() if before else 0


def _fields(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields each text of an input at any depth with the name of its field, in order."""
    todo: list[tuple[str, Any]] = [("", given)]
    left = _MAX_VALUES
    while todo:
        left -= 1
        if left < 0:
            raise _TooMuchError
        field, value = todo.pop()
        match value:
            case str():
                yield field, value
            case dict():
                named = [(_name(key), each) for key, each in value.items()]
                todo += reversed(_with_arguments(named))
            case list() if field in _ONE_COMMAND:
                yield field, _argument_list(value)
                todo += [("", each) for each in reversed(value) if not isinstance(each, str)]
            case list():
                todo += [(field, each) for each in reversed(value)]


def _with_arguments(named: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Returns the fields of one object, a command's separate arguments joined to the command."""
    words = next((each for name, each in named if name in _ARGUMENTS and _is_texts(each)), None)
    if words is None:
        return named
    return [
        (name, f"{each} {shlex.join(words)}")
        if name in _ONE_COMMAND and isinstance(each, str)
        else (name, each)
        for name, each in named
    ]


def _argument_list(value: list[Any]) -> str:
    """Joins a list of texts to a command: they are its words, or a command each."""
    texts = [each for each in value if isinstance(each, str)]
    lines = bool(texts) and " " in texts[0].strip()
    return "\n".join(texts) if lines else shlex.join(texts)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _name(key: Any) -> str:
    return str(key).lower().replace("_", "").replace("-", "")
