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

_PAST_SHOWN = 10


def rules_from(texts: Sequence[str], scope: str) -> tuple[GrantRule, ...]:
    """The rules of these texts; ends the command where one cannot be read or none is wanted."""
    from watchgate.core.grants.rule import GrantRule, read

    if texts and scope != "always":
        raise Stop("--rule goes with --scope always alone", Exit.USAGE)
    rules = []
    for text in texts:
        try:
            words, more = read(text)
        except ValueError as fault:
            raise Stop(f"--rule {fault}", Exit.USAGE) from None
        rules.append(GrantRule(words=words, more=more))
    return tuple(rules)


def proposal_lines(request: str, rules: tuple[GrantRule, ...]) -> list[str]:
    """The rules that an allow for good would give, and the past calls that they cover."""
    found = ask(Request(id=1, verb="propose", request=request, rules=rules))
    count = found["past_count"]
    past = [
        (datetime.fromtimestamp(each["at"] / 1_000_000, UTC).astimezone(), redact(each["summary"]))
        for each in found["past"][:_PAST_SHOWN]
    ]
    lines = [
        "",
        f"  always, in {found['folder']} and nowhere else:",
        *(f"    {rule['text']}" for rule in found["rules"]),
        f"  of the calls that were asked about it would have answered {count or 'none'}",
        *(f"    {moment:%Y-%m-%d %H:%M}  {summary}" for moment, summary in past),
        "  it is listed by `watchgate grants`, and ends when it was not used for 30 days",
    ]
    styled = styled_output()
    return [drawn_fact(line, styled=styled) for line in lines]
