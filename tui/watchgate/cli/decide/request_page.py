"""One request in full, as `show` prints it: what would run, or what a person is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from watchgate.cli.base.drawn_text import drawn, drawn_fact, drawn_lines, styled_output
from watchgate.core.base import decoding
from watchgate.core.model.assessment import Finding, visible_findings
from watchgate.core.model.outcomes import ending_text, shown_word
from watchgate.core.secrets.redact import redact, redact_all, redacted_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from watchgate.core.model.events import Question

_ABOUT_CHARS = 60
_HEADS = {"question": "QUESTION", "plan": "PLAN"}


_INSTEAD = {
    "pending": "what is above would run",
    "committing": "what is above would run",
    "allowed": "what is above was allowed in its place",
}
"""The line below what was asked, by the state of the request that took its place."""

_RISKS = ("low", "medium", "unknown", "high", "critical")


def print_request(request: dict[str, Any], *, bare: bool = False) -> None:
    """Prints the request that `show` answered with; secrets are covered unless `bare`."""
    for line in page(request, bare=bare, styled=styled_output()):
        print(line, flush=True)


def page(request: dict[str, Any], *, bare: bool = False, styled: bool = False) -> list[str]:
    """The lines of the request that `show` answered with, `styled` for a terminal."""
    from watchgate.ui.widgets.base.text_masking import Masking

    head = _HEADS.get(request.get("asks", ""), request["risk"].upper())
    starts = tuple(sorted({part["span"][0] for part in request.get("segments", ())}))
    look = Masking(bare, starts, one_line=request.get("opaque", False))
    subject = drawn_lines(subject_of(request), look, styled=styled)
    title = f"{head}  {request['tool']['name']}  {request['agent']}  #{request['id'][:4]}"
    own = [
        *_rewritten(request, bare=bare),
        *_findings(request),
        "",
        *(f"  {name:<9}{value}" for name, value in _facts(request).items()),
        *_input(request, bare=bare),
    ]
    asked = [
        line
        for number, question in enumerate(questions_of(request), 1)
        for line in question_lines(question, number, styled=styled)
    ]
    facts = [drawn_fact(line, styled=styled) for line in own]
    return [drawn(title, styled=styled), "", *(f"  {line}" for line in subject), *asked, *facts]


def _input(request: dict[str, Any], *, bare: bool) -> Iterator[str]:
    given = request["tool"]["input"]
    yield f"  {'input':<9}{msgspec.json.encode(given if bare else redact_all(given)).decode()}"
    if not bare and redact_all(given) != given:
        yield f"  {'secrets':<9}covered: watchgate show {request['id'][:4]} --secrets tells them"


def decided_words(done: dict[str, Any]) -> str:
    """Returns the words for a decision and its author, as proven to be there."""
    word, by = done["word"], done["by"]
    author = "" if by.startswith("operator") else f" by {by}"
    return f"{ending_text(word, by)}{author}"


def questions_of(request: dict[str, Any]) -> tuple[Question, ...]:
    """The questions of a request that `show` answered with."""
    from watchgate.core.model.events import Question

    return decoding.convert(request.get("questions", []), tuple[Question, ...])


def print_question(question: Question, number: int) -> None:
    """Prints one question with its numbered choices and what can be typed."""
    for line in question_lines(question, number, styled=styled_output()):
        print(line, flush=True)


def question_lines(question: Question, number: int, *, styled: bool) -> Iterator[str]:
    """The lines of one question, its numbered choices, and what can be typed."""
    from watchgate.core.model.questions import describe_choices

    header = f"  ({question.header})" if question.header not in ("", question.text) else ""
    yield ""
    for at, line in enumerate(drawn_lines(f"{question.text}{header}", styled=styled)):
        yield f"  {f'question {number}' if at == 0 else '':<12}{line}"
    wide = max((len(choice.label) for choice in question.choices), default=0)
    for at, choice in enumerate(question.choices, 1):
        label = drawn(choice.label, styled=styled).ljust(min(wide, 40))
        yield f"  {at:>12}  {label}  {drawn(choice.description, styled=styled)}".rstrip()
    yield f"  {'answer':<12}{drawn(describe_choices(question), styled=styled)}"


def subject_of(request: dict[str, Any]) -> str:
    """Returns the subject, whole: the command, the plan, or the line that stands for it."""
    key = "plan" if request.get("asks") == "plan" else "command"
    text = request["tool"]["input"].get(key)
    return text if isinstance(text, str) and text else request["summary"]


def _rewritten(request: dict[str, Any], *, bare: bool) -> Iterator[str]:
    """Shows what the agent had sent, where somebody made another input of it."""
    before = request.get("before")
    if before is None:
        return
    edited = request.get("edited_from", "")
    author = f"an operator edited #{edited[:4]}" if edited else "a handler rewrote it"
    yield ""
    if "asked" in request:
        risk = request.get("asked_risk", "unknown")
        shown = request["asked"] if bare else redact(request["asked"])
        yield f"  {'asked':<9}{'' if risk == 'unknown' else f'{risk.upper()}  '}{shown}"
    yield f"  {'sent':<9}{msgspec.json.encode(before if bare else redact_all(before)).decode()}"
    yield f"  {'':<9}{author}: {_INSTEAD.get(request['status'], 'what is above took its place')}"


def _findings(request: dict[str, Any]) -> Iterator[str]:
    """Each finding, the gravest first: risk, part, reason, the words that it is about, rule."""
    visible = visible_findings(decoding.convert(request.get("findings", ()), tuple[Finding, ...]))
    findings = sorted(msgspec.to_builtins(visible), key=lambda each: -_RISKS.index(each["risk"]))
    if findings:
        yield ""
    parts = len({segment["number"] for segment in request.get("segments", ())})
    for each in findings:
        part = f"{each['segment']}/{parts} " if each.get("segment") and parts > 1 else ""
        about = _about(request, each.get("span"))
        yield f"  {each['risk']:<9}{part}{each['reason']}{about}  [{each['rule']}]"
        if each.get("suggest"):
            yield f"  {'':<9}safer: {each['suggest']}"


def _about(request: dict[str, Any], span: list[int] | None) -> str:
    """The words that a finding is about, as far as one line has room."""
    if not span:
        return ""
    text = subject_of(request)
    start, end = redacted_span(text, (span[0], span[1]))
    words = redact(text)[start:end]
    return f": {words if len(words) <= _ABOUT_CHARS else words[: _ABOUT_CHARS - 3] + '...'}"


def _facts(request: dict[str, Any]) -> dict[str, str]:
    left_s = request["timeout_s"]
    silence = request.get("silence", "deny")
    races = f"; {request['agent']} asks as well" if request.get("races") else ""
    facts = {
        "why": request["reason"],
        "raised": request.get("raised", ""),
        "touch": _touch(request),
        "rule": request["rule"],
        "cwd": request.get("cwd", ""),
        "lane": request["lane"],
        "silence": f"{silence} {f'after {left_s:.0f} s' if left_s else 'whenever it ends'}{races}",
        "told": "; ".join(map(_escalation, request.get("escalated", ()))),
        "status": request["status"],
        "digest": request["digest"],
    }
    facts = {name: value for name, value in facts.items() if value or name == "cwd"}
    if "ended" in request:
        end = request["ended"]
        why = f", {redact(end['reason'])}" if end.get("reason") else ""
        facts["ended"] = f"{shown_word(end['word'], end['by'])} by {end['by']}{why}"
        facts["waited"] = f"{end['waited_s']:.0f} s"
        given = [" and ".join(each) or "nothing" for each in request["ended"].get("answers", [])]
        if given:
            facts["answers"] = "; ".join(given)
    return facts


def _escalation(each: dict[str, Any]) -> str:
    """Says who else was told of the request, after how long; or why not."""
    if each.get("detail"):
        return f"{each['to']} could not be told ({each['detail']})"
    return f"{each['to']} after {each['waited_s']:.0f} s"


def _touch(request: dict[str, Any]) -> str:
    """Says what the call would touch, as far as somebody looked."""
    facts = ", ".join(fact["text"] for fact in request.get("facts", ()))
    if not request.get("cut"):
        return facts
    return f"{facts}  (not everything was looked at)" if facts else "not known: it took too long"
