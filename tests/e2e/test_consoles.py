"""Several that watch and decide at once, on one real core."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.to_thread
import msgspec

from tests.e2e.programs import Core, Hook, bash, until
from watchgate.core.model.records import Record
from watchgate.link.control_client import ControlClient, connect
from watchgate.link.protocol import Refusal, Result

RISKY = "git push --force"
WAIT_S = 30.0


async def in_thread(call: Any, *args: Any) -> Any:
    return await anyio.to_thread.run_sync(call, *args)


async def hold(core: Core, call: str = "call-1") -> tuple[Hook, dict[str, Any]]:
    """A held call and its line of `ls`."""
    before = {line["id"] for line in await in_thread(core.pending, 0)}
    hook = core.hook("PreToolUse", bash(RISKY, call))
    found = await in_thread(core.pending, len(before) + 1)
    return hook, next(line for line in found if line["id"] not in before)


async def seen(client: ControlClient, kind: str) -> Record:
    """The next record of a kind."""
    with anyio.fail_after(WAIT_S):
        while True:
            for push in await client.batch():
                if push.record is not None and push.record.kind == kind:
                    return push.record


def attachments(core: Core) -> tuple[int, int]:
    kinds = [record["kind"] for record in core.records()]
    return kinds.count("console.attached"), kinds.count("console.detached")


async def test_two_consoles_and_a_command_race_and_the_others_are_told_who_won(
    running: Core,
) -> None:
    path = running.runtime / "control.sock"
    hook, request = await hold(running)
    answers: list[Result | Refusal] = []
    codes: list[int] = []

    async def console(client: ControlClient, name: str) -> None:
        answers.append(
            await client.call(
                "decide",
                request=request["id"],
                decision="allow",
                digest=request["digest"],
                confirmed=True,
                shown_ms=900,
                as_=name,
            )
        )

    async def command() -> None:
        done = await in_thread(running.cli, "deny", request["id"], "--as", "cli")
        codes.append(done.code)
        if done.code:
            assert "already_settled" in done.err

    async with connect(path) as one, connect(path) as two:
        await one.attach()
        await two.attach()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(command)
            tasks.start_soon(console, one, "ann")
            tasks.start_soon(console, two, "ben")
        decided = [await seen(one, "approval.decided"), await seen(two, "approval.decided")]
    won = sum(isinstance(answer, Result) for answer in answers) + codes.count(0)
    assert won == 1
    assert decided[0] == decided[1]
    winner = decided[0].data["by"]
    assert any(name in winner for name in ("ann", "ben", "cli"))
    for answer in answers:
        if isinstance(answer, Refusal):
            assert (answer.refused, answer.by) == ("already_settled", winner)
    done = await in_thread(hook.done)
    assert done.code == (2 if "cli" in winner else 0)
    assert codes in ([0], [4])


async def test_a_console_that_restarts_finds_what_waits_and_decides_it(running: Core) -> None:
    path = running.runtime / "control.sock"
    hook, request = await hold(running)
    async with connect(path) as first:
        assert [view.id for view in (await first.attach()).pending] == [request["id"]]
    assert hook.waits, "a console that goes decides nothing"
    async with connect(path) as second:
        (view,) = (await second.attach()).pending
        answer = await second.call(
            "decide",
            request=view.id,
            decision="allow",
            digest=view.data.digest,
            confirmed=True,
            shown_ms=900,
        )
        assert isinstance(answer, Result)
        assert (await in_thread(hook.done)).code == 0
    await in_thread(until, lambda: attachments(running) == (2, 2), "both were seen to leave")


async def test_more_time_is_given_to_a_request_that_waits(core: Core) -> None:
    core.configure("[approval]\ntimeout_s = 20\nunattended_timeout_s = 20\n")
    core.start()
    async with connect(core.runtime / "control.sock") as client:
        await client.attach()
        hook, request = await hold(core)
        answer = await client.call("extend", request=request["id"], seconds=20)
        assert isinstance(answer, Result)
        assert answer.ok["deadline_at"] // 1_000_000 - request["deadline_at"] // 1_000_000 >= 19
        extended = await seen(client, "approval.extended")
        assert extended.data["deadline_at"] == answer.ok["deadline_at"]
        refused = await client.call("extend", request=request["id"], seconds=3_600)
        assert isinstance(refused, Result), "clamped to what the client itself waits"
        assert refused.ok["deadline_at"] < request["received_at"] + 60_000_000
        await client.call("decide", request=request["id"], decision="deny")
        assert (await in_thread(hook.done)).code == 2


async def test_without_a_console_nobody_is_asked_where_the_configuration_says_so(
    core: Core,
) -> None:
    core.configure('[approval]\nunattended = "deny"\n')
    core.start()
    done = await in_thread(core.hook("PreToolUse", bash(RISKY)).done)
    assert done.code == 2
    assert core.seen("approval.decided")["data"]["word"] == "denied-no-approver"
    async with connect(core.runtime / "control.sock") as client:
        await client.attach()
        hook, _ = await hold(core, "call-2")
    assert (await in_thread(hook.done)).code == 2, "the last console left"


async def test_a_console_that_reads_nothing_is_ended_and_delays_no_one(running: Core) -> None:
    async with await anyio.connect_unix(running.runtime / "control.sock") as deaf:
        await deaf.send(b'{"id": 1, "verb": "attach"}\n')
        async with await anyio.connect_unix(running.runtime / "ingest.sock") as stream:
            line = {"watchgate": 1, "kind": "message", "agent": "acp", "session": "s"}
            for _ in range(200):
                await stream.send(msgspec.json.encode({**line, "text": "x" * 60_000}) + b"\n")
        hook, request = await hold(running)
        await in_thread(running.cli, "deny", request["id"])
        assert (await in_thread(hook.done)).code == 2
        detached = await in_thread(running.seen, "console.detached")
        assert detached["data"]["what"] == "console"
