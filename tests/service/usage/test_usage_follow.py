"""A running core tells what the files of sessions add up to, while they grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.usage.living import Living, cost_of
from tests.service.wire_frames import until
from watchgate.core.usage.session_usage import NANO, Tokens
from watchgate.service.history import recorded_sessions
from watchgate.service.usage import usage_follow

pytestmark = pytest.mark.anyio


@pytest.fixture
def core(
    runtime_dir: Path, state_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Living:
    monkeypatch.setattr(usage_follow, "EACH_S", 0.05)
    monkeypatch.setattr(usage_follow, "SOON_S", 0.02)
    return Living(runtime_dir, state_dir, tmp_path / "home")


async def test_what_was_used_before_is_known_and_what_is_added_follows(core: Living) -> None:
    core.write("s1", 10, 20)
    async with core.running():
        before = await core.until(lambda seen: seen.cost == cost_of(10, 20), "s1")
        core.write("s1", 30)
        after = await core.until(lambda seen: seen.cost != before.cost, "s1")
    assert (before.source, before.is_lower_bound, before.label) == ("computed", False, "demo")
    assert after.cost == cost_of(10, 20, 30)
    assert after.tokens == Tokens(input=300, output=60)
    assert after.counted is not None
    assert after.counted.rows == core.counted_anew("s1")


async def test_a_session_that_no_hook_told_of_is_in_the_costs_and_in_no_list_of_sessions(
    core: Living,
) -> None:
    core.write("s1", 10)
    async with core.running():
        await core.until(lambda seen: seen.cost, "s1")
        state = await core.state()
        with pytest.raises(recorded_sessions.PastError):
            recorded_sessions.find_session(core.paths.journal, None)
    assert not state.sessions
    assert [each.cost for each in state.usage.spent] == [cost_of(10)]
    assert state.usage.tool_cost("claude", "s1", "toolu_1") is not None
    assert "genai-prices" in state.usage.prices


async def test_a_file_that_is_written_anew_takes_its_figures_back(core: Living) -> None:
    core.write("s1", 10, 20)
    async with core.running():
        await core.until(lambda seen: seen.cost == cost_of(10, 20), "s1")
        fresh = core.file("s1").with_suffix(".new")
        fresh.write_bytes(core.line("s1", output=5))
        fresh.replace(core.file("s1"))
        seen = await core.until(lambda seen: seen.cost == cost_of(5), "s1")
    assert seen.counted is not None
    assert seen.counted.rows == core.counted_anew("s1")


async def test_a_sub_agent_that_appears_counts_to_its_session(core: Living) -> None:
    core.write("s1", 10)
    async with core.running():
        await core.until(lambda seen: seen.cost == cost_of(10), "s1")
        core.write("s1", 7, sub="a1")
        seen = await core.until(lambda seen: seen.cost == cost_of(10, 7), "s1")
    assert [(each.sub, each.cost) for each in seen.subs] == [("a1", cost_of(7))]


async def test_after_a_restart_nothing_is_told_twice(core: Living) -> None:
    core.write("s1", 10)
    core.write("s2", 20)
    async with core.running():
        await core.until(lambda seen: seen.cost == cost_of(10), "s1")
        await core.until(lambda seen: seen.cost == cost_of(20), "s2")
    told = len(core.records())
    core.write("s1", 30)
    async with core.running():
        await core.until(lambda seen: seen.cost == cost_of(10, 30), "s1")
    again = core.records()[told:]
    assert [(each.session, len(each.data["tools"])) for each in again] == [("s1", 1)]


async def test_usage_that_is_told_of_a_session_with_a_file_counts_once(core: Living) -> None:
    async with core.running():
        await core.tell("s1", input=100, output=10, model="house-model")
        told = await core.until(lambda seen: seen.counted, "s1")
        core.write("s1", 10)
        core.write("s1", 20)
        both = await core.until(lambda seen: seen.cost == cost_of(10, 20), "s1")
        state = await core.state()
    assert (told.cost, told.source) == (cost_of(10), "computed")
    assert both.tokens == Tokens(input=200, output=30)
    assert [each.cost for each in state.usage.spent] == [cost_of(10, 20)]


async def test_the_cost_that_an_agent_told_since_the_middle_does_not_hide_what_files_know(
    core: Living,
) -> None:
    core.write("s1", 10)
    async with core.running():
        await core.until(lambda seen: seen.cost == cost_of(10), "s1")
        await core.tell("s1", total_cost_usd=5.0)
        seen = await core.until(lambda seen: seen.reported.cost, "s1")
        state = await core.state()
    assert (seen.cost, seen.source) == (cost_of(10), "computed")
    assert seen.reported.cost == 5 * NANO
    assert [each.cost for each in state.usage.spent] == [cost_of(10)]


async def test_no_transcript_is_read_where_the_configuration_says_so(
    runtime_dir: Path, state_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_follow, "EACH_S", 0.05)
    core = Living(runtime_dir, state_dir, tmp_path / "home", transcripts=False)
    core.write("s1", 10)
    async with core.running():
        await core.tell("s2", input=100, output=20, model="house-model")
        seen = await core.until(lambda seen: seen.cost, "s2")
        state = await core.state()
    assert seen.cost == cost_of(20)
    assert list(state.usage.sessions) == [("claude", "s2")]


async def test_a_disk_that_fails_ends_no_core(
    core: Living, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_follow, "FAULT_S", 0.01)
    core.write("s1", 10)
    async with core.running():
        await core.until(lambda seen: seen.cost, "s1")
        with monkeypatch.context() as broken:
            broken.setattr("watchgate.service.usage.usage_files.UsageFiles.look", _fails)
            core.write("s1", 20)
            await until(lambda: core.records("notice"), "the fault on record")
        await core.until(lambda seen: seen.cost == cost_of(10, 20), "s1")


def _fails(_book: object) -> None:
    raise OSError("no such device")
