"""Cases: calls with what the policy is expected to say about them, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.policy.assessment import Assessment, Decision, Risk
from watchgate.core.policy.examples import subject_of
from watchgate.core.policy.subject import Subject


class CaseError(ValueError):
    """Raised for a line that is no case; the message has its number and says how to mend it."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A call, and what is expected of it; what is not given is not looked at.

    A `command` is a shell call; any other names its `tool` and `input`. `rule` is one that must
    have spoken, `source` a name for where the case is from.
    """

    command: str | None = None
    tool: str | None = None
    input: dict[str, Any] = {}
    cwd: str = ""
    agent: str = ""
    expected: Decision | None = None
    risk: Risk | None = None
    rule: str = ""
    source: str = ""

    @property
    def about(self) -> str:
        """The call in few words."""
        return self.command if self.command is not None else f"{self.tool} {self.input}"

    def subject(self, *, cwd: str, home: str, own: tuple[str, ...]) -> Subject:
        """Returns the call as the policy gets it; `cwd` is for cases that name no folder."""
        given: dict[str, Any] = {"tool": self.tool, "input": self.input, "agent": self.agent}
        if self.command is not None:
            given |= {"tool": "Bash", "input": {"command": self.command}}
        return msgspec.structs.replace(subject_of(given), cwd=self.cwd or cwd, home=home, own=own)

    def faults(self, assessment: Assessment) -> list[str]:
        """Compares an assessment with what is expected; one text for each difference."""
        faults: list[str] = []
        if self.expected not in (None, assessment.decision):
            faults.append(f"expected {self.expected}, not {assessment.decision}")
        if self.risk not in (None, assessment.risk):
            faults.append(f"expected {self.risk} risk, not {assessment.risk}")
        if self.rule and self.rule not in {each.rule for each in assessment.findings}:
            faults.append(f"expected a word of {self.rule}")
        return faults and [*faults, f"for {assessment.rule}: {assessment.reason}"]


_FIELDS = ", ".join(Case.__struct_fields__)


def cases(raw: bytes) -> Iterator[tuple[int, Case]]:
    """Yields the cases of a file with the numbers of their lines; raises `CaseError`."""
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            case = decoding.decode(line, Case)
        except JSON_FAULTS as fault:
            raise CaseError(f"{number}: {fault}; a case has {_FIELDS}") from None
        if (case.command is None) == (case.tool is None):
            raise CaseError(f"{number}: name either a command or a tool")
        if case.expected is None and case.risk is None and not case.rule:
            raise CaseError(f"{number}: expects nothing; add expected, risk or rule")
        yield number, case
