"""A call that was changed: what ran is shown, with what was asked for beside it."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.builders import permission, post, pre, shell
from tests.core.gate.test_handler_dispatcher import gate
from tests.core.world import World
from watchgate.core.history.call_history import fold_history
from watchgate.core.history.history_row import HistoryRow, lean
from watchgate.core.model.call_row import AsAsked, CallRow
from watchgate.core.model.events import Can, Event, Tool, ToolResult
from watchgate.core.model.records import Record
from watchgate.core.model.verdicts import Modify, SayAllow
from watchgate.core.tools.tool_input import input_hash

ASKED = AsAsked(summary="critical x", risk="critical", by="operator")
SAFE = {"command": "low x"}


def ran(command: str) -> Event:
    """The result of a call with the input that was told in place of its own."""
    args = {"command": command}
    return post(Tool("Bash", "Bash", "shell", args, input_hash(args, "shell"), "c1"))


def edited(*, runs: bool = True) -> World:
    world = World()
    world.edit(world.ask(pre(shell("critical x", "c1")), 1), SAFE)
    world.commit()
    if runs:
        world.send(ran("low x"))
    return world


def row(world: World) -> CallRow:
    (only,) = world.state.rows
    return only


def recorded(records: list[Record]) -> HistoryRow:
    (only,) = fold_history(records, 10)
    return only


def test_a_row_tells_the_call_that_ran_and_beside_it_what_was_asked_for() -> None:
    for shown in (row(edited()), recorded(edited().records)):
        assert (shown.summary, shown.risk, shown.asked) == ("low x", "low", ASKED)
        assert shown.asked is not None
        assert shown.asked.verb == "edited"


def test_the_pages_of_the_history_need_no_input_to_tell_it() -> None:
    records = [lean(record) for record in edited().records]
    assert all(not record.data.get("before") for record in records)
    assert recorded(records) == recorded(edited().records)


def test_records_of_an_earlier_version_tell_it_as_well() -> None:
    world = edited()
    old = [
        msgspec.structs.replace(
            record, data={k: v for k, v in record.data.items() if not k.startswith("asked")}
        )
        for record in world.records
    ]
    assert recorded(old).asked == ASKED


def test_what_was_settled_says_what_was_asked_for() -> None:
    first, second = edited().state.settled
    assert (first.summary, first.asked, first.word) == ("critical x", None, "edited-by-operator")
    assert (second.summary, second.risk, second.asked) == ("low x", "low", ASKED)


def test_an_edited_call_is_not_confirmed_as_the_one_that_was_asked_for() -> None:
    (confirmed,) = edited().all("effect.confirmed")
    assert confirmed.data["what"] == "ran as edited"


def test_the_record_of_its_result_tells_what_ran() -> None:
    (ended,) = edited().all("tool.post")
    assert ended.data["summary"] == "low x"


def test_the_model_is_told_of_the_edit_and_of_what_ran() -> None:
    reply = edited().reply(1)
    assert isinstance(reply, SayAllow)
    assert reply.input == SAFE
    assert reply.context == (
        "An operator edited this call before it ran. What you asked for did not run; the result is"
        " that of: low x"
    )


def test_a_secret_that_an_operator_put_in_is_not_told_the_model() -> None:
    world, token = World(), "ghp_" + "a1B2" * 9
    world.edit(world.ask(pre(), 1), {"command": f"low {token}"})
    world.commit()
    reply = world.reply(1)
    assert isinstance(reply, SayAllow)
    assert token not in reply.context


def test_a_long_edit_is_told_in_part() -> None:
    world = World()
    world.edit(world.ask(pre(), 1), {"command": "low " + "x " * 40_000})
    world.commit()
    reply = world.reply(1)
    assert isinstance(reply, SayAllow)
    assert len(reply.context) < 2_200


def test_an_allow_without_an_edit_tells_the_model_nothing() -> None:
    world = World()
    world.allow(world.ask(pre(), 1))
    assert world.reply(1) == SayAllow(None)
    assert row(world).asked is None


def test_an_edit_that_was_never_told_leaves_the_call_as_it_was_asked() -> None:
    world = World()
    world.edit(world.ask(pre(shell("critical x", "c1")), 1), SAFE)
    world.commit(ok=False)
    for shown in (row(world), recorded(world.records)):
        assert (shown.summary, shown.risk, shown.asked) == ("critical x", "critical", None)


def test_an_agent_that_ran_the_call_as_it_was_all_the_same_is_shown_to_have_done_so() -> None:
    world = edited(runs=False)
    world.send(post(shell("critical x", "c1")))
    for shown in (row(world), recorded(world.records)):
        assert (shown.summary, shown.risk, shown.asked) == ("critical x", "critical", None)
        assert shown.alarm


def test_an_agent_that_ran_a_third_call_is_shown_with_that() -> None:
    world = World()
    world.allow(world.ask(pre(shell("high x", "c1")), 1))
    world.send(post(shell("high z", "c1")))
    shown = row(world)
    assert shown.summary == "high z"
    assert shown.asked == AsAsked(summary="high x", risk="high", by="agent")


def test_a_call_that_a_handler_rewrote_is_told_the_same_way() -> None:
    world = World(handlers=[gate()])
    world.send(pre(shell("low", "c1")), 1)
    world.says("guard", Modify({"command": "low --dry-run"}))
    request = world.broker.open[world.broker.of_conn(1) or ""]
    assert request.data.asked == "low"
    world.allow(request)
    world.send(ran("low --dry-run"))
    for shown in (row(world), recorded(world.records)):
        assert shown.summary == "low --dry-run"
        assert shown.asked is not None
        assert (shown.asked.summary, shown.asked.verb) == ("low", "rewritten")
    assert world.all("effect.confirmed")[0].data["what"] == "ran as rewritten"


def test_a_rewritten_call_that_was_denied_is_the_one_that_was_asked_for() -> None:
    world = World(handlers=[gate()])
    world.send(pre(shell("low", "c1")), 1)
    world.says("guard", Modify({"command": "low --dry-run"}))
    world.decide(world.broker.open[world.broker.of_conn(1) or ""], "deny")
    assert (row(world).summary, row(world).asked) == ("low", None)


# What a call took is the machine's time; a person's is waited for.


def test_what_a_call_took_begins_with_the_decision() -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.advance(33)
    world.allow(request)
    world.advance(2)
    world.send(post())
    for shown in (row(world), recorded(world.records)):
        assert shown.took_ms == 2_000
    assert row(world).waited_ms == 33_000


@pytest.mark.parametrize(("agents_ms", "took_ms"), [(35_100, 2_000), (90, 90)])
def test_an_agents_own_figure_that_counts_the_wait_is_not_taken(
    agents_ms: int, took_ms: int
) -> None:
    world = World()
    request = world.ask(pre(), 1)
    world.advance(33)
    world.allow(request)
    world.advance(2)
    event = post()
    assert isinstance(event.body, ToolResult)
    body = msgspec.structs.replace(event.body, took_ms=agents_ms)
    world.send(msgspec.structs.replace(event, body=body))
    assert row(world).took_ms == took_ms


def test_an_edit_is_waited_for_once() -> None:
    world = World()
    request = world.ask(pre(shell("critical x", "c1")), 1)
    world.advance(20)
    world.edit(request, SAFE)
    world.commit()
    world.advance(1)
    world.send(ran("low x"))
    assert (row(world).waited_ms, row(world).took_ms) == (20_000, 1_000)


@pytest.mark.parametrize("how", ["deny", "silence"])
def test_what_never_ran_took_no_time_and_was_waited_for(how: str) -> None:
    world = World(timeout_s=30)
    request = world.ask(pre(), 1)
    world.advance(12)
    if how == "deny":
        world.decide(request, "deny")
    else:
        world.advance(300)
    shown = row(world)
    assert shown.took_ms is None
    assert shown.waited_ms is not None
    assert shown.waited_ms >= 12_000
    assert recorded(world.records).took_ms is None


def test_what_a_rule_denied_was_waited_for_by_nobody() -> None:
    world = World()
    world.send(pre(shell("deny x", "c1")), 1)
    assert (row(world).took_ms, row(world).waited_ms) == (None, None)


def test_a_call_that_nobody_held_took_the_time_from_its_beginning() -> None:
    world = World()
    world.send(pre(shell("low", "c1")), 1)
    world.advance(3)
    world.send(post(shell("low", "c1")))
    assert (row(world).took_ms, row(world).waited_ms) == (3_000, None)


def test_nobody_knows_what_a_call_took_that_its_agent_asked_about_by_itself() -> None:
    world = World()
    world.decide(world.ask(pre(), 1), "handback")
    world.advance(60)
    world.send(post())
    assert (row(world).took_ms, recorded(world.records).took_ms) == (None, None)


def test_nor_where_only_its_own_question_tells_of_it() -> None:
    world = World("watch")
    world.send(pre(shell("low", "c1")), 1)
    world.send(permission(shell("low", "c1")), 2)
    world.advance(60)
    world.send(post(shell("low", "c1")))
    assert (row(world).took_ms, recorded(world.records).took_ms) == (None, None)


def test_a_permission_that_is_asked_about_the_edited_call_is_allowed_as_it_is() -> None:
    """Codex takes the edit at its gate, and then asks to leave its sandbox with the new command."""
    takes_no_edit = Can(allow=True, deny=True)
    world = World()
    world.edit(world.ask(pre(shell("critical x", "c1")), 1), SAFE)
    world.commit()
    tool = Tool("Bash", "Bash", "shell", SAFE, input_hash(SAFE, "shell"))
    world.send(permission(tool, races=False, can=takes_no_edit), 2)
    reply = world.reply(2)
    assert isinstance(reply, SayAllow)
    assert reply.input is None
