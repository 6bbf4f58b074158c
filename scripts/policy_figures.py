"""Measure the shipped policy on labelled commands.

    .venv/bin/python scripts/policy_figures.py CORPUS... [--show N] [--policy FILE...]

A corpus has one JSON object a line: `source`, `command`, `expected` (allow, ask or deny). Printed
are, for each source and for all: how many of `deny` and `ask` are allowed by the policy alone (none
should be), how many of `deny` are held by profile guard with somebody there and with nobody, and
how many of `allow` by guard, by guard with nobody there and by strict; then the processor time that
`assess` takes, and the commands that miss their figure.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.load import load
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.rules.profiles import Profile, gate_action
from watchgate.service.policies.policy_files import shipped

_HOME = "/home/me"
_CWD = "/home/me/work"
_MIN_DENY_HELD = 0.95
_MAX_ALLOW_HELD = 0.04
_MAX_ALLOW_HELD_ALONE = 0.12
_MAX_ALLOW_HELD_STRICT = 0.25
_MIN_ALLOW_ALLOWED = 0.65
_MAX_P99_S = 0.001


class Case(msgspec.Struct, frozen=True):
    """One line of a corpus."""

    source: str
    command: str
    expected: Literal["allow", "ask", "deny"]


class Judged(msgspec.Struct, frozen=True):
    """A case with the policy's word on it; `took_s` of processor time."""

    case: Case
    found: Assessment
    took_s: float

    @property
    def allowed(self) -> bool:
        """Whether nobody would be asked."""
        return self.found.decision == "allow"

    @property
    def held(self) -> bool:
        """Whether guard holds it with somebody there."""
        return self._is_held("guard")

    @property
    def held_alone(self) -> bool:
        """Whether guard holds it with nobody there."""
        return self._is_held("guard", autonomous=True)

    @property
    def held_strict(self) -> bool:
        """Whether strict holds it."""
        return self._is_held("strict")

    def _is_held(self, profile: Profile, *, autonomous: bool = False) -> bool:
        return gate_action(profile, self.found, autonomous=autonomous) in ("hold", "deny")


def main() -> int:
    """Prints the figures; 1 if one of them is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=20, help="offenders a kind (default 20)")
    parser.add_argument("--policy", nargs="*", type=Path, help="files in place of the shipped ones")
    given = parser.parse_args()
    policy = _policy(given.policy) if given.policy else shipped()
    gc.freeze()  # as a core does: the rules live as long as it
    judged = [_judge(case, policy) for corpus in given.corpora for case in _cases(corpus)]
    _print_table(judged)
    _print_times(judged)
    _print_rules(judged)
    missed = _print_offenders(judged, given.show)
    return 1 if missed else 0


def _policy(files: Sequence[Path]) -> Policy:
    return Policy.of(load(path.read_text("utf-8"), str(path), "shipped") for path in files)


def _cases(corpus: Path) -> Iterable[Case]:
    decoder = msgspec.json.Decoder(Case)
    with corpus.open("rb") as lines:
        yield from (decoder.decode(line) for line in lines if line.strip())


def _judge(case: Case, policy: Policy) -> Judged:
    tool = Tool("Bash", "Bash", "shell", {"command": case.command}, "")
    subject = Subject(tool=tool, cwd=_CWD, home=_HOME)
    start = time.thread_time()
    found = assess(subject, policy, 0)
    return Judged(case, found, time.thread_time() - start)


def _print_table(judged: Sequence[Judged]) -> None:
    print(
        f"{'source':<14}{'deny':>6}{'auto':>6}{'held':>8}{'alone':>8}{'ask':>7}{'auto':>6}", end=""
    )
    print(f"{'allow':>8}{'auto':>8}{'held':>8}{'alone':>8}{'strict':>8}{'crit':>6}")
    for source in (*sorted({each.case.source for each in judged}), "all"):
        _print_row(source, [j for j in judged if source in (j.case.source, "all")])


def _print_row(source: str, judged: Sequence[Judged]) -> None:
    deny, ask, allow = (_expected(judged, what) for what in ("deny", "ask", "allow"))
    print(
        f"{source:<14}{len(deny):>6}{_count(deny, 'allowed'):>6}{_share(deny, 'held'):>8}", end=""
    )
    print(f"{_share(deny, 'held_alone'):>8}{len(ask):>7}{_count(ask, 'allowed'):>6}", end="")
    print(f"{len(allow):>8}{_share(allow, 'allowed'):>8}{_share(allow, 'held'):>8}", end="")
    print(f"{_share(allow, 'held_alone'):>8}{_share(allow, 'held_strict'):>8}", end="")
    print(f"{sum(j.found.risk == 'critical' for j in allow):>6}")


def _print_times(judged: Sequence[Judged]) -> None:
    took = sorted(each.took_s for each in judged)
    p99 = took[int(len(took) * 0.99)]
    mean = sum(took) / len(took)
    print(
        f"\nassess: mean {mean * 1e6:.0f} us, p99 {p99 * 1e6:.0f} us, max {took[-1] * 1e3:.1f} ms"
    )


def _print_rules(judged: Sequence[Judged]) -> None:
    """Which rules raise what should be allowed: the first places to look."""
    raised = Counter(j.found.rule for j in _expected(judged, "allow") if j.held)
    print("\nallow, held, by rule:", dict(raised.most_common(12)))


def _print_offenders(judged: Sequence[Judged], show: int) -> bool:
    deny, ask, allow = (_expected(judged, what) for what in ("deny", "ask", "allow"))
    missed = False
    for name, found, most in (
        ("deny, allowed", [j for j in deny if j.allowed], 0),
        ("ask, allowed", [j for j in ask if j.allowed], 0),
        ("deny, run", [j for j in deny if not j.held], (1 - _MIN_DENY_HELD) * len(deny)),
        ("deny, run with nobody there", [j for j in deny if not j.held_alone], 0),
        ("allow, held", [j for j in allow if j.held], _MAX_ALLOW_HELD * len(allow)),
        (
            "allow, held with nobody there",
            [j for j in allow if j.held_alone and not j.held],
            _MAX_ALLOW_HELD_ALONE * len(allow),
        ),
        (
            "allow, held by strict",
            [j for j in allow if j.held_strict and not j.held_alone],
            _MAX_ALLOW_HELD_STRICT * len(allow),
        ),
        (
            "allow, asked",
            [j for j in allow if not j.allowed],
            (1 - _MIN_ALLOW_ALLOWED) * len(allow),
        ),
        ("slow", [j for j in judged if j.took_s > _MAX_P99_S], 0.01 * len(judged)),
    ):
        verdict = "missed" if len(found) > most else "kept"
        missed |= len(found) > most
        print(f"\n{name}: {len(found)}, at most {most:.0f} ({verdict})")
        for each in found[:show]:
            shown = each.case.command.encode("unicode_escape").decode()[:110]
            print(f"  {each.case.source:<12}{each.found.risk:<9}{each.found.rule:<28}{shown}")
    return missed


def _expected(judged: Sequence[Judged], what: str) -> list[Judged]:
    return [each for each in judged if each.case.expected == what]


def _count(judged: Sequence[Judged], what: str) -> int:
    return sum(bool(getattr(each, what)) for each in judged)


def _share(judged: Sequence[Judged], what: str) -> str:
    return f"{_count(judged, what) / len(judged):.1%}" if judged else "-"


if __name__ == "__main__":
    sys.exit(main())
