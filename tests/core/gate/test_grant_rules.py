from __future__ import annotations

from typing import Any

import pytest

from tests.core.gate.grants.calls import asked, call, finding, judged, segments, tool
from watchgate.core.gate.grant_rules import grantable, proposed, rules_of
from watchgate.core.model.assessment import Assessment, Segment
from watchgate.core.model.events import Tool
from watchgate.core.model.standing_grant import GrantRule, read_rule

BASH = tool("Bash", "shell", command="x")


def texts(found: Assessment, of: Tool = BASH) -> list[str]:
    return [rule.text for rule in proposed(of, found)]


def rule(text: str) -> GrantRule:
    words, more = read_rule(text)
    return GrantRule(words=words, more=more)


def test_each_command_that_no_allow_rule_covers_has_a_rule_of_its_own() -> None:
    build, look, push = segments("npm run build", "ls -l", "git push origin")
    look = Segment(2, look.span, look.words, allowed_by="ls")
    assert texts(judged(segments=(build, look, push))) == ["npm run build *", "git push *"]


def test_equal_commands_need_one_rule() -> None:
    assert texts(judged("npm run build a", "npm run build b")) == ["npm run build *"]


def test_what_an_allow_rule_covers_but_another_wants_asked_needs_a_rule() -> None:
    part = Segment(1, (0, 1), ("cat", "a"), rules=("notes.read",), allowed_by="cat")
    shown = (finding("notes.read"),)
    assert texts(judged(segments=(part,), findings=shown)) == ["cat a *"]
    whole = (finding("raw.text", segment=None),)
    part = Segment(1, (0, 1), ("cat", "a"), allowed_by="cat")
    assert texts(judged(segments=(part,), findings=whole)) == ["cat a *"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"segments": segments("make", dynamic=True)}, "only known when it runs"),
        ({"segments": segments("")}, "only known when it runs"),
        ({"segments": segments("ls", allowed_by="ls")}, "no command of it is known"),
        ({"opaque": True}, "could not be read"),
        ({"risk": "high"}, "of high risk is decided each time"),
        ({"risk": "critical"}, "of critical risk"),
        ({"risk": "unknown"}, "of unknown risk"),
        ({"findings": (finding("x", "high"),)}, "of high risk"),
        ({"findings": (finding("x", always_ask=True),)}, "wants to be asked each time"),
        ({"findings": (finding("x", decision="deny"),)}, "wants to be asked each time"),
    ],
)
def test_what_is_grave_or_not_known_has_no_rule_and_says_why(
    more: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        proposed(BASH, judged("make", **more))


def test_a_medium_or_low_call_that_was_read_is_grantable() -> None:
    assert grantable(judged("make")) == ""
    assert grantable(judged("make", risk="low")) == ""


def test_a_tool_is_granted_by_its_name_and_a_fetch_by_its_hosts() -> None:
    whole = judged(segments=(Segment(1, (0, 1)),))
    assert texts(whole, tool("Edit", "edit", file_path="a")) == ["Edit"]
    fetch = tool("WebFetch", "fetch", url="https://Docs.example.org/a")
    assert texts(whole, fetch) == ["WebFetch docs.example.org"]


def test_an_operator_may_narrow_or_widen_what_is_proposed() -> None:
    data = asked(call("npm run build a"), judged("npm run build a")).data
    assert [each.text for each in rules_of(data, ())] == ["npm run build *"]
    for text in ("npm *", "npm run build a", "npm run build a *"):
        (only,) = rules_of(data, (rule(text),))
        assert (only.text, only.tool, only.number) == (text, "Bash", 1)


@pytest.mark.parametrize(
    ("edited", "says"),
    [
        (["git push *"], "covers no part of this call"),
        (["npm run *", "git push *"], "covers no part of this call"),
        (["npm run buil *"], "covers no part of this call"),
        (["npm run build"], "covers no part"),
        (["npm run *"], "no rule covers part 2, `make all`"),
    ],
)
def test_rules_that_do_not_cover_exactly_the_call_are_refused(edited: list[str], says: str) -> None:
    commands = ("npm run build a",) if "covers no" in says else ("npm run build a", "make all")
    data = asked(call(*commands), judged(*commands)).data
    with pytest.raises(ValueError, match=says):
        rules_of(data, tuple(map(rule, edited)))


def test_no_edit_makes_a_rule_where_none_is_possible() -> None:
    data = asked(call("make"), judged("make", risk="high")).data
    with pytest.raises(ValueError, match="each time"):
        rules_of(data, (rule("make *"),))
