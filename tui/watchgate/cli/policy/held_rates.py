"""Held calls an hour by profile, and the answers that would take most of them away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from watchgate.core.base.amounts import plural

if TYPE_CHECKING:
    from watchgate.core.lookback.lookback_report import HeldRates
    from watchgate.core.lookback.proposals import Proposal

ALONE = "guard, nobody there"
_PROFILES = {"guard": ALONE, "strict": "strict"}


def rate_rows(rates: HeldRates) -> list[tuple[str, str, str]]:
    """One row a profile: its name, the held calls, and how many that is an hour."""
    held = (
        ("watch", 0),
        ("guard, you are there", rates.guard),
        (ALONE, rates.guard_alone),
        ("strict", rates.strict),
    )
    return [(name, f"{count:,}", f"{rates.an_hour(count):.1f}") for name, count in held]


def hours_words(rates: HeldRates) -> str:
    """Returns the words for the hours that count, with their number."""
    return f"{plural(rates.hours, 'hour')} in which an agent asked for something"


def proposal_lines(proposals: tuple[Proposal, ...]) -> Iterator[str]:
    """Each proposal with what it would let through, by profile."""
    for profile, name in _PROFILES.items():
        of_profile = [each for each in proposals if each.profile == profile]
        if of_profile:
            yield f"{name}: what would take most of that away"
        for each in of_profile:
            where = f" in {each.folder}" if each.folder else ""
            yield f"  {each.text}{where}  lets {plural(each.calls, 'call')} through, {_means(each)}"
            yield from (f"      {example.splitlines()[0]}" for example in each.examples if example)
            yield from (f"    | {line}" for line in each.toml.splitlines())


def _means(proposal: Proposal) -> str:
    if proposal.kind == "rule":
        return "as a rule in policy.toml, such as"
    return "as a grant: press A on it, then 4 and 6, or watchgate allow ID --scope always; such as"
