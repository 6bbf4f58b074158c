"""Rules are looked up by program; what agents call their programs cannot fill the memory."""

from __future__ import annotations

from watchgate.core.model.events import Tool
from watchgate.core.policy.matching import command_view
from watchgate.core.policy.rules import policy
from watchgate.core.policy.rules.policy import Index
from watchgate.service.policies.policy_files import shipped

SHELL = Tool("Bash", "Bash", "shell", {}, "hash")


def ids(found: tuple[policy.IndexedShape, ...]) -> set[str]:
    return {rule.id for _, rule, _ in found}


def test_a_command_without_what_a_rule_needs_is_not_held_against_it() -> None:
    index = shipped().asking
    assert "git.skip-checks" in ids(
        index.of("git", SHELL, command_view.HAS_ARGUMENT | command_view.HAS_DASH)
    )
    assert "git.skip-checks" not in ids(index.of("git", SHELL, command_view.HAS_ARGUMENT))
    assert "git.force-push" in ids(index.of("git", SHELL, command_view.HAS_ARGUMENT))


def test_only_the_lookups_of_late_are_kept() -> None:
    index = Index(shipped().asking.rules)
    for number in range(3_000):
        index.of(f"program-{number}", SHELL)
    assert len(index.known) < 3_000
    first = ids(index.of("git", SHELL))
    assert ids(index.of("git", SHELL)) == first == ids(shipped().asking.of("git", SHELL))
    assert ("git", command_view.ALL_BITS, "shell", "Bash", "Bash") in index.known
