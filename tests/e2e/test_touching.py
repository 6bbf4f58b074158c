"""A person's security key at the command line, with a real core, ssh-keygen and terminal.

The key is one of software (tests/security_key.py): no hardware can be touched here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.programs import Core, bash
from tests.security_key import SoftKey, software_key
from tests.terminal import Terminal


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoftKey]:
    key = software_key(tmp_path / "key")
    monkeypatch.setenv("SSH_AUTH_SOCK", str(key.socket))
    with key.agent():
        yield key


def set_key(key: SoftKey) -> None:
    with Terminal("pin", "set", "--key", str(key.path)) as terminal:
        assert terminal.code() == 0, terminal.seen
        assert "The security key is set" in terminal.seen


def test_a_key_is_set_unlocks_outlives_the_core_and_is_removed(core: Core, key: SoftKey) -> None:
    core.proves = False
    core.start()
    set_key(key)
    assert "security key set" in core.cli("status").out
    core.kill()
    core.start()
    hook = core.hook("PreToolUse", bash("git push --force"))
    (request,) = core.pending()
    with Terminal("unlock") as terminal:
        assert terminal.code() == 0, terminal.seen
        assert "touch your security key" in terminal.seen
        assert "Unlocked" in terminal.seen
    assert hook.waits
    # Each of these is a new terminal, which has to be unlocked itself.
    with Terminal("allow", request["id"]) as terminal:
        terminal.wait_for("Type yes to let it run")
        terminal.type("yes\n")
        terminal.wait_for("Type yes again")
        terminal.type("yes\n")
        assert terminal.code() == 0, terminal.seen
    assert '"allow"' in hook.done().out
    assert key.touches == 2
    ends = [each["data"] for each in core.records() if each["kind"] == "approval.decided"]
    assert [end["actor"]["standing"] for end in ends] == ["key"]
    with Terminal("pin", "remove", "--key") as terminal:
        assert terminal.code() == 0, terminal.seen
        assert "allows low and medium risk alone" in terminal.seen
    assert "no PIN set" in core.cli("status").out


def test_a_key_that_was_not_touched_leaves_the_call_waiting(core: Core, key: SoftKey) -> None:
    core.proves = False
    core.start()
    set_key(key)
    hook = core.hook("PreToolUse", bash("git push --force"))
    core.pending()
    key.flags = 0
    with Terminal("unlock", "--key") as terminal:
        assert terminal.code() == 1
        assert "not touched" in terminal.seen
    assert hook.waits


def test_a_key_that_needs_no_touch_is_refused_with_the_reason(core: Core, tmp_path: Path) -> None:
    core.proves = False
    core.start()
    plain = tmp_path / "id.pub"
    plain.write_text("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8Q ana\n")
    with Terminal("pin", "set", "--key", str(plain)) as terminal:
        assert terminal.code() == 2
        assert "an agent could sign by itself" in terminal.seen
    with Terminal("pin", "set", "--key", str(tmp_path / "none.pub")) as terminal:
        assert terminal.code() == 2
        assert "no public key can be read" in terminal.seen
    assert "no PIN set" in core.cli("status").out
