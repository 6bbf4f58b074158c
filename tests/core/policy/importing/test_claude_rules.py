from __future__ import annotations

import json

import pytest

from tests.core.policy.importing.reading import BASE, made, one, shapes
from watchgate.core.policy.importing import claude_rules
from watchgate.core.policy.importing.imported_rule import ImportFault
from watchgate.core.policy.inputs.rule_file import CommandMatch, PathMatch


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("Bash(git push:*)", "git push *"),
        ("Bash(git push *)", "git push *"),
        ("Bash(npm test)", "npm test"),
        ("Bash(npm * --save)", "npm * --save"),
        ('Bash(git commit -m "two words")', "git commit -m 'two words'"),
        (r"Bash(echo a\ b)", "echo 'a b'"),
        ('Bash(rg "a|b" *)', "rg a|b *"),
    ],
)
def test_a_command_is_understood_as_its_decoded_words(rule: str, line: str) -> None:
    found = one(rule)
    assert (found.outcome, found.note) == ("understood", "")
    program = line.partition(" ")[0]
    assert shapes(found) == (CommandMatch(program=program, line=line, flags="*"),)


def test_a_denial_of_first_words_also_sees_options_in_front_of_them() -> None:
    shape, wider = shapes(one("Bash(git push *)", "deny"))
    assert (shape.line, wider.sub, wider.flags) == ("git push *", "push", None)


def test_a_denial_of_flags_sees_them_in_any_order_and_spelling() -> None:
    shape, wider = shapes(one("Bash(git push -fu --no-verify *)", "deny"))
    assert shape.line == "git push -fu --no-verify *"
    assert (wider.sub, wider.all_flag) == ("push", ("-f", "-u", "--no-verify"))


def test_a_pattern_that_goes_on_within_a_word_is_taken_with_a_warning() -> None:
    found = one("Bash(git push*)")
    assert (found.outcome, shapes(found)[0].line) == ("approximated", "git push*")
    assert "only begin so" in found.note


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("Bash", "every command"),
        ("Bash(*)", "every command"),
        ("Bash(:*)", "every command"),
        ("Bash(ls*)", "names its program"),
        ("Bash(* --version)", "names its program"),
        ("Bash(/usr/bin/git status)", "found by their name"),
        ("Bash(curl * | sh)", "operator |"),
        ("Bash(cd x && make)", "operator &&"),
        ("Bash(make > out)", "operator >"),
        ("Bash(FOO=1 make)", "variable"),
        ("Bash(echo 'x)", "not closed"),
        ("Bash(make\nrm x)", "line break"),
        ("Bash()", "names no command"),
        ("*", "nobody has seen"),
        ("mcp__*", "name the server"),
        ("Write(/src/**)", "Edit(...)"),
        ("Read(!secret)", "exception"),
        ("Agent(model:opus)", "one field"),
        ("Bash(run_in_background:true)", "every command"),
        ("WebFetch(example.com)", "nothing is known"),
        ("WebFetch(domain:)", "names no host"),
        ("WebFetch(domain:@address)", "names no host"),
        ("Read(@outside)", "names of sets"),
        ("Edit(./@inside)", "names of sets"),
        ("Cd(~/code/**)", "nothing is known"),
        ("Bash(ls", "brackets"),
        ("two words", "brackets"),
    ],
)
def test_what_would_allow_more_than_it_says_is_refused_with_the_reason(rule: str, why: str) -> None:
    found = one(rule)
    assert (found.outcome, found.rule) == ("refused", None)
    assert why in found.note


@pytest.mark.parametrize(
    ("rule", "said", "paths", "outcome"),
    [
        ("Read(//etc/shadow)", "deny", PathMatch(any="/etc/shadow"), "understood"),
        ("Read(~/.ssh/**)", "ask", PathMatch(access="read", any="~/.ssh/**"), "understood"),
        ("Edit(/src/*.ts)", "ask", PathMatch(access="write", any=f"{BASE}/src/*.ts"), "understood"),
        ("Read(.env)", "deny", PathMatch(any="**/.env"), "approximated"),
        ("Edit(src/**)", "deny", PathMatch(access="write", any="**/src/**"), "approximated"),
        ("Write(./x)", "deny", PathMatch(access="write", any="**/x"), "approximated"),
        (
            "Edit(./src/**)",
            "allow",
            PathMatch(access="write", any="src/**", none="@outside"),
            "understood",
        ),
        (
            "Read(*.md)",
            "allow",
            PathMatch(access="read", any="*.md", none="@outside"),
            "understood",
        ),
    ],
)
def test_paths_begin_where_claude_code_lets_them_begin(
    rule: str, said: str, paths: PathMatch, outcome: str
) -> None:
    found = one(rule, said)
    assert (made(found).paths, found.outcome) == (paths, outcome)


