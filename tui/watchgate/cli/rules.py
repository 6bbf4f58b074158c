"""The rules of an allow for good: what a person typed, and what the core proposes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from watchgate.cli.ask import ask
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import say
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


def print_proposal(request: str, rules: tuple[GrantRule, ...]) -> None:
    """Print the rules that an allow for good would give, and the past calls that they cover."""
    found = ask(Request(id=1, verb="propose", request=request, rules=rules))
    say()
    say(f"  always, in {found['folder']} and nowhere else:")
    for rule in found["rules"]:
        say(f"    {rule['text']}")
    count = found["past_count"]
    say(f"  of the calls that were asked about it would have answered {count or 'none'}")
    for past in found["past"][:_PAST_SHOWN]:
        moment = datetime.fromtimestamp(past["at"] / 1_000_000, UTC).astimezone()
        say(f"    {moment:%Y-%m-%d %H:%M}  {redact(past['summary'])}")
    say("  it is listed by `watchgate grants`, and ends when it was not used for 30 days")
