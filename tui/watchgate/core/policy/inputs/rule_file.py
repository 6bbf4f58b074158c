"""A policy file as data: what `policy.toml` may say, key by key.

These structs are the file format; `load` checks what types cannot, and compiles them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from watchgate.core.model.assessment import Decision, Effect, Risk
from watchgate.core.policy.code.sql.sql_acts import Statement

Names = str | tuple[str, ...]
"""One name or several; where several are given, any of them counts.

`@name` stands for a set: of the file's `[sets]`, of those of the shipped files, or a built-in one.
"""

Access = Literal["read", "write", "delete", "any"]

Tier = Literal["shipped", "admin", "user", "project"]
"""The owner of a file, which decides what it may loosen; never which rule wins."""


class PathMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Paths that a call touches in one way.

    `any` are patterns, `none` exceptions. A pattern without a slash fits a name at any depth, as
    does one that begins with `**/`; one with a slash within (`src/*.py`) starts at the session's
    folder, one with `/`, `~/` or a variable (`$CODEX_HOME/hooks.json`, also as `${CODEX_HOME}`)
    there. What fits a folder fits all below it. Built-in sets: `@inside` and `@outside` the
    session's folder (devices such as /dev/null are neither), `@temporary`, `@sweeping` (a home, the
    root, or whole folders outside the session), `@own` (our files and the agents' hook settings),
    `@device` (disks, partitions, memory), `@changed` (what the session has written).
    """

    access: Access = "any"
    any: Names
    none: Names = ()


class CommandMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The shape of one command; everything that is given must hold.

    `program` names the program without its folder, `*` stands for any letters; `not_program` are
    exceptions. `sub` are its first operands, in order, one blank between them, where options with
    values that stand before them are passed over (`git -C x push` is `push`), and `*` again stands
    for any letters; `sub_regex` is matched from the start of all operands, one blank between them.
    Flags are found in clusters (`-rf`), shortened (`--recurs`) and with values (`--force=x`):
    `any_flag` at least one, `all_flag` all, `no_flag` none, which counts only where it stands as an
    option of the program itself, and not where it may be the value of another. `flags` is the
    closed set of all that may occur, `*` for any: in it names are whole, an entry that ends in `=`
    takes a value (`-n=`, `--format=`), one that ends in ` ;` a command that is judged by
    itself (`-exec ;`), and `-#` is a number (`-20`). `args` are patterns of which some argument
    has one, `no_args` of which none has; `args_regex` is found in some argument, `no_args_regex` in
    none, each searched with a leading `~` or `$HOME` as the home. `first` is a regular expression
    that the whole first operand behind `sub` has. `line` are patterns for the whole command, its
    words joined by blanks and quoted where they need it; a trailing ` *` also fits no arguments.
    `operands` says how many arguments that are no flags may stand behind `sub`: `none` (a single
    `-` counts as none), `one`, `some` (at least one), `any`. `paths` are paths that the command
    itself touches, redirects included; an allow needs it of all of them. `piped_from` is a command
    that feeds it, `built_from` one inside its substitutions. `fed` asks whether its standard input
    comes from a file, a here-document or another command, `code` whether code of another language
    that it runs is understood as a whole: `read`, or `unread` where it is not or there is none.
    `changed` are names of files of which the session has written one, in whatever folder; ask and
    deny only. `anywhere` and `project_file` are of ordinary rules: the first says that paths among
    its words may lie outside the session's folder, the second that the program is a file in that
    folder, named by its path. With `wrapper` only the words in front of the command that the
    program runs are looked at; that command is judged by itself. `says` and `suggest` are for what
    has this shape, in the place of those of the rule.

    `shows` are variables of which an argument holds the value (`$NAME`, `${NAME}`, for printenv
    the name itself); ask and deny only.
    `statement` is what the SQL does that a client of a database gets, one or several of `read`,
    `change`, `drop`, `delete-all`, `rights`, `program`, `file`, `unread` and `hidden`: for ask and
    deny some statement is one of these, for a rule that loosens all are.

    What cannot be told for certain counts for ask and deny, and against allow.
    """

    program: Names = ()
    not_program: Names = ()
    sub: Names = ()
    not_sub: Names = ()
    sub_regex: str = ""
    any_flag: Names = ()
    all_flag: Names = ()
    no_flag: Names = ()
    flags: Names | None = None
    args: Names = ()
    no_args: Names = ()
    args_regex: str = ""
    no_args_regex: str = ""
    first: str = ""
    line: Names = ()
    operands: Literal["none", "one", "some", "any"] = "any"
    paths: PathMatch | None = None
    piped_from: CommandMatch | None = None
    built_from: CommandMatch | None = None
    fed: bool | None = None
    code: Literal["", "read", "unread"] = ""
    changed: Names = ()
    shows: Names = ()
    statement: Statement | tuple[Statement, ...] = ()
    anywhere: bool = False
    scratch: bool = True
    texts: Names = ()
    project_file: bool = False
    wrapper: bool = False
    says: Names = ()
    suggest: str | None = None


class RuleData(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One `[[rule]]`; every matcher that is given must hold.

    `tools` are names of tools, in our words or the agent's own, or of their classes in angle
    brackets (`<shell>`, `<edit>`, `<read>`, `<fetch>`, `<agent>`, `<question>`, `<plan>`, `<mcp>`,
    `<other>`), `*` for any letters. `command` is one shape or several of which any may match, and
    makes it a rule for `<shell>`. `raw` are regular expressions of which one is found in the text
    (shell), the summary (other tools) or a text of the input (MCP and unknown tools), or `@own` for
    the paths of our own files; ask and deny only, and none in a project's file. `opaque`: only
    texts of which a part could not be read (true), or none of them (false).
    `paths` are paths that a file tool or a command touches, of which an ask or deny needs one and
    an allow all. `input` are patterns for fields of the input, `mcp` the servers, `hosts` the hosts
    of addresses (`*.example.com`; `@address` is a bare address, `@lookalike` a name with letters
    beyond ASCII, `@credentials` an address with a user name, `@scheme` one that is not the web's,
    `@unreadable` one that cannot be read), `env` variables that a command sets, `cwd` the
    session's folder, `until` when the rule ends. `always_ask`: no grant answers it.
    `says` are sentences with placeholders for what the command is about, of which the first that
    can be filled stands for the reason (see `matching.templates`); those of a shape go before.
    `general`: it says less than another rule of the same risk, and comes behind it. `effect` is of
    rules that ask at medium risk at most: an `ordinary` one is held to what an allow is, and to the
    session's folder, and its calls are held in no profile; those of a `lasting` one are held where
    nobody sits. `match` and `not_match` are examples that loading checks: a command, or
    `{ tool = "Edit", input = { file_path = "x" } }`; home is `/home/me`, the session's folder
    `/home/me/work`. The rule is held against them alone: an allow must cover some command of a
    `match`, and must not allow a `not_match`.
    """

    id: str
    decision: Decision
    risk: Risk | None = None
    reason: str = ""
    says: Names = ()
    suggest: str = ""
    general: bool = False
    always_ask: bool = False
    effect: Effect | None = None
    tools: Names = ()
    command: CommandMatch | tuple[CommandMatch, ...] = ()
    raw: Names = ()
    opaque: bool | None = None
    paths: PathMatch | None = None
    input: dict[str, str] = {}
    agents: Names = ()
    sessions: Names = ()
    cwd: Names = ()
    hosts: Names = ()
    env: Names = ()
    mcp: Names = ()
    until: datetime | None = None
    match: tuple[str | dict[str, Any], ...] = ()
    not_match: tuple[str | dict[str, Any], ...] = ()


class Defaults(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The decision where no rule speaks, and where the text cannot be read; never an allow."""

    decision: Literal["ask", "deny"] = "ask"
    opaque: Literal["ask", "deny"] = "ask"


class PolicyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole file. `disable` are ids of shipped rules that are not wanted (not in a project)."""

    version: Literal[1]
    defaults: Defaults = Defaults()
    disable: tuple[str, ...] = ()
    sets: dict[str, tuple[str, ...]] = {}
    rule: tuple[RuleData, ...] = ()
