"""Commands as agents write them, each with what it is; `git.txt` tells the form of the lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, cast, get_args

import msgspec

from tests.core.policy.calls import judge_command
from watchgate.core.model.assessment import Assessment
from watchgate.core.policy.rules.profiles import Profile, gate_action

Label = Literal["read", "ordinary", "lasting", "dangerous"]

_FOLDER = Path(__file__).parent


class Case(msgspec.Struct, frozen=True):
    """A command with its label, and where it stands."""

    place: str
    label: Label
    command: str


class Judged(msgspec.Struct, frozen=True):
    """A case with what the shipped policy says of it."""

    case: Case
    assessment: Assessment

    def held(self, profile: Profile = "guard", *, autonomous: bool = False) -> bool:
        """Whether the gate stops the call under a profile."""
        action = gate_action(profile, self.assessment, autonomous=autonomous)
        return action in ("hold", "deny")

    def __str__(self) -> str:
        """The case in one line, with the rule that decides."""
        found = self.assessment
        return f"{self.case.place} {found.risk} {found.rule}: {self.case.command!r}"


def cases(name: str = "*") -> Iterator[Case]:
    """The cases of one list, or of all."""
    for file in sorted(_FOLDER.glob(f"{name}.txt")):
        yield from _cases(file)


def judged(name: str = "*") -> list[Judged]:
    """The cases of one list, or of all, judged by the shipped policy."""
    return [Judged(case, judge_command(case.command)) for case in cases(name)]


def _cases(file: Path) -> Iterator[Case]:
    found: Case | None = None
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if line.startswith("|"):
            if found is None:
                raise ValueError(f"{file.name}:{number}: goes on with nothing")
            found = msgspec.structs.replace(found, command=f"{found.command}\n{line[1:]}")
            continue
        if found is not None:
            yield found
            found = None
        if line and not line.startswith("#"):
            label, _, command = line.partition("  ")
            if label not in get_args(Label) or not command.strip():
                raise ValueError(f"{file.name}:{number}: a label, two blanks, a command")
            found = Case(f"{file.name}:{number}", cast("Label", label), command.strip())
    if found is not None:
        yield found
