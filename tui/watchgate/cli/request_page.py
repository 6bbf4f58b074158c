"""One request in full, as `show` prints it: what would run, or what a person is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from watchgate.cli.output import say
from watchgate.core.text import safe_lines

if TYPE_CHECKING:
    from watchgate.core.events import Question

_HEADS = {"question": "QUESTION", "plan": "PLAN"}


def print_request(found: dict[str, Any]) -> None:
    """Print the request that `show` answered with."""
    head = _HEADS.get(found.get("asks", ""), found["risk"].upper())
    say(f"{head}  {found['tool']['name']}  {found['agent']}  #{found['id'][:4]}")
    say()
    for line in safe_lines(_subject(found)):
        print(f"  {line}")
    for number, question in enumerate(questions_of(found), 1):
        print_question(question, number)
    say()
    for name, value in _facts(found).items():
        say(f"  {name:<9}{value}")
    say(f"  {'input':<9}{msgspec.json.encode(found['tool']['input']).decode()}")


def questions_of(found: dict[str, Any]) -> tuple[Question, ...]:
    """The questions of a request that `show` answered with."""
    from watchgate.core.events import Question

    return msgspec.convert(found.get("questions", []), tuple[Question, ...])


def print_question(question: Question, number: int) -> None:
    """Print one question with its numbered choices and what can be typed."""
    from watchgate.core.typed_answers import how

    header = f"  ({question.header})" if question.header not in ("", question.text) else ""
    say()
    lines = safe_lines(f"{question.text}{header}")
    for at, line in enumerate(lines):
        print(f"  {f'question {number}' if at == 0 else '':<12}{line}")
    wide = max((len(choice.label) for choice in question.choices), default=0)
    for at, choice in enumerate(question.choices, 1):
        say(f"  {at:>12}  {choice.label:<{min(wide, 40)}}  {choice.description}".rstrip())
    say(f"  {'answer':<12}{how(question)}")


def _subject(found: dict[str, Any]) -> str:
    """What is decided about, whole: the command, the plan, or the line that stands for it."""
    key = "plan" if found.get("asks") == "plan" else "command"
    text = found["tool"]["input"].get(key)
    return text if isinstance(text, str) and text else found["summary"]


def _facts(found: dict[str, Any]) -> dict[str, str]:
    left_s = found["timeout_s"]
    silence = found.get("silence", "deny")
    races = f"; {found['agent']} asks as well" if found.get("races") else ""
    facts = {
        "why": found["reason"],
        "rule": found["rule"],
        "cwd": found.get("cwd", ""),
        "lane": found["lane"],
        "silence": f"{silence} {f'after {left_s:.0f} s' if left_s else 'whenever it ends'}{races}",
        "status": found["status"],
        "digest": found["digest"],
    }
    if "ended" in found:
        facts["ended"] = f"{found['ended']['word']} by {found['ended']['by']}"
        given = [" and ".join(each) or "nothing" for each in found["ended"].get("answers", [])]
        if given:
            facts["answers"] = "; ".join(given)
    return facts
