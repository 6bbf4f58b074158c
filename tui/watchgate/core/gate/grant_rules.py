"""The rules that a grant for a request would have, and an operator's edit of them.

- Generalises a command to its program and its subcommand.
- The grant that a request would lead to, before anybody gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec

from watchgate.core.model.assessment import NO_RULE, Finding, Segment
from watchgate.core.model.events import Tool
from watchgate.core.model.records import RequestData
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.standing_grant import GrantRule, GrantView, Width, stay_inside
from watchgate.core.tools.tool_input import besides, urls

_DEPTH: Final[dict[str, int]] = {
    **dict.fromkeys(
        (
            *("black", "cp", "eslint", "gofmt", "isort", "jest", "mkdir", "mypy", "prettier"),
            *("pytest", "rustfmt", "touch", "tox", "tsc", "vitest"),
        ),
        0,
    ),
    **dict.fromkeys(
        (
            *("aws", "az", "gcloud", "gh", "glab", "kubectl", "git bisect", "git remote"),
            *("git stash", "git submodule", "git worktree", "bun run", "cargo run", "go mod"),
            *("docker compose", "docker container", "docker image", "docker volume", "npm run"),
            *("pnpm run", "poetry run", "uv pip", "yarn run", "yarn workspace"),
        ),
        2,
    ),
}
"""Number of words after the program that say what it does, by the words so far; else one."""

_INTERPRETERS: Final = re.compile(r"(?:python|node|ruby|perl|php|bun|deno|bash|sh|zsh)[0-9.]*")
"""Programs that run the word behind them."""

_EXACT: Final = frozenset(
    (
        *(".", "awk", "cd", "chmod", "chown", "chroot", "curl", "dd", "doas", "docker exec"),
        *("docker run", "env", "eval", "exec", "find", "ftp", "kill", "kubectl exec", "ln"),
        *("make", "mv", "mysql", "nc", "npx", "parallel", "pkill", "pnpx", "popd", "psql"),
        *("pushd", "rm"),
        *("rmdir", "rsync", "scp", "sed", "sftp", "source", "sqlite3", "ssh", "su", "sudo"),
        *("tar", "tee", "truncate", "unlink", "unzip", "uvx", "watch", "wget", "xargs"),
    )
)
"""Programs whose arguments matter: other programs, code, machines, or files that are lost."""

_SUBCOMMAND: Final = re.compile(r"[a-z][a-z0-9:_+-]{0,39}")


def generalised(words: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Returns a command's words that say what it does, and whether further arguments may follow."""
    head, name = 1, words[0].rsplit("/", 1)[-1]
    if _INTERPRETERS.fullmatch(name):
        head = _script(words)
        name = words[head - 1].rsplit("/", 1)[-1]
    depth, taken = _DEPTH.get(name, 1), 0
    if head == 0:
        return words, False
    while taken < depth and name not in _EXACT:
        word = words[head] if head < len(words) else "-"
        if word.startswith("-"):
            return words, False  # which of the words behind it is the subcommand, nobody knows
        if not _SUBCOMMAND.fullmatch(word):
            break
        head, taken, name = head + 1, taken + 1, f"{name} {word}"
        depth = max(depth, _DEPTH.get(name, 0))
    return (words, False) if name in _EXACT else (words[:head], True)


def _script(words: tuple[str, ...]) -> int:
    """Returns the number of words that name what an interpreter runs.

    0 where that is code, input or unknown.
    """
    match words[1:]:
        case ("-m", module, *_) if not module.startswith("-"):
            return 3
        case (script, *_) if not script.startswith("-"):
            return 2
    return 0


GRANTABLE: frozenset[str] = frozenset({"low", "medium"})

MOVES = (("cd",), ("pushd",), ("popd",))
"""The first words of what changes the folder for the commands behind it."""


class PolicyFindings(Protocol):
    """The policy's findings about a call, of an assessment or of a request."""

    @property
    def risk(self) -> str:
        """Returns the risk of the whole call."""
        ...

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns the rules that matched."""
        ...

    @property
    def opaque(self) -> bool:
        """Returns whether a part could not be read."""
        ...

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Returns the commands of the call."""
        ...


def grantable(assessed: PolicyFindings) -> str:
    """Returns the reason no standing grant may answer the call; empty where one may."""
    if assessed.opaque:
        return "a part of it could not be read"
    grave = [r for r in (assessed.risk, *(f.risk for f in assessed.findings)) if r not in GRANTABLE]
    if grave:
        return f"what is of {grave[0]} risk is decided each time"
    stern = [each for each in assessed.findings if each.always_ask or each.decision == "deny"]
    if stern:
        return f"the rule {stern[0].rule} wants to be asked each time"
    return ""


def proposed(tool: Tool, assessed: PolicyFindings) -> tuple[GrantRule, ...]:
    """Returns the rules that would let the call and its like through.

    There is one for each command that needs one. Raises `ValueError` that says why there are none.
    """
    if why := grantable(assessed):
        raise ValueError(why)
    rules: dict[tuple[tuple[str, ...], bool], GrantRule] = {}
    for number, words in uncovered(tool, assessed):
        head, more = generalised(words) if tool.cls == "shell" else _of_a_tool(words)
        if not stay_inside(words[len(head) :]):
            head, more = words, False
        rule = GrantRule(words=head, more=more, tool=tool.native_name, number=number)
        rules.setdefault((head, more), rule)
    return tuple(rules.values())


