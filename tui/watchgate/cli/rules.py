"""The rules of an allow for good: what a person typed, and what the core proposes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from watchgate.cli.ask import ask
from watchgate.cli.drawn_text import drawn_fact, styled_output
from watchgate.cli.exits import Exit, Stop
from watchgate.core.redact import redact
from watchgate.link.protocol import Request

if TYPE_CHECKING:
    from watchgate.core.grants.rule import GrantRule
    from watchgate.core.grants.width import Width

_PAST_SHOWN = 10


def rules_from(texts: Sequence[str], scope: str, width: Width | None) -> tuple[GrantRule, ...]:
    """The rules of these texts; ends the command where one cannot be read or none is wanted."""
    from watchgate.core.grants.rule import GrantRule, read
    from watchgate.core.grants.width import width_of

    if width is not None and scope == "once":
        raise Stop("--width goes with a --scope beyond once", Exit.USAGE)
    if texts and width_of(scope, width) != "program":
        raise Stop("--rule goes with --scope always or --width program alone", Exit.USAGE)
    rules = []
    for text in texts:
        try:
            words, more = read(text)
        except ValueError as fault:
            raise Stop(f"--rule {fault}", Exit.USAGE) from None
        rules.append(GrantRule(words=words, more=more))
    return tuple(rules)


_LASTS = {
    "turn": "it ends with the turn",
    "session": "it ends with the session",
    "15m": "it ends after 15 minutes, or with the session",
    "always": "it ends when it was not used for 30 days",
}


def proposal_lines(
    request: str, rules: tuple[GrantRule, ...], scope: str, width: Width | None
) -> list[str]:
    """The rules that a wide allow would give, and the past calls that they cover."""
    proposal = ask(Request(id=1, verb="propose", request=request, rules=rules, width=width))
    count = proposal["past_count"]
    past = [
        (datetime.fromtimestamp(each["at"] / 1_000_000, UTC).astimezone(), redact(each["summary"]))
        for each in proposal["past"][:_PAST_SHOWN]
    ]
    lines = [
        "",
        f"  {scope}, in {proposal['folder']} and nowhere else:",
        *(f"    {rule['text']}" for rule in proposal["rules"]),
        *([_whole(proposal["answers"])] if width == "folder" else []),
        f"  of the calls that were asked about it would have answered {count or 'none'}",
        *(f"    {moment:%Y-%m-%d %H:%M}  {summary}" for moment, summary in past),
        f"  it is listed by `watchgate grants`, and {_LASTS[scope].removeprefix('it ')}",
    ]
    styled = styled_output()
    return [drawn_fact(line, styled=styled) for line in lines]


def _whole(answers: Sequence[str]) -> str:
    return f"    every command that only {', '.join(answers)} or a rule of ordinary work asks about"
