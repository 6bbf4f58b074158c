"""A program of one's own behind a real core: what it asks, what it is told, what is on record."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from tests.e2e.programs import Core, until
from watchgate.client_api import AsyncGate, Denied, Gate
from watchgate.core.model.records import Record
from watchgate.link.core_socket import call_once
from watchgate.link.paths import paths
from watchgate.link.protocol import Request, Result
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import LAST_SEQ
from watchgate.service.system import off_switch
from watchgate.service.system.system_clock import SystemClock

PROGRAM = """
import sys
from watchgate.client_api import Denied, Gate

with Gate("etl", "run-1") as gate:
    try:
        with gate.tool_call("Bash", {"command": sys.argv[1]}, tool_class="shell") as call:
            print("RUN", call.input["command"])
            if len(sys.argv) > 2:
                raise RuntimeError(sys.argv[2])
            call.returned = "fine"
    except Denied as denied:
        print("DENIED", denied)
    except RuntimeError as fault:
        print("FAILED", fault)
"""


@pytest.fixture
def core() -> Iterator[Core]:
    core = Core()
    core.start()
    yield core
    core.end()


@pytest.fixture
def program(core: Core) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """A program in a process of its own, which may not allow what it asks."""
    started: list[subprocess.Popen[str]] = []

    def run(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PROGRAM, *words]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield run
    for each in started:
        each.kill()
        each.communicate()


def records(core: Core) -> list[Record]:
    """Everything on record; what is told last is there when the core has stopped."""
    assert core.process is not None
    core.process.terminate()
    core.process.wait(timeout=60)
    return list(journal_reader.read(paths(os.environ).journal, 1, LAST_SEQ))


def test_what_an_operator_allows_runs_and_is_confirmed(
    core: Core, program: Callable[..., subprocess.Popen[str]]
) -> None:
    running = program("git push --force")
    (request,) = core.pending()
    assert (request["agent"], request["session"], request["tool"]) == ("etl", "run-1", "Bash")
    assert core.allow(request).code == 0
    assert running.communicate(timeout=60)[0] == "RUN git push --force\n"
    kinds = [record.kind for record in records(core) if record.agent == "etl"]
    assert kinds[0] == "session.start"
    assert kinds[-1] == "session.end"
    assert {"approval.decided", "effect.confirmed", "tool.post"} <= set(kinds)


def test_what_an_operator_edits_runs_as_it_was_edited_and_is_no_alarm(
    core: Core, program: Callable[..., subprocess.Popen[str]]
) -> None:
    running = program("git push --force")
    (request,) = core.pending()
    made = {"command": "git push"}
    preview = Request(id=1, verb="preview", request=request["id"], input=made)
    becomes = call_once(core.runtime / "control.sock", preview)
    assert isinstance(becomes, Result)
    words = ("--command", "git push", "--digest", becomes.ok["digest"])
    assert core.cli("allow", request["id"], *words).code == 0
    assert running.communicate(timeout=60)[0] == "RUN git push\n"
    kinds = {record.kind for record in records(core)}
    assert "effect.confirmed" in kinds
    assert "effect.contradicted" not in kinds


def test_what_a_program_asked_can_be_decided_again(
    core: Core, program: Callable[..., subprocess.Popen[str]]
) -> None:
    program("ls").communicate(timeout=60)
    records(core)
    said = core.cli("replay", "--headless", "etl:run-1")
    assert (said.code, said.out) == (0, "")
    assert "0 of 1 decisions differ" in said.err
    assert "not decided again" not in said.err


def test_what_an_operator_denies_does_not_run_and_says_why(
    core: Core, program: Callable[..., subprocess.Popen[str]]
) -> None:
    running = program("git push --force")
    (request,) = core.pending()
    assert core.cli("deny", request["id"], "--reason", "not on a Friday").code == 0
    said = running.communicate(timeout=60)[0]
    assert said.startswith("DENIED ")
    assert "not on a Friday" in said


def test_what_no_rule_minds_is_handed_back_and_how_it_failed_is_on_record(
    core: Core, program: Callable[..., subprocess.Popen[str]]
) -> None:
    assert (
        program("ls", "disk is full").communicate(timeout=60)[0] == "RUN ls\nFAILED disk is full\n"
    )
    (failed,) = [record for record in records(core) if record.kind == "tool.error"]
    assert failed.data["ok"] is False


def test_what_it_starts_may_not_allow_its_own_call(
    core: Core, program: Callable[..., subprocess.Popen[str]]
) -> None:
    asked = Gate("etl", "run-1")
    said: list[Any] = []
    import threading

    thread = threading.Thread(
        target=lambda: said.append(
            asked.ask("Bash", {"command": "git push --force"}, tool_class="shell")
        )
    )
    thread.start()
    (request,) = core.pending()
    # This process asked, so whatever it starts is refused, as below an agent.
    refused = core.cli("allow", request["id"], "--digest", request["digest"])
    assert refused.code == 1
    assert "self_approval" in refused.err
    assert core.cli("deny", request["id"]).code == 0
    thread.join(60)
    assert said[0].decision == "deny"


async def test_a_cancelled_task_withdraws_what_it_asked(core: Core) -> None:
    async with anyio.create_task_group() as tasks:
        asking = {"command": "git push --force"}
        tasks.start_soon(lambda: AsyncGate("etl", "run-2").ask("Bash", asking, tool_class="shell"))
        await anyio.to_thread.run_sync(core.pending)
        tasks.cancel_scope.cancel()
    await anyio.to_thread.run_sync(
        lambda: until(lambda: not core.cli("ls", "--json").lines, "withdrawn")
    )


async def test_async_programs_are_told_the_same(core: Core) -> None:
    async with AsyncGate("etl", "run-3") as gate:
        async with gate.tool_call("Bash", {"command": "ls"}, tool_class="shell") as call:
            assert call.input == {"command": "ls"}
            assert call.answer.decision == "handback"
        assert await gate.report("message", text="done")
    found = await anyio.to_thread.run_sync(records, core)
    mine = [record for record in found if record.session == "run-3"]
    assert [r.kind for r in mine if r.kind != "hook.trace"] == [
        "session.start", "tool.pre", "tool.post", "message", "session.end",
    ]  # fmt: skip


def test_a_gate_that_is_switched_off_hands_back_and_it_is_on_record(core: Core) -> None:
    off_switch.write_switch(paths(os.environ).off, SystemClock().now().wall_us // 1_000_000 + 600)
    answer = Gate("etl", "run-4").ask("Bash", {"command": "git push --force"}, tool_class="shell")
    assert (answer.decision, answer.may_run) == ("handback", True)
    (notice,) = [r for r in records(core) if r.session == "run-4"]
    assert notice.kind == "notice"


def test_a_denied_tool_call_raises_before_the_block(core: Core) -> None:
    core.kill()
    with pytest.raises(Denied), Gate("etl").tool_call("Bash", {"command": "ls"}):
        raise AssertionError("it ran")
