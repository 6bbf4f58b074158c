"""Damaged hook clients behind their guard: whatever is left of one lets no call run by itself.

WATCHGATE_DAMAGED is how many are tried of all parts together: 200 unless it says another number.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from queue import Queue

import pytest

from tests.client.damage import damaged
from tests.client.fake_core import PATIENCE_S, PYTHON, Frame, answering, listening
from watchgate.agents.registry import adapter
from watchgate.core.model.events import Lane
from watchgate.link.paths import Paths, paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.forms.guarded_command import HookClient, hook_command

TRIED = int(os.environ.get("WATCHGATE_DAMAGED", "200"))
PARTS = ("launcher", "client", "bytecode", "native", "plugin")
"""The last one has a test of its own: it is no file of this client."""
DENIES, HANDS_BACK = b"2 0 3\nno!", b"0 0 0\n"
AGENTS = ("claude", "kimi", "cursor")
"""JSON beside exit 2, exit 2 alone, and JSON beside exit 0 with words for what may run."""
PAYLOAD = b'{"tool_name":"Bash","tool_input":{"command":"rm -r ."}}'


class Installed:
    """The commands of several agents, and the file that is damaged under them."""

    def __init__(self, places: Paths, part: str, native: Path | None) -> None:
        hook_client.write_copy(places)
        assert hook_client.renew_bytecode(places, Path(PYTHON))
        [bytecode] = hook_client.cached_bytecode(places)
        files = {
            "launcher": places.client,
            "client": places.client_module,
            "bytecode": bytecode,
            "native": native or Path(),
        }
        self.file = files[part]
        self.whole = self.file.read_bytes()
        self.commands = [self._gate(places, name, native) for name in AGENTS]

    @staticmethod
    def _gate(places: Paths, name: str, native: Path | None) -> list[str]:
        client = HookClient(
            python=Path(PYTHON),
            script=places.client,
            ingest_socket=places.ingest_socket,
            deadline_s=PATIENCE_S,
            native=native,
        )
        agent = adapter(name)
        entry = next(each for each in agent.entries("guard") if each.lane is Lane.GATE)
        return shlex.split(hook_command(agent, entry, client, "guard"))

    def run(self, number: int) -> subprocess.CompletedProcess[bytes]:
        """How the hook of one of the agents ends."""
        words = self.commands[number % len(AGENTS)]
        return subprocess.run(words, input=PAYLOAD, env={}, capture_output=True, timeout=PATIENCE_S)


def is_denied(done: subprocess.CompletedProcess[bytes]) -> bool:
    """Whether an agent that reads this does not make its call."""
    if done.returncode == 2:
        return bool(done.stderr.strip())
    try:
        return done.returncode == 0 and json.loads(done.stdout)["permission"] == "deny"
    except (ValueError, LookupError, TypeError):
        return False


@pytest.mark.parametrize("answer", [None, DENIES, HANDS_BACK])
@pytest.mark.parametrize("part", PARTS[:-1])
def test_no_damaged_client_lets_a_call_run_that_its_core_did_not_let_run(
    part: str, answer: bytes | None, runtime_dir: Path, request: pytest.FixtureRequest
) -> None:
    places = paths(os.environ)
    native: Path | None = None
    if part == "native":
        native = places.data_dir / "hook-client"
        native.parent.mkdir(parents=True)
        native.write_bytes(request.getfixturevalue("native_client").read_bytes())
        native.chmod(0o700)
    installed = Installed(places, part, native)
    path = places.ingest_socket
    core: AbstractContextManager[Queue[Frame]] = nullcontext(Queue())
    if answer is not None:
        core = listening(path, answering(answer))
    with core as frames:
        assert is_denied(installed.run(0)) == (answer is not HANDS_BACK), "while it is whole"
        for number in range(TRIED // len(PARTS)):
            asked = frames.qsize()
            seed = f"{part} {number}"
            installed.file.write_bytes(damaged(seed, installed.whole))
            done = installed.run(number)
            if answer is HANDS_BACK and frames.qsize() == asked + 1:
                continue  # it asked, and was told so
            assert is_denied(done), (seed, done)
