"""Questions of Claude Code to a person: its own, its plans, and the forms of MCP servers.

Wire format: `AskUserQuestion`, `ExitPlanMode` and the hook event `Elicitation` of Claude Code 2.1,
as measured with 2.1.329. A rewritten input is checked against the tool's schema, so it repeats all
that the tool was given; without one, the allow of a question or plan leaves the dialog standing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from watchgate.agents.base import HookAnswer
from watchgate.agents.forms import form, values
from watchgate.agents.hooks import answers as hook_answers
from watchgate.agents.hooks.event_bodies import describe_tool
from watchgate.core.base import decoding
from watchgate.core.model.events import Body, Can, Choice, Question, ToolCall
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny

ELICITATION: Final = "Elicitation"
ANSWERABLE: Final = Can(deny=True, stop=True, answer=True)
APPROVABLE: Final = Can(allow=True, deny=True, stop=True)
FORM: Final = Can(deny=True, answer=True)
_BETWEEN = ", "


class _Option(msgspec.Struct, frozen=True):
    label: str
    description: str = ""


class _AskedQuestion(msgspec.Struct, frozen=True, rename="camel"):
    question: str
    header: str = ""
    options: tuple[_Option, ...] = ()
    multi_select: bool = False


class _Elicited(msgspec.Struct, frozen=True):
    mcp_server_name: str = ""
    message: str = ""
    url: str = ""
    requested_schema: Any = None


def asked(body: Body) -> Body:
    """Returns the call of a question or plan, with the questions that it puts to a person."""
    if not isinstance(body, ToolCall) or body.tool.cls != "question":
        return body
    return msgspec.structs.replace(body, questions=questions(body.tool.input))


def questions(args: dict[str, Any]) -> tuple[Question, ...]:
    """Returns the questions in AskUserQuestion's input; none if they cannot be told apart."""
    try:
        asked_questions = decoding.convert(args.get("questions"), tuple[_AskedQuestion, ...])
    except msgspec.ValidationError:
        return ()
    if len({each.question for each in asked_questions}) < len(asked_questions):
        return ()  # Claude knows an answer by its question's text alone.
    return tuple(
        Question(
            text=each.question,
            key=each.question,
            header=each.header,
            choices=tuple(Choice(option.label, option.description) for option in each.options),
            multiple=each.multi_select,
        )
        for each in asked_questions
    )


def elicitation(payload: bytes) -> ToolCall:
    """Returns the form that an MCP server wants filled in, as a call of the event's own name."""
    try:
        form_request = decoding.decode(payload, _Elicited)
    except msgspec.DecodeError:
        form_request = _Elicited()
    optional = {"url": form_request.url, "requested_schema": form_request.requested_schema}
    args = {
        "mcp_server_name": form_request.mcp_server_name,
        "message": form_request.message,
        **{key: value for key, value in optional.items() if value},
    }
    tool = describe_tool(ELICITATION, args, None, {ELICITATION: "question"})
    return ToolCall(tool, form(form_request.requested_schema))


def able(body: Body) -> Can:
    """Returns the replies that Claude Code can be told to this question, plan or form."""
    if not isinstance(body, ToolCall):
        return Can()
    if body.tool.cls == "plan":
        return APPROVABLE
    if not body.questions:
        return Can()
    return FORM if body.tool.native_name == ELICITATION else ANSWERABLE


def answered(args: dict[str, Any], answers: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Returns the input of AskUserQuestion with a person's answers: `{question: "label, label"}`.

    It is what a PermissionRequest hook and a `can_use_tool` control response give back.
    """
    pairs = zip(questions(args), answers, strict=True)
    labels = {question.key: _BETWEEN.join(given) for question, given in pairs if given}
    return {**args, "answers": labels}


def answer(body: ToolCall, reply: Reply) -> HookAnswer:
    """Returns the answer that Claude Code obeys on a question, plan or form; else an empty one."""
    tool = body.tool
    if tool.native_name == ELICITATION:
        return _form_answer(body, reply)
    match reply:
        case SayAnswer(answers=answers) if tool.cls == "question":
            return hook_answers.permission_allow(answered(tool.input, answers))
        case SayAllow() if tool.cls == "plan":
            return hook_answers.permission_allow(tool.input)
        case SayDeny(reason=reason, stop=stop):
            return hook_answers.permission_deny(reason, interrupt=stop)
        case _:
            return hook_answers.NOTHING


def _form_answer(body: ToolCall, reply: Reply) -> HookAnswer:
    match reply:
        case SayAnswer(answers=answers):
            action = {"action": "accept", "content": values(body.questions, answers)}
        case SayDeny():
            action = {"action": "decline"}
        case _:
            return hook_answers.NOTHING
    output = {"hookSpecificOutput": {"hookEventName": ELICITATION, **action}}
    return HookAnswer(stdout=msgspec.json.encode(output))
