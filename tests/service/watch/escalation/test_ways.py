"""A command of the user's own and a server, each in real processes and on real sockets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from tests.service.sinks.parts import answering
from tests.service.wire_frames import WAIT_S, until
from watchgate.core.config.config_sections import EscalationConfig
from watchgate.service.watch.escalation.escalation_watch import Notifier, notifier_of

BODY = json.dumps({"id": "abcd", "text": "x"}).encode()


def command(tmp_path: Path, code: str, *more: str, timeout_s: int = 20) -> Notifier:
    argv = (sys.executable, "-I", "-S", "-c", code, *more)
    entry = EscalationConfig(name="ana", command=argv, timeout_s=timeout_s)
    return notifier_of(entry, {"PATH": "/usr/bin:/bin", "TOKEN": "t"}, str(tmp_path))


async def tell(way: Notifier) -> str:
    try:
        with anyio.fail_after(WAIT_S):
            return await way.tell(BODY)
    finally:
        way.close()


async def test_a_command_gets_the_message_on_its_input_and_no_shell_reads_its_arguments(
    tmp_path: Path,
) -> None:
    code = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read() + sys.argv[2])"
    assert await tell(command(tmp_path, code, "got", "$(id); *")) == ""
    assert (tmp_path / "got").read_text() == BODY.decode() + "$(id); *"


async def test_a_command_sees_nothing_of_the_cores_environment_but_the_usual(
    tmp_path: Path,
) -> None:
    code = "import os, sys; sys.exit('TOKEN' in os.environ)"
    assert await tell(command(tmp_path, code)) == ""


async def test_a_command_that_fails_says_how_in_its_last_words(tmp_path: Path) -> None:
    code = (
        "import sys; print('one\\nAWS key AKIAIOSFODNN7EXAMPL3 no', file=sys.stderr); sys.exit(3)"
    )
    why = await tell(command(tmp_path, code))
    assert "ended with exit code 3: AWS key" in why
    assert "AKIAIOSF" not in why


async def test_a_command_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    entry = EscalationConfig(name="ana", command=("/bin/sleep", "1000"), timeout_s=1)
    why = await tell(notifier_of(entry, {}, str(tmp_path)))
    assert why == "/bin/sleep did not end within 1 s and was killed"


async def test_whoever_is_answered_meanwhile_leaves_nothing_of_a_command_behind(
    tmp_path: Path,
) -> None:
    script = "sleep 1000 & echo $! > new; mv new pid; wait"
    entry = EscalationConfig(name="ana", command=("/bin/sh", "-c", script), timeout_s=60)
    way = notifier_of(entry, {"PATH": "/usr/bin:/bin"}, str(tmp_path))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(way.tell, BODY)
        pid = await until((lambda: read(tmp_path / "pid")), "what the command started")
        tasks.cancel_scope.cancel()
    way.close()
    await until(lambda: is_over(int(pid)), "its end")


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def is_over(pid: int) -> bool:
    """Whether nothing runs under that number; what nobody has reaped yet is over as well."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    words = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return words.stdout.strip().startswith(b"Z")


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    entry = EscalationConfig(name="ana", command=("/no/such/tell",))
    assert "/no/such/tell: no such program" in await tell(notifier_of(entry, {}, str(tmp_path)))


async def test_a_message_is_posted_as_json_once() -> None:
    async with answering(204) as server:
        entry = EscalationConfig(name="ana", url=server.url)
        assert await tell(notifier_of(entry, {}, "/")) == ""
    assert [json.loads(body) for body in server.bodies] == [json.loads(BODY)]
    assert "Content-Type: application/json" in server.requests[0].decode()


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_anything_but_2xx_is_a_failure(status: int) -> None:
    async with answering(status) as server:
        entry = EscalationConfig(name="ana", url=server.url)
        assert (await tell(notifier_of(entry, {}, "/"))).endswith(f"answered {status}")
    assert len(server.requests) == 1


async def test_what_a_server_says_instead_of_an_answer_is_cut_and_safe() -> None:
    async def talk(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"\x1b[2J" * 5_000 + b"\n")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, talk)
        why = await tell(
            notifier_of(EscalationConfig(name="a", url=f"http://127.0.0.1:{port}/"), {}, "/")
        )
        tasks.cancel_scope.cancel()
    assert "\x1b" not in why
    assert len(why) < 2_000
