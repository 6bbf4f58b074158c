"""A person is told each thing once; a guess goes where the rule itself has spoken."""

from __future__ import annotations

from watchgate.core.model.assessment import NO_RULE, Finding, visible_findings

SUDO = Finding("system.privilege", "Runs with another user's rights", "high", (5, 9), 2)
GUESS = Finding("system.privilege.unread", "Looks as if it does", "high", (5, 10))
UNKNOWN = Finding(NO_RULE, "No rule knows this command", "medium", (0, 9), 1)


def test_a_guess_at_what_a_rule_found_in_the_same_words_is_not_told_again() -> None:
    assert visible_findings((SUDO, GUESS)) == (SUDO,)


def test_a_guess_alone_elsewhere_or_graver_is_told() -> None:
    elsewhere = Finding(GUESS.rule, GUESS.reason, "high", (20, 25))
    graver = Finding(GUESS.rule, GUESS.reason, "critical", GUESS.span)
    assert visible_findings((GUESS,)) == (GUESS,)
    assert visible_findings((SUDO, elsewhere)) == (SUDO, elsewhere)
    assert visible_findings((SUDO, graver)) == (SUDO, graver)


def test_that_no_rule_knows_a_command_goes_where_a_graver_finding_is_about_all_of_it() -> None:
    piped = Finding("net.run-download", "Runs code from the network", "critical", (0, 14), 2)
    assert visible_findings((UNKNOWN, piped)) == (piped,)


def test_it_stays_where_the_graver_finding_is_about_less_or_is_no_graver() -> None:
    within = Finding("x.y", "Sends data", "high", (2, 9), 1)
    beside = Finding("x.z", "Sets a variable", "medium", (0, 9), 1)
    assert visible_findings((UNKNOWN, within, beside)) == (UNKNOWN, within, beside)


def test_what_the_level_rests_on_is_always_told() -> None:
    found = (UNKNOWN, SUDO, GUESS)
    assert max(each.risk == "high" for each in visible_findings(found))


def test_the_same_finding_is_told_once() -> None:
    assert visible_findings((SUDO, SUDO)) == (SUDO,)


def test_a_rule_goes_where_a_graver_one_of_its_kind_is_about_the_same_words() -> None:
    push = Finding("git.push", "Sends main to the remote origin", "medium", (0, 20), 1)
    shared = Finding("git.push-shared", "Changes main at once", "high", (0, 20), 1)
    elsewhere = Finding("git.push", "Sends b to the remote origin", "medium", (30, 40), 2)
    assert visible_findings((shared, push, elsewhere)) == (shared, elsewhere)
    assert visible_findings((push,)) == (push,)
