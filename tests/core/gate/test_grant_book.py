"""Which calls a standing grant answers, and which it never does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import START, sub
from tests.core.gate.grants.calls import allowed, asked, call, finding, judged, segments, tool
from watchgate.core.base.clock import Instant
from watchgate.core.gate.effects import Effect, Emit
from watchgate.core.gate.grant_book import Grants
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.assessment import Assessment, Segment
from watchgate.core.model.events import Event
from watchgate.core.model.standing_grant import Grant, GrantOverData, GrantRule, GrantView, Width

DAY_S = 86_400.0
BUILD = "npm run build"


def kinds(effects: list[Effect]) -> list[str]:
    return [each.draft.kind for each in effects if isinstance(each, Emit)]


def why(effects: list[Effect]) -> list[str]:
    drafts = [each.draft for each in effects if isinstance(each, Emit)]
    return [each.data.why for each in drafts if isinstance(each.data, GrantOverData)]


def give(
    grants: Grants,
    scope: str = "always",
    *commands: str,
    found: Assessment | None = None,
    id: str = "r1",
    rules: tuple[GrantRule, ...] = (),
    width: Width | None = None,
    **fields: Any,
) -> Grant:
    commands = commands or (BUILD,)
    event, found = call(*commands, **fields), found or judged(*commands)
    grant, effects = grants.give(
        allowed(asked(event, found, id), scope, *rules, width=width), START
    )
    assert kinds(effects)[-1] == "grant.given"
    return grant


def covers(
    grants: Grants,
    *commands: str,
    found: Assessment | None = None,
    now: Instant = START,
    asked_by: str = "",
    **fields: Any,
) -> bool:
    event, found = call(*commands, **fields), found or judged(*commands)
    assert event.tool is not None
    return grants.covering(event, event.tool, found, now, asked_by=asked_by) is not None


def scopes(grants: Grants, event: Event, found: Assessment, asked_by: str = "") -> tuple[str, ...]:
    assert event.tool is not None
    return grants.scopes(event.tool, found, asked_by=asked_by)


# --- exact grants


@pytest.mark.parametrize("scope", ["turn", "session", "15m"])
def test_a_grant_for_now_answers_the_exact_call_alone(scope: str) -> None:
    grants = Grants()
    give(grants, scope)
    assert covers(grants, BUILD)
    assert not covers(grants, f"{BUILD} --watch")
    assert not covers(grants, BUILD, cwd="/elsewhere")
    assert not covers(grants, BUILD, session="two")
    assert not covers(grants, BUILD, agent="codex")
    assert not covers(grants, BUILD, sub=sub())


def test_a_turn_grant_is_for_its_own_turn() -> None:
    grants = Grants()
    give(grants, "turn")
    assert not covers(grants, BUILD, turn="t2")
    assert not covers(grants, BUILD, turn=None)


def test_a_grant_of_15_minutes_ends_on_the_second_and_says_so() -> None:
    grants = Grants()
    grant = give(grants, "15m")
    assert grants.next_deadline() == START.mono_s + 900
    assert grant.view.until_at == START.plus(900).wall_us
    assert covers(grants, BUILD, now=START.plus(899.9))
    assert not covers(grants, BUILD, now=START.plus(900))
    assert why(grants.expire(START.plus(900))) == ["its 15 minutes are over"]
    assert grants.next_deadline() is None


def test_what_was_granted_ends_with_what_it_was_granted_for() -> None:
    grants = Grants()
    give(grants, "turn", "a")
    give(grants, "session", "b", id="r2")
    give(grants, "turn", "c", id="r3", session="two")
    assert why(grants.end_turn("claude", "one", START)) == ["its turn is over"]
    assert covers(grants, "b")
    assert why(grants.end_session("claude", "one", START)) == ["its session is over"]
    assert not covers(grants, "b")
    assert covers(grants, "c", session="two")


def test_a_later_grant_for_the_same_call_replaces_the_earlier() -> None:
    grants = Grants()
    give(grants, "turn")
    event = call(BUILD)
    request = allowed(asked(event, judged(BUILD), "r2"), "session")
    grant, effects = grants.give(request, START)
    assert kinds(effects) == ["grant.expired", "grant.given"]
    assert event.tool is not None
    assert grants.covering(event, event.tool, judged(BUILD), START) is grant


# --- what no grant answers


@pytest.mark.parametrize("scope", ["session", "always"])
@pytest.mark.parametrize(
    "graver",
    [
        {"risk": "high"},
        {"risk": "critical"},
        {"risk": "unknown"},
        {"opaque": True},
        {"decision": "deny"},
        {"findings": (finding(always_ask=True),)},
        {"findings": (finding(), finding("secrets.read", "high"))},
        {"findings": (finding("x", decision="deny"),)},
    ],
)
def test_no_grant_answers_what_is_denied_grave_or_not_understood(
    scope: str, graver: dict[str, Any]
) -> None:
    grants = Grants()
    give(grants, scope)
    assert covers(grants, BUILD)
    assert not covers(grants, BUILD, found=judged(BUILD, **graver))


# --- grants for good


def test_ap_8_a_grant_for_good_answers_its_rules_in_every_session_of_its_agent_and_folder() -> None:
    grants = Grants()
    give(grants)
    assert covers(grants, f"{BUILD} --watch", session="two", turn="t9", sub=sub())
    assert not covers(grants, "npm run other")
    assert not covers(grants, BUILD, cwd="/home/u/app/web")
    assert not covers(grants, BUILD, cwd="/home/u")
    assert not covers(grants, BUILD, agent="codex")


def test_a_call_without_a_folder_is_never_answered_for_good() -> None:
    grants = Grants()
    give(grants, cwd="")
    assert not covers(grants, BUILD, cwd="")


def test_every_command_of_a_text_must_be_covered_or_allowed_by_a_rule() -> None:
    grants = Grants()
    give(grants)
    assert not covers(grants, BUILD, "git push")
    build, look = segments(BUILD, "ls")
    look = Segment(2, look.span, look.words, allowed_by="ls")
    assert covers(grants, BUILD, found=judged(segments=(build, look)))
    nested = Segment(1, build.span, ("touch", "x"), nested=True)
    assert not covers(grants, BUILD, found=judged(segments=(build, nested)))
    assert not covers(grants, BUILD, found=judged(segments=segments(BUILD, dynamic=True)))
    assert not covers(grants, BUILD, found=Assessment("ask", "medium", (finding(),)))


def test_a_change_of_the_folder_is_only_answered_where_it_was_granted() -> None:
    def found(*commands: str) -> Assessment:
        parts = segments(*commands)
        spared = [
            Segment(each.number, each.span, each.words, allowed_by="cd")
            if each.words[0] == "cd"
            else each
            for each in parts
        ]
        return judged(segments=tuple(spared))

    plain, moved = Grants(), Grants()
    give(plain)
    give(moved, found=found("cd ..", BUILD))
    assert [rule.text for rule in moved.permanent()[0].rules] == ["cd ..", f"{BUILD} *"]
    for commands, by_plain, by_moved in (
        ((BUILD,), True, True),
        (("cd ..", BUILD), False, True),
        (("cd /tmp/evil", BUILD), False, False),
        (("cd ..", "cd ..", BUILD), False, False),
    ):
        assert covers(plain, BUILD, found=found(*commands)) is by_plain
        assert covers(moved, BUILD, found=found(*commands)) is by_moved


def test_it_answers_the_findings_that_were_shown_and_ordinary_work() -> None:
    grants = Grants()
    shown = judged(BUILD, findings=(finding("npm.scripts"),))
    grant = give(grants, found=shown)
    assert grant.view.answers == ("npm.scripts",)
    for answered, *findings in (
        (True, finding("npm.scripts")),
        (True, finding("npm", decision="allow")),
        (True, finding("work.build", effect="ordinary")),
        (False, finding()),
        (False, finding("policy.redirect")),
        (False, finding("npm.publish", effect="lasting")),
        (False, finding("npm.scripts"), finding("net.upload")),
    ):
        found = judged(BUILD, findings=tuple(findings))
        assert covers(grants, BUILD, found=found) is answered, findings


def test_a_grant_of_an_earlier_version_also_answers_what_no_rule_speaks_of() -> None:
    """It has no width; what it was given for is not taken from it."""
    given, grants = (
        give(Grants(), found=judged(BUILD, findings=(finding("npm.scripts"),))),
        Grants(),
    )
    grants.restore((msgspec.structs.replace(given.view, width=None),), START)
    assert covers(grants, f"{BUILD} /srv/out")
    assert not covers(grants, BUILD, found=judged(BUILD, findings=(finding("net.upload"),)))


def test_what_a_handler_wants_asked_or_was_raised_is_not_answered_for_good() -> None:
    grants = Grants()
    give(grants)
    assert not covers(grants, BUILD, asked_by="handler guard")
    request = asked(call(BUILD), judged(BUILD), "r2", rule="handler guard")
    raised = asked(call(BUILD), judged(BUILD), "r3", raised="denied a minute ago")
    grant = give(Grants())
    assert not grants.releases(grant, request, START)
    assert not grants.releases(grant, raised, START)


def test_edited_rules_are_the_ones_in_force() -> None:
    grants = Grants()
    give(grants, rules=(GrantRule(words=("npm", "run", "build")),))
    assert covers(grants, BUILD)
    assert not covers(grants, f"{BUILD} --watch")


def test_a_fetch_is_granted_for_its_host() -> None:
    grants, found = Grants(), judged(segments=(Segment(1, (0, 1)),))

    def fetch(url: str) -> Event:
        from tests.core.builders import pre

        return pre(tool("WebFetch", "fetch", url=url), cwd="/home/u/app")

    grants.give(allowed(asked(fetch("https://a.org/x"), found), "always"), START)
    for url, answered in (("https://a.org/y", True), ("https://b.org/x", False)):
        event = fetch(url)
        assert event.tool is not None
        assert (grants.covering(event, event.tool, found, START) is not None) is answered


def test_a_grant_for_good_outlives_its_session() -> None:
    grants = Grants()
    give(grants)
    assert grants.end_turn("claude", "one", START) == []
    assert grants.end_session("claude", "one", START) == []
    assert covers(grants, BUILD)


def test_unused_for_30_days_it_expires_and_a_use_keeps_it() -> None:
    grants = Grants()
    grant = give(grants)
    used = START.plus(29 * DAY_S)
    assert kinds(grants.used(grant, asked(call(BUILD), judged(BUILD)), used)) == ["grant.used"]
    assert (grant.view.hits, grant.view.used_at) == (1, used.wall_us)
    assert grants.expire(START.plus(58 * DAY_S)) == []
    late = START.plus(59 * DAY_S)
    assert not covers(grants, BUILD, now=late)
    assert why(grants.expire(late)) == ["it was not used for 30 days"]
    assert grants.permanent() == ()


# --- release of what waits


def test_what_waits_and_is_equal_is_released() -> None:
    grants = Grants()
    grant = give(grants, "session")
    assert grants.releases(grant, asked(call(BUILD), judged(BUILD), "r2"), START)
    other = asked(call(f"{BUILD} x"), judged(f"{BUILD} x"), "r3")
    assert not grants.releases(grant, other, START)
    assert grants.releases(give(grants, id="r4"), other, START)
    grave = asked(call(f"{BUILD} x"), judged(f"{BUILD} x", risk="high"), "r5")
    assert not grants.releases(give(grants, id="r6"), grave, START)


# --- what is offered


def test_always_is_offered_from_the_first_request_on() -> None:
    offered = ("once", "turn", "session", "15m", "always")
    assert scopes(Grants(), call(BUILD), judged(BUILD)) == offered


def test_always_is_never_offered_for_what_no_grant_may_answer() -> None:
    grants = Grants()
    event = call(BUILD)
    assert scopes(grants, event, judged(BUILD), "handler x") == ("once", "turn", "session", "15m")
    for graver in ({"risk": "high"}, {"opaque": True}, {"findings": (finding(always_ask=True),)}):
        assert scopes(grants, event, judged(BUILD, **graver)) == ("once",)
    dynamic = judged(segments=segments(BUILD, dynamic=True))
    assert "always" not in scopes(grants, event, dynamic)


# --- taking back, and keeping


def test_a_grant_is_taken_back_by_its_id_or_prefix() -> None:
    grants = Grants()
    give(grants, id="abcd1")
    give(grants, "session", id="abcd2")
    for prefix in ("abcd", "abc", "zzzz", ""):
        with pytest.raises(Refused) as refused:
            grants.revoke(prefix, "operator ann", START)
        assert refused.value.code == "unknown_id"
    view, effects = grants.revoke("abcd1", "operator ann", START)
    assert view.scope == "always"
    assert kinds(effects) == ["grant.revoked"]
    assert grants.permanent() == ()
    assert covers(grants, BUILD), "the one for the session still answers"
    grants.revoke("abcd2", "operator ann", START)
    assert not covers(grants, BUILD)


def test_only_grants_for_good_are_kept_and_come_back_as_they_were() -> None:
    grants = Grants()
    give(grants)
    give(grants, "session", "other", id="r2")
    (kept,) = grants.permanent()
    again = Grants()
    assert kinds(again.restore((kept,), START)) == ["grant.kept"]
    assert again.permanent() == (kept,)
    assert covers(again, f"{BUILD} --watch", session="later")


def test_what_is_too_old_or_never_was_for_good_does_not_come_back() -> None:
    grants = Grants()
    kept = give(grants).view
    again = Grants()
    late = START.plus(31 * DAY_S)
    assert kinds(again.restore((kept,), late)) == ["grant.kept", "grant.expired"]
    fields = {name: getattr(kept, name) for name in GrantView.__struct_fields__}
    session = GrantView(**{**fields, "scope": "session"})
    endless = GrantView(**{**fields, "until_at": 0})
    assert again.restore((session, endless), START) == []
    assert again.permanent() == ()


def test_a_clock_that_was_ahead_makes_no_grant_last_longer() -> None:
    grants = Grants()
    kept = give(grants).view
    again = Grants()
    again.restore((kept,), START.plus(-100 * DAY_S))
    assert again.permanent()[0].until_at == START.plus(-70 * DAY_S).wall_us
