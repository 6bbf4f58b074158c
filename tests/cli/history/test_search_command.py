"""`search_command`: recorded history by the filter language, and what a fault in it looks like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from tests.e2e.programs import until
from tests.service.scribe import write_history
from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit
from watchgate.cli.history import search_command
from watchgate.service.history import record_pages
from watchgate.service.system.runtime_dir import claim_holder

Held = Callable[..., dict[str, Any]]


def test_the_newest_come_first_and_no_more_than_asked(cli: Cli, held: Held) -> None:
    held("git push --force", "c1")
    held("git reset --hard", "c2")
    found = cli("search", "kind:approval.requested", "--json")
    assert found.code == Exit.DONE
    assert [line["data"]["summary"] for line in found.lines] == [
        "git reset --hard",
        "git push --force",
    ]
    assert len(cli("search", "kind:approval.requested", "--limit", "1", "--json").lines) == 1


def test_pages_of_the_core_join_without_a_seam(
    cli: Cli, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        held("git push --force", f"c{number}")
    at_once = cli("search", "git", "--json").lines
    monkeypatch.setattr(search_command, "PAGE", 2)
    assert cli("search", "git", "--json").lines == at_once
    assert len(at_once) > 3


def test_a_search_goes_on_where_the_core_stopped_looking(
    cli: Cli, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    held()
    at_once = cli("search", "kind:tool.pre", "--json").lines
    monkeypatch.setattr(record_pages, "LONGEST_S", 0.0)
    assert cli("search", "kind:tool.pre", "--json").lines == at_once


def test_decisions_are_found_by_state_and_by_who(cli: Cli, held: Held) -> None:
    request = held()
    cli("deny", request["id"], "--as", "kim")
    for text in ("state:denied", "state:denied-by-operator", "by:operator", "by:kim"):
        found = cli("search", f"kind:approval.decided {text}", "--json").lines
        assert [line["request"] for line in found] == [request["id"]], text
    assert cli("search", f"request:{request['id'][:4]} kind:approval.* risk>=high").code == 0


def test_times_are_read_at_the_core(cli: Cli, held: Held) -> None:
    held()
    assert cli("search", "since:1h", "kind:tool.pre").code == Exit.DONE
    assert cli("search", "until:1h", "kind:tool.pre").code == Exit.REFUSED


def test_a_line_for_people_tells_the_day_and_no_control_bytes(cli: Cli, held: Held) -> None:
    held("git push --force \x1b[31m")
    line = cli("search", "kind:tool.pre").out.splitlines()[0]
    assert "<U+001B>" in line
    assert "\x1b" not in line
    moment = line.split()[0]
    assert cli("search", f"since:{moment}", "kind:tool.pre").code == Exit.DONE


def test_nothing_found_exits_1(cli: Cli, core: Core) -> None:
    said = cli("search", "agent:gemini")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "nothing that was recorded matches" in said.err


def test_without_a_core_and_without_a_journal_it_exits_3(cli: Cli) -> None:
    assert cli("search", "risk:high").code == Exit.NO_CORE


@pytest.mark.parametrize("command", ["search", "tail"])
def test_a_fault_has_carets_below_it_and_exits_2(cli: Cli, command: str) -> None:
    said = cli(command, "agent:claude", "risk:hgih", "git")
    assert said.code == Exit.USAGE
    line, carets, why = said.err.splitlines()
    assert line == "  agent:claude risk:hgih git"
    assert carets == "                    ^^^^"
    assert line[carets.index("^") : len(carets)] == "hgih"
    assert why.startswith("watchgate: unknown risk hgih; did you mean high?")


def test_carets_stand_below_what_takes_two_cells(cli: Cli) -> None:
    line, carets, _ = cli("search", "\u6f22\u5b57 \u200b risk:x").err.splitlines()
    assert line == "  \u6f22\u5b57 <U+200B> risk:x"
    assert carets == " " * (2 + 4 + 1 + 8 + 1 + 5) + "^"


@pytest.mark.parametrize("limit", ["0", "-1", "many", "\u00b2"])
def test_a_limit_that_is_none_exits_2(cli: Cli, limit: str) -> None:
    assert cli("search", "git", "--limit", limit).code == Exit.USAGE


def test_without_a_core_the_journal_itself_is_searched(cli: Cli) -> None:
    journal = here().journal
    journal.parent.mkdir(parents=True, exist_ok=True)
    write_history(journal, 300)
    lines = cli("search", "agent:claude", "--limit", "250", "--json").lines
    assert [line["seq"] for line in lines] == list(range(300, 50, -1))
    said = cli("search", "agent:gemini")
    assert (said.code, said.out) == (Exit.REFUSED, "")


def test_a_journal_that_cannot_be_read_is_told(cli: Cli) -> None:
    journal = here().journal
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.write_bytes(b"no database" * 1_000)
    said = cli("search", "agent:claude")
    assert said.code == Exit.REFUSED
    assert "is not a database" in said.err


@pytest.fixture
def alike(cli: Cli, core: Core) -> dict[str, str]:
    """Two sessions in one folder: their ids by the names that the console shows."""
    for number, session in enumerate(("aaaa1111-0000", "bbbb2222-0000"), 1):
        core.hold(call=f"c{number}", session=session)
        until(lambda: len(cli("ls", "--json").lines) == number, "held")  # noqa: B023
    return {each["label"]: each["session"] for each in cli("ls", "--sessions", "--json").lines}


def test_a_name_that_the_console_shows_means_that_session_in_every_command(
    cli: Cli, alike: dict[str, str]
) -> None:
    assert alike == {"app": "aaaa1111-0000", "app~bbbb": "bbbb2222-0000"}
    for name, id in alike.items():
        for command in (
            ("search", f"session:{name}", "--json"),
            ("export", "--session", name),
            ("export", f"session:{name}"),
        ):
            said = cli(*command)
            assert {line["session"] for line in said.lines} == {id}, (command, said.err)
        replayed = cli("replay", name, "--headless")
        assert (replayed.code, replayed.err.count("may be any")) == (Exit.DONE, 0)


def test_a_name_that_several_had_is_told_with_their_ids(
    cli: Cli, alike: dict[str, str], core: Core
) -> None:
    cli("stop")
    until(lambda: not claim_holder(here()), "a core that has written everything")
    said = cli("search", "session:app")
    assert said.code == Exit.REFUSED
    assert all(f"claude:{id}" in said.err for id in alike.values())
