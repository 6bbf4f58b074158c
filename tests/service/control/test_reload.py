"""A core takes a changed configuration in, and nobody is denied for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest

from tests.service.desk import payload
from tests.service.foreign import GOOD, install
from tests.service.host.test_core_host import RISKY, Place, pending
from tests.service.wire_frames import WAIT_S, rest
from watchgate.core.config.config import AgentsSection, Approval, Config, ConfigError
from watchgate.core.dispatch.handler_config import ExtensionConfig
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Report
from watchgate.link.control_client import connect
from watchgate.link.protocol import Refusal, Result
from watchgate.service.control import reload
from watchgate.service.host import core_run
from watchgate.service.host.core_host import CoreHost
from watchgate.service.hub.core_environment import Environment
from watchgate.service.hub.grant_sync import GrantStore, write
from watchgate.service.runners.handler_runner import Runner

ASKERS = 40


class Silent:
    """A handler that never says anything, so that a call stays judged."""

    def __init__(self) -> None:
        self.asked = anyio.Event()

    async def run(self, _event: Event, _limit_s: float) -> Report:
        self.asked.set()
        await anyio.sleep_forever()
        raise AssertionError


class Changing(Place):
    """A core whose configuration is in `file`, where an exception stands for a faulty one."""

    def __init__(
        self, runtime_dir: Path, state_dir: Path, *handlers: tuple[Handler, Runner]
    ) -> None:
        super().__init__(runtime_dir, state_dir)
        self.file: Config | Exception = self.config
        ids = iter(range(1, 1_000))
        stage = Environment(
            ids=lambda: f"{next(ids):04d}".ljust(26, "k"),
            home="/home/u",
            protected=(),
            agent_of=lambda _pid: None,
            scripted=True,
        )
        self.was_read = anyio.Event()
        self.host = CoreHost(
            self.paths, self.config, self.clock, stage, handlers=handlers, reread=self.read
        )

    def read(self) -> Config:
        self.was_read.set()
        if isinstance(self.file, Exception):
            raise self.file
        return self.file

    async def renewed(self, core: str) -> None:
        with anyio.fail_after(20):
            while self.host.core == core:  # noqa: ASYNC110 - as whoever waits for it looks
                await anyio.sleep(0.01)


@pytest.fixture
def place(runtime_dir: Path, state_dir: Path) -> Changing:
    return Changing(runtime_dir, state_dir)


async def test_what_the_file_has_otherwise_is_told_and_then_in_force(place: Changing) -> None:
    async with place.running():
        place.file = Config(approval=Approval(timeout_s=9), profile="strict")
        core = place.host.core
        async with connect(place.paths.control_socket) as client:
            told = await client.call("config")
            assert isinstance(told, Result)
            assert told.ok == {"changes": ["approval.timeout_s", "profile"], "profile": "strict"}
            assert isinstance(await client.call("config", action="reload"), Result)
        await place.renewed(core)
        async with connect(place.paths.control_socket) as client:
            assert client.hello.profile == "strict"
            same = await client.call("config")
            assert isinstance(same, Result)
            assert same.ok == {"changes": [], "profile": "strict"}
    stopped = [each for each in place.records() if each.kind == "policy.stopped"]
    assert "with another configuration" in stopped[0].data["name"]
    assert stopped[0].data["actor"]


async def test_whoever_asks_meanwhile_waits_and_is_answered(place: Changing) -> None:
    said: list[bytes] = []

    async def ask(number: int) -> None:
        async with place.hook(payload("ls", call=f"c{number}")) as hook:
            said.append(await rest(hook))

    async with place.running():
        for timeout_s in (9, 10, 11):
            place.file, core = Config(approval=Approval(timeout_s=timeout_s)), place.host.core
            async with anyio.create_task_group() as tasks:
                for number in range(ASKERS):
                    tasks.start_soon(ask, number)
                    if number == ASKERS // 2:
                        async with connect(place.paths.control_socket) as client:
                            answer = await client.call("config", action="reload")
                            assert isinstance(answer, Result), answer
                await place.renewed(core)
    assert said == [b"0 0 0\n"] * (3 * ASKERS)


ASKS = {
    "watchgate": 1, "agent": "etl", "session": "s", "cwd": "/srv", "kind": "tool.pre", "ask": True,
    "tool": "Bash", "tool_class": "shell", "input": {"command": "ls"}, "call_id": "c", "id": "c",
}  # fmt: skip


async def test_a_program_that_has_begun_to_ask_is_answered(
    place: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reload, "DRAIN_S", 0.05)
    line = json.dumps(ASKS).encode() + b"\n"
    async with (
        place.running(),
        connect(place.paths.control_socket) as client,
        await anyio.connect_unix(place.paths.ingest_socket) as program,
    ):
        await program.send(line[:1])
        async with place.hook(payload("ls")) as hook:
            assert await rest(hook) == b"0 0 0\n", "so the program before it has been taken in"
        place.file, core = Config(approval=Approval(timeout_s=9)), place.host.core
        answer = await client.call("config", action="reload")
        assert isinstance(answer, Refusal)
        assert "a call is being judged: try again in a moment" in answer.message
        await program.send(line[1:])
        with anyio.fail_after(WAIT_S):
            assert json.loads(await program.receive())["decision"] == "handback"
        assert isinstance(await client.call("config", action="reload"), Result)
        await place.renewed(core)


async def test_it_waits_for_no_person_and_denies_no_request(place: Changing) -> None:
    async with (
        place.running(),
        connect(place.paths.control_socket) as client,
        place.hook(payload(RISKY)),
    ):
        await pending(client)
        answer = await client.call("config", action="reload")
        assert isinstance(answer, Refusal)
        assert (answer.refused, "1 request waits" in answer.message) == ("not_offered", True)
        assert await pending(client)


@pytest.fixture
def silent() -> Silent:
    return Silent()


@pytest.fixture
def judging(runtime_dir: Path, state_dir: Path, silent: Silent) -> Changing:
    """A core that is still judging whatever call it was asked about."""
    return Changing(
        runtime_dir, state_dir, (Handler(id="silent", on=frozenset({"tool.pre"})), silent)
    )


async def reloaded(place: Changing, answers: list[Result | Refusal]) -> None:
    async with connect(place.paths.control_socket) as client:
        answers.append(await client.call("config", action="reload"))


async def test_a_core_that_is_stopped_before_it_could_start_over_ends(
    judging: Changing, silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Result | Refusal] = []
    done = anyio.Event()

    async def write_late(store: GrantStore) -> str:
        await done.wait()
        return await write(store)

    monkeypatch.setattr(core_run, "write", write_late)

    async def ask() -> None:
        await reloaded(judging, answers)
        done.set()

    core = judging.host.core
    with anyio.fail_after(20):
        async with judging.running(), judging.hook(payload("make")) as hook:
            await silent.asked.wait()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                await judging.was_read.wait()
                judging.host.stop("kim")
                assert (await rest(hook)).startswith(b"2 ")
    (answer,) = answers
    assert isinstance(answer, Refusal)
    assert "this core ends already" in answer.message
    assert judging.host.core == core
    (stopped,) = [each for each in judging.records() if each.kind == "policy.stopped"]
    assert stopped.data["name"] == "kim"


async def test_a_second_reload_is_refused_while_one_waits(
    judging: Changing, silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reload, "DRAIN_S", 60)
    answers: list[Result | Refusal] = []
    core = judging.host.core
    with anyio.fail_after(20):
        async with judging.running(), anyio.create_task_group() as tasks:
            async with judging.hook(payload("make")):
                await silent.asked.wait()
                tasks.start_soon(reloaded, judging, answers)
                await judging.was_read.wait()
                async with connect(judging.paths.control_socket) as client:
                    second = await client.call("config", action="reload")
                    assert isinstance(second, Refusal)
                    assert "another reload is under way" in second.message
            await judging.renewed(core)
    (answer,) = answers
    assert isinstance(answer, Result)


async def test_a_file_with_a_fault_leaves_the_core_as_it_was(place: Changing) -> None:
    async with place.running(), connect(place.paths.control_socket) as client:
        place.file = ConfigError("config.toml:1: unknown key")
        answer = await client.call("config", action="reload")
        assert isinstance(answer, Refusal)
        assert "config.toml:1: unknown key; the core goes on as it was" in answer.message
        async with place.hook(payload("ls")) as hook:
            assert await rest(hook) == b"0 0 0\n"


async def test_only_a_reload_loads_the_code_that_the_file_names(
    place: Changing, site: Path
) -> None:
    install(site, GOOD)
    async with place.running():
        place.file, core = Config(agents=AgentsSection(python=("nova",))), place.host.core
        async with connect(place.paths.control_socket) as client:
            told = await client.call("config")
            assert isinstance(told, Result)
            assert told.ok["changes"] == ["agents.python"]
            assert "nova_package" not in sys.modules
            assert isinstance(await client.call("config", action="reload"), Result)
            assert "nova_package" in sys.modules
        await place.renewed(core)


async def test_only_a_reload_opens_the_files_that_the_file_names(
    place: Changing, tmp_path: Path
) -> None:
    place.file = Config(extension=(ExtensionConfig(id="own", manifest=str(tmp_path / "none")),))
    async with place.running(), connect(place.paths.control_socket) as client:
        assert isinstance(await client.call("config"), Result)
        answer = await client.call("config", action="reload")
        assert isinstance(answer, Refusal)
        assert "cannot be read" in answer.message
        assert "the core goes on as it was" in answer.message


async def test_a_core_that_another_program_hosts_is_that_programs(
    runtime_dir: Path, state_dir: Path
) -> None:
    place = Place(runtime_dir, state_dir)
    async with place.running(), connect(place.paths.control_socket) as client:
        answer = await client.call("config", action="reload")
        assert isinstance(answer, Refusal)
        assert "another program hosts this core" in answer.message
