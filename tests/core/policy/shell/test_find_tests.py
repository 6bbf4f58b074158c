"""The names that a `find` looks for tell what it deletes, where all its tests do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from watchgate.core.policy.judging.command_finder import commands
from watchgate.core.policy.shell.find_tests import sought


def paths(command: str) -> list[str]:
    """The paths that the first command of a text acts on."""
    return [word.text for word in sought(commands(command).commands[0].words)]


@pytest.mark.parametrize(
    ("command", "acted_on"),
    [
        ("find . -name '*.pyc' -delete", ["./*/*.pyc"]),
        ("find -name x -delete", ["./*/x"]),
        ("find src/ lib -name x -delete", ["src/*/x", "lib/*/x"]),
        ("find / -name x -delete", ["//*/x"]),
        ("find . -type d -name x -prune -exec rm -rf {} +", ["./*/x"]),
        ("find . -maxdepth 2 -name x -not -path './a/*' -exec rm {} \\;", ["./*/x"]),
        ("find . \\( -name a -o -name b \\) -delete", ["./*/a", "./*/b"]),
        (
            "find . -type f \\( -name a -or -name b -o -name c \\) -delete",
            ["./*/a", "./*/b", "./*/c"],
        ),
    ],
)
def test_the_name_stands_for_what_is_found(command: str, acted_on: list[str]) -> None:
    assert paths(command) == acted_on


@pytest.mark.parametrize(
    "command",
    [
        "find . -delete",
        "find . -delete -name x",
        "find . -type f -delete",
        "find . -name x -o -type f -delete",
        "find . -type f -o -name x -delete",
        "find . -not -name x -delete",
        "find . ! -name x -delete",
        "find . -name x , -delete",
        "find . \\( -name x -o -type f \\) -delete",
        "find . \\( -name x -o -not -name x \\) -delete",
        "find . \\( \\) -delete",
        "find . \\( -name x -delete",
        "find . -regex x -delete",
        "find . -iname x -delete",
        'find . -name "$X" -delete',
        'find "$X" -name x -delete',
        "find . -name -delete",
        "find . -name ../x -delete",
        "find . -newermt x -delete",
        "find . ! \\( -name x \\) -delete",
        "find . -not \\( -name x -o -name y \\) -delete",
    ],
)
def test_any_doubt_makes_it_all(command: str) -> None:
    assert paths(command) == []


_TESTS = st.sampled_from(
    ["-name x", "-name x", "-type f", "-path x", "-o", "-o", "!", "( -name x", "( -type f", ")"]
)


@settings(max_examples=600)
@given(st.lists(_TESTS, min_size=1, max_size=6))
def test_nothing_of_another_name_gets_to_the_action(given_tests: list[str]) -> None:
    tests = " ".join(given_tests).split()
    quoted = " ".join(f"'{word}'" for word in tests)
    named = paths(f"find . {quoted} -delete")
    if named:
        names = {path.rpartition("/")[2] for path in named}
        assert not _Find([*tests, "-delete"], names).reaches()


class _Find:
    """Works out, as find would, whether a file that has none of the names may be acted on."""

    def __init__(self, words: list[str], names: set[str]) -> None:
        self.words = words
        self.names = names
        self.reached = False

    def reaches(self) -> bool:
        try:
            self._either(may_run=True)
        except IndexError:
            return False  # find would refuse it
        return self.reached

    def _either(self, *, may_run: bool) -> tuple[bool, bool]:
        """Whether the whole may hold, and whether it may not."""
        holds, fails = self._both(may_run=may_run)
        while self.words[:1] == ["-o"]:
            self.words.pop(0)
            more, less = self._both(may_run=may_run and fails)
            holds, fails = holds or more, fails and less
        return holds, fails

    def _both(self, *, may_run: bool) -> tuple[bool, bool]:
        holds, fails = self._one(may_run=may_run)
        while self.words and self.words[0] not in ("-o", ")"):
            more, less = self._one(may_run=may_run and holds)
            holds, fails = holds and more, fails or less
        return holds, fails

    def _one(self, *, may_run: bool) -> tuple[bool, bool]:
        word = self.words.pop(0)
        if word == "!":
            holds, fails = self._one(may_run=may_run)
            return fails, holds
        if word == "(":
            found = self._either(may_run=may_run)
            if self.words.pop(0) != ")":
                raise IndexError
            return found
        if word == "-delete":
            self.reached |= may_run
            return True, False
        if word == "-prune":
            return True, False
        if word in ("-name", "-type", "-path"):
            value = self.words.pop(0)
            return (False, True) if word == "-name" and value in self.names else (True, True)
        raise IndexError
