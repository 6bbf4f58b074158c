"""What Claude Code asks a person, and the exact bytes that answer it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.payloads import decoded
from watchgate.agents.base import HookAnswer
from watchgate.agents.claude import ClaudeAdapter
from watchgate.agents.claude.claude_questions import answered
from watchgate.core.model.events import Can, Choice, Event, Lane, Question, ToolCall
from watchgate.core.model.verdicts import SayAllow, SayAnswer, SayDeny, SayNothing

CLAUDE = ClaudeAdapter()
NOTHING = HookAnswer()
ASKED: dict[str, Any] = {
    "questions": [
        {
            "question": "Which store?",
            "header": "Store",
            "multiSelect": False,
            "options": [
                {"label": "A file", "description": "nothing to run"},
                {"label": "A server", "description": "", "preview": "ignored"},
            ],
        },
        {
            "question": "Which checks?",
            "header": "Checks",
            "multiSelect": True,
            "options": [{"label": "lint"}, {"label": "types"}],
        },
    ]
}
PLAN = {
    "plan": "# Split the parser\n\n1. Move it\n",
    "planFilePath": "/home/dev/.claude/plans/p.md",
}
FORM: dict[str, Any] = {
    "mcp_server_name": "forms",
    "message": "Who are you?",
    "mode": "form",
    "requested_schema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name"],
    },
}


def permission(tool: str, args: dict[str, Any]) -> Event:
    return decoded(CLAUDE, "PermissionRequest", lane=Lane.RELAY, tool_name=tool, tool_input=args)


def questions_of(event: Event) -> tuple[Question, ...]:
    assert isinstance(event.body, ToolCall)
    return event.body.questions


def told(event: Event, reply: SayAllow | SayDeny | SayNothing | SayAnswer) -> Any:
    said = CLAUDE.answer(event, reply)
    assert (said.stderr, said.exit_code) == (b"", 0)
    return json.loads(said.stdout)["hookSpecificOutput"]


def test_its_questions_are_read_with_their_choices() -> None:
    event = permission("AskUserQuestion", ASKED)

    assert event.kind == "question"
    assert event.can == Can(deny=True, stop=True, answer=True)
    assert questions_of(event) == (
        Question(
            "Which store?",
            key="Which store?",
            header="Store",
            choices=(Choice("A file", "nothing to run"), Choice("A server")),
        ),
        Question(
            "Which checks?",
            key="Which checks?",
            header="Checks",
            choices=(Choice("lint"), Choice("types")),
            multiple=True,
        ),
    )


def test_an_answer_repeats_the_input_and_names_each_question() -> None:
    """Without the questions Claude refuses the rewritten input, and the call with it."""
    output = told(
        permission("AskUserQuestion", ASKED), SayAnswer((("A server",), ("lint", "types")))
    )

    assert output == {
        "hookEventName": "PermissionRequest",
        "decision": {
            "behavior": "allow",
            "updatedInput": {
                **ASKED,
                "answers": {"Which store?": "A server", "Which checks?": "lint, types"},
            },
        },
    }


def test_words_of_ones_own_are_told_as_they_are() -> None:
    said = answered(ASKED, (("neither, ask the team",), ("lint",)))

    assert said["answers"]["Which store?"] == "neither, ask the team"


def test_a_denied_question_tells_the_model_why() -> None:
    assert told(permission("AskUserQuestion", ASKED), SayDeny("decide yourself"))["decision"] == {
        "behavior": "deny",
        "message": "decide yourself",
    }


def test_a_question_is_never_allowed_without_answers() -> None:
    """Claude would go on as if nobody had answered."""
    assert CLAUDE.answer(permission("AskUserQuestion", ASKED), SayAllow()) == NOTHING


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"questions": "why"},
        {"questions": [{"header": "no text"}]},
        {"questions": [{"question": "Same?"}, {"question": "Same?"}]},
    ],
)
def test_questions_that_cannot_be_told_apart_are_left_to_claude(args: dict[str, Any]) -> None:
    event = permission("AskUserQuestion", args)

    assert event.kind == "question"
    assert event.can == Can()


def test_an_approved_plan_repeats_its_input() -> None:
    """A bare allow leaves the plan's dialog standing."""
    event = permission("ExitPlanMode", PLAN)

    assert event.kind == "question"
    assert event.can == Can(allow=True, deny=True, stop=True)
    assert questions_of(event) == ()
    assert told(event, SayAllow())["decision"] == {"behavior": "allow", "updatedInput": PLAN}


def test_a_plan_is_denied_with_a_comment() -> None:
    event = permission("ExitPlanMode", PLAN)

    assert told(event, SayDeny("keep the old name", stop=True))["decision"] == {
        "behavior": "deny",
        "message": "keep the old name",
        "interrupt": True,
    }


def test_a_form_is_asked_field_by_field() -> None:
    event = decoded(CLAUDE, "Elicitation", lane=Lane.RELAY, **FORM)

    assert event.kind == "question"
    assert event.can == Can(deny=True, answer=True)
    assert not event.races_dialog  # Claude shows its own dialog only after the hook
    assert [each.key for each in questions_of(event)] == ["name", "age"]
    assert event.tool is not None
    assert event.tool.input["message"] == "Who are you?"


def test_a_filled_in_form_holds_values_of_their_own_types() -> None:
    event = decoded(CLAUDE, "Elicitation", lane=Lane.RELAY, **FORM)

    assert told(event, SayAnswer((("ann",), ("41",)))) == {
        "hookEventName": "Elicitation",
        "action": "accept",
        "content": {"name": "ann", "age": 41},
    }
    assert told(event, SayAnswer((("ann",), ())))["content"] == {"name": "ann"}


def test_a_denied_form_is_declined() -> None:
    event = decoded(CLAUDE, "Elicitation", lane=Lane.RELAY, **FORM)

    assert told(event, SayDeny("no")) == {"hookEventName": "Elicitation", "action": "decline"}


def test_a_page_to_be_opened_is_left_to_claude() -> None:
    page: dict[str, Any] = {
        "mcp_server_name": "login",
        "message": "Sign in",
        "mode": "url",
        "url": "https://x.test",
    }
    event = decoded(CLAUDE, "Elicitation", lane=Lane.RELAY, **page)

    assert event.can == Can()
    assert event.tool is not None
    assert event.tool.input["url"] == "https://x.test"


@pytest.mark.parametrize(
    "event",
    [
        permission("AskUserQuestion", ASKED),
        permission("ExitPlanMode", PLAN),
        decoded(CLAUDE, "Elicitation", lane=Lane.RELAY, **FORM),
    ],
)
def test_handed_back_nothing_is_said(event: Event) -> None:
    assert CLAUDE.answer(event, SayNothing()) == NOTHING


@pytest.mark.parametrize("profile", ["watch", "guard", "strict"])
def test_forms_wait_for_an_operator_in_every_profile(profile: str) -> None:
    lanes = [each.lane for each in CLAUDE.entries(profile) if each.event == "Elicitation"]

    assert lanes == [Lane.RELAY]
