"""Whose file a rule stands in decides what it may loosen, and never which rule wins."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import rules
from tests.core.policy.written import judged, loaded
from watchgate.core.policy.rules.load import PolicyError
from watchgate.core.policy.rules.policy import Policy

SHIPPED = """
[sets]
tools = ["x", "y"]
[[rule]]
id = "ship.ask"
decision = "ask"
risk = "high"
reason = "It would"
command = { program = "x" }
[[rule]]
id = "ship.critical"
decision = "ask"
risk = "critical"
reason = "It would"
command = { program = "c" }
[[rule]]
id = "own.files"
decision = "ask"
reason = "It would"
paths = { any = "@own" }
[[rule]]
id = "ship.allow"
decision = "allow"
command = { program = "y", flags = [] }
"""


def rule(rule_id: str, decision: str, program: str) -> str:
    return (
        f'[[rule]]\nid = "{rule_id}"\ndecision = "{decision}"\nreason = "It would"\n'
        f'command = {{ program = "{program}", flags = "*" }}\n'
    )


def policy(user: str = "", admin: str = "", project: str = "") -> Policy:
    files = [loaded(SHIPPED, "shipped", "shipped/a.toml")]
    files += [loaded(admin, "admin", "admin.toml"), loaded(user, "user", "user.toml")]
    made = Policy.of(files)
    return made.tightened([loaded(project, "project", "project.toml")]) if project else made


def test_deny_beats_ask_and_ask_beats_allow_whoever_wrote_them() -> None:
    for tier in ("user", "admin"):
        with_allow = policy(**{tier: rule("t.allow", "allow", "x")})
        assert judged(with_allow, "x").decision == "ask"
        with_ask = policy(**{tier: rule("t.ask", "ask", "y")})
        assert judged(with_ask, "y").decision == "ask"
        with_deny = policy(**{tier: rule("t.deny", "deny", "x")})
        assert judged(with_deny, "x").decision == "deny"


def test_a_project_adds_ask_and_deny() -> None:
    tight = policy(project=rule("p.ask", "ask", "y") + rule("p.deny", "deny", "z"))
    assert judged(policy(), "y").decision == "allow"
    assert judged(tight, "y").decision == "ask"
    assert judged(tight, "z").decision == "deny"


def test_one_denied_command_denies_the_whole_text() -> None:
    tight = policy(user=rule("u.deny", "deny", "z"))
    assert judged(tight, "y; y $(z)").decision == "deny"


def test_the_user_may_add_an_allow_and_disable_a_shipped_rule() -> None:
    loose = policy(user='disable = ["ship.ask"]\n' + rule("u.allow", "allow", "x"))
    assert judged(loose, "x").decision == "allow"
    assert loose.disabled == ("ship.ask",)


@pytest.mark.parametrize("rule_id", ["ship.critical", "own.files"])
def test_what_protects_the_system_or_the_gate_cannot_be_disabled(rule_id: str) -> None:
    with pytest.raises(PolicyError, match=r"user.toml:2: disable: .* stays; remove it"):
        policy(user=f'disable = ["{rule_id}"]')


def test_an_id_is_given_once() -> None:
    with pytest.raises(PolicyError, match=r"user.toml:3: .* taken by shipped/a.toml:5; give"):
        policy(user=rule("ship.ask", "ask", "z"))
    with pytest.raises(PolicyError, match=r"project.toml:3: .* taken by shipped/a.toml:5"):
        policy(project=rule("ship.ask", "ask", "z"))
    with pytest.raises(PolicyError, match=r"project.toml:3: .* a shipped rule that is disabled"):
        policy(user='disable = ["ship.ask"]', project=rule("ship.ask", "ask", "z"))
    with pytest.raises(PolicyError, match=r"user.toml:4: .* a shipped rule that is disabled"):
        policy(user='disable = ["ship.ask"]\n' + rule("ship.ask", "ask", "z"))


def test_shipped_sets_are_there_for_everybody_and_own_sets_for_the_file() -> None:
    used = policy(user=rule("u.deny", "deny", "@tools"))
    assert judged(used, "y").decision == "deny"
    with pytest.raises(PolicyError, match="no set is called @mine"):
        policy(admin='sets.mine = ["x"]\n', user=rule("u.deny", "deny", "@mine"))


def test_the_strictest_default_holds() -> None:
    strict = policy(user='[defaults]\ndecision = "deny"', project='[defaults]\nopaque = "deny"')
    assert judged(strict, "unheard-of").decision == "deny"
    assert judged(strict, "$x").decision == "deny"
    assert judged(policy(), "unheard-of").decision == "ask"


def test_a_command_that_no_rule_knows_is_asked_at_medium() -> None:
    found = judged(policy(), "y && unheard-of -x")
    assert (found.decision, found.risk, rules(found)) == ("ask", "medium", {"policy.no-rule"})
    assert found.findings[0].segment == 2
    assert found.findings[0].span == (5, 18)


def test_the_floor_undoes_an_allow() -> None:
    for text in ("y a\u202eb", "y " + "a" * 10_000):
        found = judged(policy(), text)
        assert (found.decision, found.risk) == ("ask", "unknown")


@pytest.mark.parametrize("text", ["", "# y", "LANG=C", "timeout 5", "< y", "y <"])
def test_what_runs_nothing_that_is_known_is_not_allowed(text: str) -> None:
    assert judged(policy(), text).decision == "ask"
