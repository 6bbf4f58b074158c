"""Held calls of all kinds with the explanation that a person reads, in a file that is read as such.

After a change of words: `python -m tests.core.policy.test_sixty_explanations` writes it anew, to be
read once more, each against what the command does.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.policy.calls import judge_command
from watchgate.cli.policy.assessment_page import page
from watchgate.core.policy.rules.profiles import gate_action

SNAPSHOT = Path(__file__).with_name("sixty_explanations.txt")
EXPLAINED = SNAPSHOT.read_text(encoding="utf-8").split("\n\n")


def explained(command: str) -> str:
    """A command, and below it what `policy check` says of it where nobody sits."""
    found = judge_command(command)
    does = gate_action("guard", found, autonomous=True, runs_unasked=True, auto_allow=False)
    return "\n".join([f"$ {command}", *page(found, command, does)])


@pytest.mark.parametrize("text", EXPLAINED, ids=lambda text: text.partition("\n")[0])
def test_a_held_call_is_explained_as_it_was_read(text: str) -> None:
    command = text.partition("\n")[0].removeprefix("$ ")
    assert explained(command) == text.rstrip("\n")
    assert "  hold\n" in text


def test_the_file_has_sixty_calls_and_each_once() -> None:
    commands = [text.partition("\n")[0] for text in EXPLAINED]
    assert len(set(commands)) == len(commands) >= 60


if __name__ == "__main__":
    commands = (text.partition("\n")[0].removeprefix("$ ") for text in EXPLAINED)
    SNAPSHOT.write_text("\n\n".join(map(explained, commands)) + "\n", encoding="utf-8")