def test_an_allow_for_paths_is_for_file_tools_and_a_denial_for_commands_too() -> None:
    assert made(one("Edit(/src/**)")).tools == "<edit>"
    assert made(one("Edit(/src/**)", "deny")).tools == ()


def test_an_allow_for_every_edit_stays_within_the_session_s_folder() -> None:
    found = one("Edit")
    assert found.outcome == "approximated"
    assert made(found).paths == PathMatch(access="write", any="**", none="@outside")


@pytest.mark.parametrize(
    ("rule", "tools"),
    [
        ("mcp__github", "mcp__github__*"),
        ("mcp__github__*", "mcp__github__*"),
        ("mcp__github__get_issue", "mcp__github__get_issue"),
        ("Task", ("Agent", "Task")),
        ("WebSearch", "WebSearch"),
        ("Read", "<read>"),
    ],
)
def test_tools_and_servers_are_known_by_their_names(rule: str, tools: str) -> None:
    found = one(rule)
    assert (found.outcome, made(found).tools) == ("understood", tools)


def test_a_denial_may_be_for_every_server_and_every_tool() -> None:
    assert made(one("mcp__*", "deny")).tools == ("<mcp>", "mcp__*")
    assert made(one("*", "deny")).tools == "*"
    assert made(one("Bash", "deny")).tools == "<shell>"


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("Agent(model:opus)", {"model": "opus"}),
        ("Agent(Explore)", {"subagent_type": "Explore"}),
        ("Bash(run_in_background:true)", {"run_in_background": "true"}),
        ("Skill(deploy *)", {"skill": "deploy"}),
    ],
)
def test_a_field_of_the_input_can_be_asked_about(rule: str, fields: dict[str, str]) -> None:
    assert made(one(rule, "ask")).input == fields


def test_a_field_with_a_form_of_its_own_is_refused_as_claude_code_never_looks_at_it() -> None:
    assert "never looks" in one("Bash(command:rm *)", "deny").note


def test_a_host_is_the_host_of_a_fetch() -> None:
    rule = made(one("WebFetch(domain:*.example.com)"))
    assert (rule.tools, rule.hosts) == ("WebFetch", "*.example.com")


def test_an_unknown_tool_is_taken_and_said_to_be_unknown() -> None:
    found = one("Bsah", "deny")
    assert (found.outcome, made(found).tools) == ("approximated", "Bsah")
    assert "known here" in found.note


def test_settings_that_are_no_rules_are_said_and_not_passed_over() -> None:
    text = json.dumps({"permissions": {"allow": [], "defaultMode": "acceptEdits"}})
    (found,) = claude_rules.read(text, BASE)
    assert (found.source, found.outcome) == ("defaultMode", "refused")


def test_every_rule_has_an_id_of_its_own_that_tells_what_it_is_about() -> None:
    lists = {"deny": ["Bash(git push:*)", "Bash(git push *)"], "allow": ["Bash(git push *)"]}
    ids = [made(each).id for each in claude_rules.read(json.dumps(lists), BASE)]
    assert ids == ["claude.deny-git-push", "claude.deny-git-push-2", "claude.allow-git-push"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[]", "not an object"),
        ('{"model": "opus"}', "no `permissions`"),
        ('{"permissions": []}', "not an object with the lists"),
        ('{"permissions": {"allow": "Bash"}}', "allow is not a list"),
        ('{"permissions": {"deny": [1]}}', "deny is not a list"),
    ],
)
def test_a_text_that_is_no_settings_file_is_a_fault(text: str, says: str) -> None:
    with pytest.raises(ImportFault, match=says):
        claude_rules.read(text, BASE)
