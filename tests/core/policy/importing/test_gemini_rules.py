from __future__ import annotations

import pytest

from tests.core.policy.importing.reading import made, shapes
from watchgate.core.policy.importing import gemini_rules
from watchgate.core.policy.importing.imported_rule import Imported, ImportFault

SHELL = 'toolName = "run_shell_command"\npriority = 10\n'


def one(keys: str) -> Imported:
    (found,) = gemini_rules.read(f"[[rule]]\n{keys}")
    return found


def test_a_prefix_fits_whole_words_as_in_gemini() -> None:
    found = one(SHELL + 'commandPrefix = ["git status", "ls"]\ndecision = "allow"')
    assert found.outcome == "understood"
    assert [shape.line for shape in shapes(found)] == ["git status *", "ls *"]


def test_a_message_becomes_the_reason() -> None:
    found = one(SHELL + 'commandPrefix = "rm -rf"\ndecision = "deny"\ndeny_message = "Use trash."')
    assert (made(found).decision, made(found).reason) == ("deny", "Use trash.")


@pytest.mark.parametrize(
    ("keys", "tools"),
    [
        ('mcpName = "srv"', ("mcp_srv_*", "mcp__srv__*")),
        ('mcpName = "srv"\ntoolName = "get"', ("mcp_srv_get", "mcp__srv__get")),
        ('toolName = ["write_file", "replace"]', ("write_file", "replace")),
        ('toolName = "mcp_srv_*"', "mcp_srv_*"),
    ],
)
def test_tools_and_servers_are_known_by_their_names(
    keys: str, tools: str | tuple[str, ...]
) -> None:
    assert made(one(f'{keys}\npriority = 1\ndecision = "allow"')).tools == tools


def test_what_asks_may_be_for_every_tool() -> None:
    assert made(one('priority = 1\ndecision = "ask_user"')).tools == "*"
    rule = made(one('mcpName = "*"\npriority = 1\ndecision = "deny"'))
    assert rule.tools == ("<mcp>", "mcp_*")


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("", "every command"),
        ('toolName = "run_shell_command"', "every command"),
        ('toolName = "*"', "every command"),
        ('toolName = "mcp_*"', "every command"),
        ('toolName = "mcp_*_get"', "every command"),
        ('mcpName = "*"', "name the server"),
        ('toolName = "replace"\nmodes = ["yolo"]', "only for modes"),
        ('toolName = "replace"\ninteractive = true', "only for interactive"),
        ('toolName = "replace"\nsubagent = "x"', "only for subagent"),
        ('toolName = "replace"\nargsPattern = "x"', "argsPattern"),
        ('toolName = "replace"\ntoolAnnotations = { readOnlyHint = true }', "says of itself"),
        ('toolName = "replace"\ncommandPrefix = "ls"', "need toolName"),
        ('toolName = "run_shell_command"\ncommandRegex = "ls"', "regular expression"),
        ('toolName = "run_shell_command"\ncommandPrefix = "ls *"', "stands for anything"),
        ('toolName = "replace"\nnew_key = 1', "not understood"),
    ],
)
def test_what_would_allow_more_than_it_says_is_refused(keys: str, why: str) -> None:
    found = one(f'{keys}\npriority = 1\ndecision = "allow"')
    assert (found.outcome, found.rule) == ("refused", None)
    assert why in found.note


def test_conditions_that_are_not_known_here_only_make_a_denial_stricter() -> None:
    found = one('toolName = "replace"\npriority = 1\nmodes = ["plan"]\ndecision = "deny"')
    assert (found.outcome, made(found).tools) == ("approximated", "replace")
    assert "holds always" in found.note


def test_a_regular_expression_may_deny_and_is_said_to_see_the_beginning_only() -> None:
    found = one(SHELL + 'commandRegex = "git (push|commit)"\ndecision = "deny"')
    assert (made(found).raw, found.outcome) == ("^(?:git (push|commit))", "approximated")


def test_a_denial_that_an_allow_of_a_higher_priority_beats_there_is_said_to_win_here() -> None:
    denial, allow = gemini_rules.read(
        '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 1\n'
        '[[rule]]\ntoolName = "replace"\ndecision = "allow"\npriority = 9\n'
    )
    assert (denial.outcome, allow.outcome) == ("approximated", "understood")
    assert "priorities do not count" in denial.note


def test_other_tables_are_said_and_not_passed_over() -> None:
    (found,) = gemini_rules.read("[[safety_checker]]\npriority = 1\n")
    assert (found.source, found.outcome) == ("safety_checker", "refused")


@pytest.mark.parametrize("text", ["[[rule", "rule = 1", 'rule = ["x"]'])
def test_a_text_that_is_no_policy_file_is_a_fault(text: str) -> None:
    with pytest.raises(ImportFault):
        gemini_rules.read(text)
