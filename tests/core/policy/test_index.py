"""Rules are looked up by program; what agents call their programs cannot fill the memory."""

from __future__ import annotations

from watchgate.core.events import Tool
from watchgate.core.policy import policy
from watchgate.core.policy.matching import needs
from watchgate.core.policy.policy import Index
from watchgate.service.policy.shipped import shipped

SHELL = Tool("Bash", "Bash", "shell", {}, "hash")


def ids(found: tuple[policy.Found, ...]) -> set[str]:
    return {rule.id for _, rule, _ in found}


def test_a_command_without_what_a_rule_needs_is_not_held_against_it() -> None:
    index = shipped().asking
    assert "git.skip-checks" in ids(index.of("git", SHELL, needs.ARGUMENT | needs.DASH))
    assert "git.skip-checks" not in ids(index.of("git", SHELL, needs.ARGUMENT))
    assert "git.force-push" in ids(index.of("git", SHELL, needs.ARGUMENT))


def test_only_the_lookups_of_late_are_kept() -> None:
    index = Index(shipped().asking.rules)
    for number in range(3_000):
        index.of(f"program-{number}", SHELL)
    assert len(index.known) < 3_000
    first = ids(index.of("git", SHELL))
    assert ids(index.of("git", SHELL)) == first == ids(shipped().asking.of("git", SHELL))
    assert ("git", needs.ALL, "shell", "Bash", "Bash") in index.known
