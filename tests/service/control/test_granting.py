"""Standing grants over the control socket: proposed, given, listed, taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.service.control.counter import AGENT, TERMINAL, Counter
from tests.service.scribe import write_history
from watchgate.core.model.standing_grant import GrantRule
from watchgate.service.hub.grant_sync import load_grants
from watchgate.service.system.process_table import Proc


@pytest.fixture
def counter(runtime_dir: Path) -> Counter:
    """A core that asks about everything, over a disk that answers at once."""
    write_history(runtime_dir / "journal.db", 1)
    counter = Counter(runtime_dir, "strict")
    counter.desk.paper.at_once = True
    return counter


async def allow(counter: Counter, request: dict[str, Any], **more: Any) -> dict[str, Any]:
    facts = {"digest": request["digest"], "decision": "allow", "confirmed": True, "as_": "kim"}
    return await counter.ok("decide", request=request["id"], **{**facts, **more})


async def granted(counter: Counter, *rules: GrantRule) -> str:
    for number in range(3):
        await allow(counter, await counter.held(f"medium build {number}", call=f"c{number}"))
    request = await counter.held("medium build x", call="c9")
    done = await allow(counter, request, scope="always", rules=rules)
    assert done["word"] == "allowed-by-operator"
    return str(done["request"])


async def test_a_proposal_names_the_rules_the_folder_and_the_past(counter: Counter) -> None:
    request = await counter.held("medium build x")
    found = await counter.ok("propose", request=request["id"][:4])
    nothing = {"past": (), "past_count": 0, "why_not": ""}
    assert found == {
        "rules": [
            {
                "text": "medium build *",
                "words": ("medium", "build"),
                "more": True,
                "tool": "Bash",
                "number": 1,
            }
        ],
        "folder": "/home/u/app",
        "answers": ("test.rule",),
        "past": (),
        "past_count": 0,
        "widths": dict.fromkeys(("exact", "program", "folder"), nothing),
    }
    assert counter.desk.hub.engine.grants.permanent() == ()


async def test_an_edited_proposal_is_tried_the_same_way(counter: Counter) -> None:
    request = await counter.held("medium build x")
    sent = msgspec.convert(
        [{"words": ["medium"], "more": True, "text": "ignored"}], tuple[GrantRule, ...]
    )
    found = await counter.ok("propose", request=request["id"], rules=sent)
    assert [each["text"] for each in found["rules"]] == ["medium *"]
    wrong = (GrantRule(words=("rm",), more=True),)
    refusal = await counter.refused("propose", request=request["id"], rules=wrong)
    assert refusal.refused == "bad_request"
    assert "`rm *` covers no part of this call" in refusal.message


@pytest.mark.parametrize(
    ("scope", "width", "rules", "is_kept"),
    [
        ("session", "program", ["medium build *"], False),
        ("15m", "folder", [], False),
        ("always", "exact", ["medium build x"], True),
        ("always", "folder", [], True),
    ],
)
async def test_a_width_is_given_with_any_scope(
    counter: Counter, scope: str, width: str, rules: list[str], is_kept: bool
) -> None:
    request = await counter.held("medium build x")
    await allow(counter, request, scope=scope, width=width)
    (view,) = (await counter.ok("grants"))["grants"]
    assert (view.scope, view.width) == (scope, width)
    assert [rule.text for rule in view.rules] == rules
    assert [each.width for each in load_grants(counter.grants)] == ([width] if is_kept else [])


@pytest.mark.parametrize(
    ("command", "more", "code"),
    [
        ("medium build x", {"width": "program"}, "bad_request"),
        ("medium build /srv", {"scope": "session", "width": "folder"}, "bad_request"),
        ("high build", {"scope": "session", "width": "program"}, "not_offered"),
        (
            "medium build x",
            {"scope": "session", "width": "folder", "rules": (GrantRule(("medium",), more=True),)},
            "bad_request",
        ),
    ],
)
async def test_a_width_that_is_not_offered_is_refused(
    counter: Counter, command: str, more: dict[str, Any], code: str
) -> None:
    request = await counter.held(command)
    facts = {"digest": request["digest"], "decision": "allow", "confirmed": True, "as_": "kim"}
    refusal = await counter.refused("decide", request=request["id"], **facts, **more)
    assert refusal.refused == code
    assert (await counter.ok("grants"))["grants"] == []


async def test_what_cannot_be_allowed_for_good_says_why(counter: Counter) -> None:
    request = await counter.held("high build")
    refusal = await counter.refused("propose", request=request["id"])
    assert refusal.refused == "not_offered"
    assert "high risk is decided each time" in refusal.message
    assert (await counter.refused("propose", request="zzzz")).refused == "unknown_id"


async def test_a_grant_for_good_is_on_disk_before_the_allow_is_confirmed(counter: Counter) -> None:
    id = await granted(counter)
    assert [each.id for each in load_grants(counter.grants)] == [id]
    (view,) = (await counter.ok("grants"))["grants"]
    assert (view.id, view.scope, view.folder) == (id, "always", "/home/u/app")
    assert "kim" in view.by
    snapshot = (await counter.ok("attach"))["snapshot"]
    assert snapshot.grants == (view,)


async def test_the_edited_rules_are_given(counter: Counter) -> None:
    await granted(counter, GrantRule(words=("medium", "build", "x")))
    (view,) = load_grants(counter.grants)
    assert [rule.text for rule in view.rules] == ["medium build x"]


async def test_an_allow_stands_although_its_grant_cannot_be_kept(counter: Counter) -> None:
    counter.grants.with_name("grants.json.new").mkdir()
    for number in range(3):
        await allow(counter, await counter.held(f"medium build {number}", call=f"c{number}"))
    done = await allow(counter, await counter.held("medium build x", call="c9"), scope="always")
    assert "the grant ends with this core" in done["warning"]
    assert "cannot be written" in counter.desk.last("policy.fault")["what"]
    assert len((await counter.ok("grants"))["grants"]) == 1


async def test_a_grant_that_was_taken_back_answers_nothing_and_is_gone_from_the_disk(
    counter: Counter,
) -> None:
    id = await granted(counter)
    assert (await counter.ok("revoke", grant=id[:6], as_="kim")) == {"grant": id}
    assert "kim" in counter.desk.last("grant.revoked")["by"]
    assert load_grants(counter.grants) == ()
    assert (await counter.ok("grants"))["grants"] == []
    await counter.held("medium build y", call="c10")
    assert len((await counter.ok("list"))["requests"]) == 1


async def test_a_revocation_that_the_disk_did_not_take_says_what_that_means(
    counter: Counter,
) -> None:
    id = await granted(counter)
    counter.grants.with_name("grants.json.new").mkdir()
    refusal = await counter.refused("revoke", grant=id)
    assert refusal.refused == "failed"
    assert "answers nothing more in this core" in refusal.message
    assert "remove that file" in refusal.message
    assert (await counter.ok("grants"))["grants"] == []


@pytest.mark.parametrize(
    ("grant", "code"), [(None, "bad_request"), ("", "bad_request"), ("zzzz", "unknown_id")]
)
async def test_a_grant_that_is_not_there_cannot_be_taken_back(
    counter: Counter, grant: str | None, code: str
) -> None:
    await granted(counter)
    assert (await counter.refused("revoke", grant=grant)).refused == code
    assert len(load_grants(counter.grants)) == 1


async def test_an_agents_child_can_neither_give_nor_take_back(counter: Counter) -> None:
    id = await granted(counter)
    counter.desk.agents[7] = AGENT
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    request = await counter.held("medium other", call="c10")
    facts = {"digest": request["digest"], "decision": "allow", "confirmed": True}
    refusal = await counter.refused("decide", below, request=request["id"], **facts, scope="15m")
    assert refusal.refused == "self_approval"
    assert (await counter.refused("revoke", below, grant=id)).refused == "self_approval"
    assert await counter.ok("revoke", grant=id)


async def test_what_is_over_is_not_listed(counter: Counter) -> None:
    await allow(counter, await counter.held("medium a"), scope="15m")
    assert len((await counter.ok("grants"))["grants"]) == 1
    counter.desk.clock.advance(900)
    assert (await counter.ok("grants"))["grants"] == []
    assert counter.desk.last("grant.expired")["why"] == "its 15 minutes are over"
