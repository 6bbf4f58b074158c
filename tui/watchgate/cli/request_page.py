"""One request in full, as `show` prints it: what would run, or what a person is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from watchgate.cli.drawn_text import drawn, drawn_fact, drawn_lines, styled_output
from watchgate.core import decoding
from watchgate.core.policy.assessment import Finding
from watchgate.core.policy.telling import telling
from watchgate.core.presence.shown_word import shown_word
from watchgate.core.redact import redact, redact_all, redacted_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from watchgate.core.events import Question

_ABOUT_CHARS = 60
_HEADS = {"question": "QUESTION", "plan": "PLAN"}


_INSTEAD = {
    "pending": "what is above would run",
    "committing": "what is above would run",
    "allowed": "what is above was allowed in its place",
}
"""The line below what was asked, by the state of the request that took its place."""

_RISKS = ("low", "medium", "unknown", "high", "critical")


def print_request(found: dict[str, Any], *, bare: bool = False) -> None:
    """Print the request that `show` answered with; secrets are covered unless `bare`."""
    for line in page(found, bare=bare, styled=styled_output()):
        print(line, flush=True)


def page(found: dict[str, Any], *, bare: bool = False, styled: bool = False) -> list[str]:
    """The lines of the request that `show` answered with, `styled` for a terminal."""
    from watchgate.ui.widgets.shown import Look

    head = _HEADS.get(found.get("asks", ""), found["risk"].upper())
    starts = tuple(sorted({part["span"][0] for part in found.get("segments", ())}))
    how = Look(bare, starts, one_line=found.get("opaque", False))
    subject = drawn_lines(subject_of(found), how, styled=styled)
    title = f"{head}  {found['tool']['name']}  {found['agent']}  #{found['id'][:4]}"
    own = [
        *_rewritten(found, bare=bare),
        *_findings(found),
        "",
        *(f"  {name:<9}{value}" for name, value in _facts(found).items()),
        *_input(found, bare=bare),
    ]
    asked = [
        line
        for number, question in enumerate(questions_of(found), 1)
        for line in question_lines(question, number, styled=styled)
    ]
    told = [drawn_fact(line, styled=styled) for line in own]
    return [drawn(title, styled=styled), "", *(f"  {line}" for line in subject), *asked, *told]


def _input(found: dict[str, Any], *, bare: bool) -> Iterator[str]:
    given = found["tool"]["input"]
    yield f"  {'input':<9}{msgspec.json.encode(given if bare else redact_all(given)).decode()}"
    if not bare and redact_all(given) != given:
        yield f"  {'secrets':<9}covered: watchgate show {found['id'][:4]} --secrets tells them"


def decided_words(done: dict[str, Any]) -> str:
    """Return what a decision was and whose, in the words of who was proven to be there."""
    word, by = done["word"], done["by"]
    whose = "" if by.startswith("operator") else f" by {by}"
    return f"{shown_word(word, by).replace('-', ' ')}{whose}"


def questions_of(found: dict[str, Any]) -> tuple[Question, ...]:
    """The questions of a request that `show` answered with."""
    from watchgate.core.events import Question

    return decoding.convert(found.get("questions", []), tuple[Question, ...])


def print_question(question: Question, number: int) -> None:
    """Print one question with its numbered choices and what can be typed."""
    for line in question_lines(question, number, styled=styled_output()):
        print(line, flush=True)


def question_lines(question: Question, number: int, *, styled: bool) -> Iterator[str]:
    """The lines of one question, its numbered choices, and what can be typed."""
    from watchgate.core.typed_answers import how

    header = f"  ({question.header})" if question.header not in ("", question.text) else ""
    yield ""
    for at, line in enumerate(drawn_lines(f"{question.text}{header}", styled=styled)):
        yield f"  {f'question {number}' if at == 0 else '':<12}{line}"
    wide = max((len(choice.label) for choice in question.choices), default=0)
    for at, choice in enumerate(question.choices, 1):
        label = drawn(choice.label, styled=styled).ljust(min(wide, 40))
        yield f"  {at:>12}  {label}  {drawn(choice.description, styled=styled)}".rstrip()
    yield f"  {'answer':<12}{drawn(how(question), styled=styled)}"


def subject_of(found: dict[str, Any]) -> str:
    """What is decided about, whole: the command, the plan, or the line that stands for it."""
    key = "plan" if found.get("asks") == "plan" else "command"
    text = found["tool"]["input"].get(key)
    return text if isinstance(text, str) and text else found["summary"]


def _rewritten(found: dict[str, Any], *, bare: bool) -> Iterator[str]:
    """What the agent had sent, where somebody made another input of it."""
    before = found.get("before")
    if before is None:
        return
    edited = found.get("edited_from", "")
    whose = f"an operator edited #{edited[:4]}" if edited else "a handler rewrote it"
    yield ""
    if "asked" in found:
        risk = found.get("asked_risk", "unknown")
        shown = found["asked"] if bare else redact(found["asked"])
        yield f"  {'asked':<9}{'' if risk == 'unknown' else f'{risk.upper()}  '}{shown}"
    yield f"  {'sent':<9}{msgspec.json.encode(before if bare else redact_all(before)).decode()}"
    yield f"  {'':<9}{whose}: {_INSTEAD.get(found['status'], 'what is above took its place')}"


def _findings(found: dict[str, Any]) -> Iterator[str]:
    """Each finding, the gravest first: risk, part, reason, the words that it is about, rule."""
    told = telling(decoding.convert(found.get("findings", ()), tuple[Finding, ...]))
    findings = sorted(msgspec.to_builtins(told), key=lambda each: -_RISKS.index(each["risk"]))
    if findings:
        yield ""
    parts = len({segment["number"] for segment in found.get("segments", ())})
    for each in findings:
        part = f"{each['segment']}/{parts} " if each.get("segment") and parts > 1 else ""
        about = _about(found, each.get("span"))
        yield f"  {each['risk']:<9}{part}{each['reason']}{about}  [{each['rule']}]"
        if each.get("suggest"):
            yield f"  {'':<9}safer: {each['suggest']}"


def _about(found: dict[str, Any], span: list[int] | None) -> str:
    """The words that a finding is about, as far as one line has room."""
    if not span:
        return ""
    text = subject_of(found)
    start, end = redacted_span(text, (span[0], span[1]))
    words = redact(text)[start:end]
    return f": {words if len(words) <= _ABOUT_CHARS else words[: _ABOUT_CHARS - 3] + '...'}"


def _facts(found: dict[str, Any]) -> dict[str, str]:
    left_s = found["timeout_s"]
    silence = found.get("silence", "deny")
    races = f"; {found['agent']} asks as well" if found.get("races") else ""
    facts = {
        "why": found["reason"],
        "raised": found.get("raised", ""),
        "touch": _touch(found),
        "rule": found["rule"],
        "cwd": found.get("cwd", ""),
        "lane": found["lane"],
        "silence": f"{silence} {f'after {left_s:.0f} s' if left_s else 'whenever it ends'}{races}",
        "told": "; ".join(map(_told, found.get("escalated", ()))),
        "status": found["status"],
        "digest": found["digest"],
    }
    facts = {name: value for name, value in facts.items() if value or name == "cwd"}
    if "ended" in found:
        end = found["ended"]
        why = f", {redact(end['reason'])}" if end.get("reason") else ""
        facts["ended"] = f"{shown_word(end['word'], end['by'])} by {end['by']}{why}"
        facts["waited"] = f"{end['waited_s']:.0f} s"
        given = [" and ".join(each) or "nothing" for each in found["ended"].get("answers", [])]
        if given:
            facts["answers"] = "; ".join(given)
    return facts


def _told(each: dict[str, Any]) -> str:
    """Who else was told of the request, after how long; or why not."""
    if each.get("detail"):
        return f"{each['to']} could not be told ({each['detail']})"
    return f"{each['to']} after {each['waited_s']:.0f} s"


def _touch(found: dict[str, Any]) -> str:
    """What the call would touch, as far as somebody looked."""
    told = ", ".join(fact["text"] for fact in found.get("facts", ()))
    if not found.get("cut"):
        return told
    return f"{told}  (not everything was looked at)" if told else "not known: it took too long"