def uncovered(tool: Tool, assessed: PolicyFindings) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields the commands that no allow rule covers, each with the number of its part.

    An allow rule does not cover what another rule wants asked, nor a change of the folder: what
    comes behind it runs elsewhere than the session. Raises `ValueError` where a command is not
    known in every word, where more than they decide what it does, or where there is none.
    """
    if tool.cls != "shell":
        yield 1, call_words(tool)
        return
    if others := besides(tool):
        raise ValueError(f"it also says {others[0]}, which no rule can speak of")
    asked = [
        each for each in assessed.findings if each.decision != "allow" and each.rule != NO_RULE
    ]
    rules = {each.rule for each in asked}
    of_the_whole = any(each.segment is None for each in asked)
    covered = True
    for segment in assessed.segments:
        spared = segment.allowed_by and not of_the_whole and rules.isdisjoint(segment.rules)
        if spared and segment.words[:1] not in MOVES:
            continue
        if segment.dynamic or not segment.words:
            raise ValueError(f"part {segment.number} is only known when it runs")
        if segment.unworded:
            raise ValueError(f"part {segment.number} depends on more than its words")
        covered = False
        yield segment.number, segment.words
    if covered:
        raise ValueError("no command of it is known")


def call_words(tool: Tool) -> tuple[str, ...]:
    """Returns the words of a call that is no command: its tool, and the hosts of a fetch."""
    hosts = sorted({urlsplit(url).hostname or url for url in _addresses(tool)})
    return (tool.native_name, *hosts)


def rule_fits(rule: GrantRule, words: tuple[str, ...]) -> bool:
    """Returns whether a rule covers a command, and nothing behind its words leaves the folder."""
    return rule.covers(words) and stay_inside(words[len(rule.words) :])


def why_no_grant(data: RequestData, width: Width, edited: tuple[GrantRule, ...] = ()) -> str:
    """Returns the reason a grant cannot have this width and these rules; empty where it can."""
    try:
        rules_of(data, edited, width)
    except ValueError as why:
        return str(why)
    return ""


def rules_of(
    data: RequestData, edited: tuple[GrantRule, ...], width: Width = "program"
) -> tuple[GrantRule, ...]:
    """Returns the rules of a grant: those that an operator sent, else those of its width.

    Raises `ValueError` where there are none, they do not cover the whole call, or one covers none
    of it.
    """
    rules = proposed(data.tool, data)
    if width != "program":
        if edited:
            raise ValueError("only the width program has rules that can be edited")
        return _of_one_call(data) if width == "exact" else _of_the_folder(data)
    if not edited:
        return rules
    commands = list(uncovered(data.tool, data))
    for rule in edited:
        if not any(rule_fits(rule, words) for _, words in commands):
            raise ValueError(f"`{rule.text}` covers no part of this call: begin with its words")
    for number, words in commands:
        if not any(rule_fits(rule, words) for rule in edited):
            text = GrantRule(words=words).text
            raise ValueError(f"no rule covers part {number}, `{text}`: it would be asked again")
    tool = data.tool.native_name
    numbers = [
        next(number for number, words in commands if rule_fits(rule, words)) for rule in edited
    ]
    return tuple(
        GrantRule(words=rule.words, more=rule.more, tool=tool, number=number)
        for rule, number in zip(edited, numbers, strict=True)
    )


def _of_one_call(data: RequestData) -> tuple[GrantRule, ...]:
    if data.tool.cls != "shell":
        raise ValueError("its input has no words that a rule could name: allow the tool instead")
    name = data.tool.native_name
    return tuple(
        GrantRule(words=words, tool=name, number=number)
        for number, words in uncovered(data.tool, data)
    )


def _of_the_folder(data: RequestData) -> tuple[GrantRule, ...]:
    """Returns no rules, but checks that a grant for the folder may be given.

    Such a grant is held to what the policy found, and to the folder.
    """
    if data.tool.cls != "shell":
        raise ValueError("only commands are allowed by their folder: allow the tool instead")
    if any(each.rule == NO_RULE for each in data.findings):
        raise ValueError("no rule knows a command of it: allow its program instead")
    for number, words in uncovered(data.tool, data):
        if words[:1] in MOVES or not stay_inside(words):
            raise ValueError(f"part {number} leads out of the folder")
    return ()


def _of_a_tool(words: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Returns a tool's words, which allow no others behind them.

    They say nothing of its input; a fetch reaches its own hosts and no others.
    """
    return words, False


def _addresses(tool: Tool) -> tuple[str, ...]:
    return urls(tool) if tool.cls == "fetch" else ()


def exact_grant(request: ApprovalRequest, scope: str) -> GrantView:
    """Returns the grant for exactly this call, before anybody gives it."""
    event, data = request.subject, request.data
    return GrantView(
        id=request.id,
        scope=scope,
        agent=event.agent,
        session=event.session,
        folder=data.cwd,
        tool=data.tool.native_name,
        summary=data.summary,
        by="",
        given_at=0,
    )


def grant_candidate(
    request: ApprovalRequest,
    edited: tuple[GrantRule, ...] = (),
    *,
    scope: str = "always",
    width: Width = "program",
) -> GrantView:
    """Returns the grant of these rules, else of those that the width has, before anybody gives it.

    It is held to rules, but for one of a single call that is not for good.

    Raises `ValueError` as `rules_of` does.
    """
    data = request.data
    if width == "exact" and scope != "always":
        return exact_grant(request, scope)
    shown = sorted({each.rule for each in data.findings if each.decision != "allow"})
    return msgspec.structs.replace(
        exact_grant(request, scope),
        rules=rules_of(data, edited, width),
        answers=tuple(shown),
        width=width,
    )
