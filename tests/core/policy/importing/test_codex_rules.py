from __future__ import annotations

import pytest

from tests.core.policy.importing.reading import made, shapes
from watchgate.core.policy.importing import codex_rules
from watchgate.core.policy.importing.imported_rule import Imported, ImportFault


def one(text: str) -> Imported:
    (found,) = codex_rules.read(text)
    return found


@pytest.mark.parametrize(
    ("word", "decision"), [("allow", "allow"), ("prompt", "ask"), ("forbidden", "deny")]
)
def test_each_decision_has_its_own_here(word: str, decision: str) -> None:
    found = one(f'prefix_rule(pattern = ["git", "push"], decision = "{word}")')
    assert (found.outcome, made(found).decision) == ("understood", decision)
    assert shapes(found)[0].line == "git push *"


def test_a_rule_without_a_decision_allows_as_in_codex() -> None:
    assert made(one('prefix_rule(pattern = ["ls"])')).decision == "allow"


def test_alternatives_are_spelled_out() -> None:
    found = one('prefix_rule(pattern = [["npm", "pnpm"], ["test", "run"]])')
    assert shapes(found)[0].program == ("npm", "pnpm")
    assert shapes(found)[0].line == ("npm test *", "npm run *", "pnpm test *", "pnpm run *")


def test_reason_and_examples_come_along() -> None:
    rule = made(
        one(
            'prefix_rule(pattern=["rm"], decision="forbidden", justification="Use trash.",'
            ' match=[["rm", "a b"], "rm x"], not_match=["rmdir x"])'
        )
    )
    assert rule.reason == "Use trash."
    assert (rule.match, rule.not_match) == (("rm 'a b'", "rm x"), ("rmdir x",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('prefix_rule(pattern=["/bin/rm"])', "found by their name"),
        ('prefix_rule(pattern=["rm", "*"])', "stands for anything"),
        ("prefix_rule(pattern=[])", "no pattern"),
        ('prefix_rule(pattern=["a", 1])', "neither a text"),
        ('prefix_rule(pattern=["a"], decision="ask")', "none of allow"),
        ('prefix_rule(pattern=["a"], match=["b", 1])', "example"),
        ('prefix_rule(pattern=["a"], when="x")', "not known here"),
        ("prefix_rule(pattern=WORDS)", "literal values"),
        ('prefix_rule(pattern=[f"{x}"])', "literal values"),
        ('for x in ["a"]:\n    prefix_rule(pattern=[x])', "literal values"),
        ('WORDS = ["a"]', "literal values"),
        ('host_executable(name="git", paths=["/usr/bin/git"])', "found by their name"),
        ('network_rule(host="x.org", protocol="https", decision="allow")', "opens none"),
        ('print("x")', "not known"),
    ],
)
def test_what_cannot_be_said_is_refused_with_its_line(text: str, why: str) -> None:
    found = one(text)
    assert (found.outcome, found.rule) == ("refused", None)
    assert found.note.startswith("line 1: ")
    assert why in found.note


def test_alternatives_without_end_are_refused() -> None:
    many = str([str(number) for number in range(9)])
    assert "more than 64" in one(f"prefix_rule(pattern=['a', {many}, {many}])").note


def test_a_host_that_codex_denies_is_denied_here_where_it_is_named() -> None:
    found = one('network_rule(host="x.org", protocol="https", decision="deny")')
    assert (found.outcome, made(found).decision, made(found).hosts) == (
        "approximated",
        "deny",
        "x.org",
    )


@pytest.mark.parametrize("text", ["prefix_rule(", "a\x00b", "(" * 5000])
def test_a_text_that_is_no_rules_file_is_a_fault(text: str) -> None:
    with pytest.raises(ImportFault):
        codex_rules.read(text)
