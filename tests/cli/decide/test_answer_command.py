"""An agent's questions and plans on the command line."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.terminal import Terminal
from watchgate.cli.base.printing import Exit

Asked = Callable[..., tuple[dict[str, Any], socket.socket]]

STORE = {
    "question": "Which store?",
    "header": "Store",
    "multiSelect": False,
    "options": [
        {"label": "A file", "description": "nothing to run"},
        {"label": "A server", "description": "one more program"},
    ],
}
CHECKS = {
    "question": "Which checks?",
    "header": "Checks",
    "multiSelect": True,
    "options": [{"label": "lint"}, {"label": "types"}],
}
BOTH = {"questions": [STORE, CHECKS]}
PLAN = {"plan": "# Split the parser\n\n1. Move it\n2. Test it\n"}


def told(hook: socket.socket) -> Any:
    """The decision in the bytes that the hook is given to print."""
    head, _, rest = hook.makefile("rb").read().partition(b"\n")
    printed = rest[: int(head.split()[1])]
    return json.loads(printed)["hookSpecificOutput"]["decision"] if printed else None


def test_ls_names_the_kind_of_item(cli: Cli, asked: Asked) -> None:
    asked("AskUserQuestion", BOTH)
    asked("ExitPlanMode", PLAN)
    lines = cli("ls", "--json").lines
    assert [(line["asks"], line["summary"]) for line in lines] == [
        ("question", "Which store?"),
        ("plan", "Split the parser"),
    ]
    assert "question  AskUserQuestion" in cli("ls").out


def test_show_numbers_the_choices(cli: Cli, asked: Asked) -> None:
    request, _ = asked("AskUserQuestion", BOTH)
    said = cli("show", request["id"]).out
    for part in ("QUESTION", "Which store?", "1  A file", "2  A server  one more program", "types"):
        assert part in said
    assert "several, with commas" in said


def test_show_prints_a_plan_to_its_end(cli: Cli, asked: Asked) -> None:
    request, _ = asked("ExitPlanMode", PLAN)
    said = cli("show", request["id"]).out
    assert "PLAN" in said
    assert "  # Split the parser\n  \n  1. Move it\n  2. Test it\n" in said


def test_answers_by_number_and_label_reach_the_agent(cli: Cli, asked: Asked) -> None:
    request, hook = asked("AskUserQuestion", BOTH)
    said = cli("answer", request["id"][:6], "--digest", request["digest"], "2", "types, lint")
    assert (said.code, said.out) == (
        Exit.DONE,
        f"#{request['id'][:4]} answered by program tests (token)\n",
    )
    assert told(hook)["updatedInput"]["answers"] == {
        "Which store?": "A server",
        "Which checks?": "types, lint",
    }
    (whole,) = cli("show", request["id"], "--json").lines
    assert whole["ended"]["answers"] == [["A server"], ["types", "lint"]]
    assert "answers  A server; types and lint" in cli("show", request["id"]).out


def test_words_of_ones_own_reach_the_agent(cli: Cli, asked: Asked) -> None:
    request, hook = asked("AskUserQuestion", {"questions": [STORE]})
    cli("answer", request["id"], "--digest", request["digest"], "neither, ask the team")
    assert told(hook)["updatedInput"]["answers"] == {"Which store?": "neither, ask the team"}


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ((), "2, not 0: 1. Which store?; 2. Which checks?"),
        (("1",), "2, not 1"),
        (("3", "1"), "question 1: there is no choice 3"),
        (("1", ""), "question 2: it needs an answer"),
    ],
)
def test_answers_that_do_not_fit_are_a_usage_error(
    cli: Cli, asked: Asked, answers: tuple[str, ...], why: str
) -> None:
    request, _ = asked("AskUserQuestion", BOTH)
    said = cli("answer", request["id"], "--digest", request["digest"], *answers)
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert why in said.err
    assert len(cli("ls", "--json").lines) == 1


def test_an_answer_without_a_digest_needs_a_terminal(cli: Cli, asked: Asked) -> None:
    request, _ = asked("AskUserQuestion", BOTH)
    said = cli("answer", request["id"], "1", "1")
    assert (said.code, "--digest" in said.err) == (Exit.USAGE, True)


def test_an_answer_to_something_else_than_was_shown_is_refused(cli: Cli, asked: Asked) -> None:
    request, _ = asked("AskUserQuestion", BOTH)
    said = cli("answer", request["id"], "--digest", "0" * 64, "1", "1")
    assert (said.code, "digest_mismatch" in said.err) == (Exit.REFUSED, True)


def test_a_question_is_not_allowed_but_answered(cli: Cli, asked: Asked) -> None:
    request, _ = asked("AskUserQuestion", BOTH)
    said = cli("allow", request["id"], "--digest", request["digest"])
    assert (said.code, "not_offered" in said.err) == (Exit.REFUSED, True)
    assert "watchgate answer" in said.err


def test_a_question_is_declined_with_a_reason(cli: Cli, asked: Asked) -> None:
    request, hook = asked("AskUserQuestion", BOTH)
    assert cli("deny", request["id"], "--reason", "decide yourself").code == Exit.DONE
    assert "decide yourself" in told(hook)["message"]


def test_a_question_handed_back_is_asked_by_the_agent(cli: Cli, asked: Asked) -> None:
    request, hook = asked("AskUserQuestion", BOTH)
    assert cli("handback", request["id"]).code == Exit.DONE
    assert told(hook) is None


def test_a_plan_is_allowed_and_not_answered(cli: Cli, asked: Asked) -> None:
    request, hook = asked("ExitPlanMode", PLAN)
    wrong = cli("answer", request["id"], "--digest", request["digest"], "yes")
    assert (wrong.code, "this is a plan" in wrong.err) == (Exit.REFUSED, True)
    assert cli("allow", request["id"], "--digest", request["digest"]).code == Exit.DONE
    assert told(hook) == {"behavior": "allow", "updatedInput": PLAN}


def test_a_plan_is_denied_with_a_comment(cli: Cli, asked: Asked) -> None:
    request, hook = asked("ExitPlanMode", PLAN)
    cli("deny", request["id"], "--reason", "keep the old name")
    assert "keep the old name" in told(hook)["message"]


def test_a_late_answer_exits_4(cli: Cli, asked: Asked) -> None:
    request, _ = asked("AskUserQuestion", BOTH)
    cli("deny", request["id"])
    late = cli("answer", request["id"], "--digest", request["digest"], "1", "1")
    assert (late.code, "already_settled" in late.err) == (Exit.TOO_LATE, True)


def test_a_question_of_an_agent_cannot_smuggle_anything_onto_the_terminal(
    cli: Cli, asked: Asked
) -> None:
    odd = {**STORE, "question": "Which \x1b[2J?", "options": [{"label": "\u202e"}, {"label": "b"}]}
    request, _ = asked("AskUserQuestion", {"questions": [odd]})
    said = cli("show", request["id"]).out
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_at_a_terminal_each_question_is_asked_until_it_is_answered(cli: Cli, asked: Asked) -> None:
    request, hook = asked("AskUserQuestion", BOTH)
    with Terminal("answer", request["id"]) as terminal:
        terminal.wait_for("Answer (")
        terminal.type("7\n")
        terminal.wait_for("no choice 7")
        terminal.type("1\n")
        terminal.wait_for("Which checks?")
        terminal.type("1,2\n")
        terminal.wait_for("answered by operator")
    assert told(hook)["updatedInput"]["answers"] == {
        "Which store?": "A file",
        "Which checks?": "lint, types",
    }
