"""`answer`: what a person says to an agent's questions, from a script or another terminal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.ask import ask, needs_core_at_terminal
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say
from watchgate.cli.base.typed_input import needs_terminal, typed
from watchgate.cli.decide.request_page import decided_words, print_question, questions_of
from watchgate.cli.decide.typed_consent import show_to_end
from watchgate.cli.presence.program_token import UNREGISTERED, add_token_option, given_token
from watchgate.link.protocol import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from watchgate.core.model.events import Question

Commands = Any
Given = tuple[tuple[str, ...], ...]


def add_parser(commands: Commands) -> None:
    """Adds the command."""
    answer = commands.add_parser(
        "answer",
        help="answer an agent's questions",
        epilog="example: watchgate answer a41f --digest 3f0c... 2 'lint, types'   "
        "(without --digest it shows and asks; `watchgate deny` declines)",
    )
    answer.add_argument("id", metavar="ID", help="request id or a unique prefix of 4 or more")
    answer.add_argument(
        "answers",
        metavar="ANSWER",
        nargs="*",
        help="one for each question: a choice's number or label, several with commas, or words "
        "of your own; =2 means the word 2, '' leaves one out that may be left out",
    )
    answer.add_argument("--digest", metavar="D", help="digest of what you were shown")
    answer.add_argument("--as", dest="name", metavar="NAME", help="the name to sign with")
    answer.add_argument("--json", action="store_true", help="print the result as JSON")
    add_token_option(answer)
    answer.set_defaults(run=_answer)
    answer.intermixed = True


def _answer(args: argparse.Namespace) -> int:
    if args.digest is None:
        needs_core_at_terminal(
            "answer needs --digest (see watchgate show ID) or a terminal to ask on"
        )
    request = ask(Request(id=1, verb="show", request=args.id))["request"]
    if "answer" not in request.get("offered", ()):
        raise Stop(f"not_offered: {_instead(request)}")
    questions = questions_of(request)
    token = given_token(args.token_file)
    if args.digest is None:
        given = _ask_a_person(request, questions, args.answers)
    else:
        if token is None:
            needs_terminal(UNREGISTERED)
        given = _read(questions, args.answers)
    done = ask(
        Request(
            id=1,
            verb="decide",
            request=request["id"],
            decision="answer",
            digest=args.digest or request["digest"],
            answers=given,
            as_=args.name,
            confirmed=True,
            token=token,
        )
    )
    if args.json:
        json_line(done)
    else:
        say(f"#{done['request'][:4]} {decided_words(done)}")
    return Exit.DONE


def _instead(request: dict[str, Any]) -> str:
    """Names the command that decides a request which asks nothing."""
    what = "plan" if request.get("asks") == "plan" else "call"
    return f"this is a {what}, not a question: watchgate allow or deny {request['id'][:4]}"


def _read(questions: Sequence[Question], answers: Sequence[str]) -> Given:
    from watchgate.core.model.questions import read_answer

    if len(answers) != len(questions):
        asked = "; ".join(f"{at}. {each.text}" for at, each in enumerate(questions, 1))
        raise Stop(
            f"one ANSWER for each question is needed: {len(questions)}, not {len(answers)}: "
            f"{asked}",
            Exit.USAGE,
        )
    given = []
    for number, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
        try:
            given.append(read_answer(question, answer))
        except ValueError as fault:
            raise Stop(f"question {number}: {fault}", Exit.USAGE) from None
    return tuple(given)


def _ask_a_person(
    request: dict[str, Any], questions: Sequence[Question], answers: Sequence[str]
) -> Given:
    """Shows the whole request; takes each answer at the terminal, or a yes to those given."""
    show_to_end(request)
    if answers:
        given = _read(questions, answers)
        if typed("\nType yes to send these answers, anything else to leave it waiting: ") != "yes":
            raise Stop("nothing was answered; the request still waits")
        return given
    return tuple(
        _answered(question, number, len(questions)) for number, question in enumerate(questions, 1)
    )


def _answered(question: Question, number: int, count: int) -> tuple[str, ...]:
    from watchgate.core.model.questions import read_answer

    if count > 1:
        print_question(question, number)
    while True:
        answer = typed("\nAnswer (nothing leaves it waiting): ")
        if not answer and question.required:
            raise Stop("nothing was answered; the request still waits")
        try:
            return read_answer(question, answer)
        except ValueError as fault:
            complain(str(fault))
