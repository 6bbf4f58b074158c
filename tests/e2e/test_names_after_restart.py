"""Sessions go by the same names in the next core, whichever of them is heard first there."""

from __future__ import annotations

from tests.e2e.programs import Core, bash


def names(core: Core) -> dict[str, str]:
    return {each["session"]: each["label"] for each in core.cli("ls", "--sessions", "--json").lines}


def test_two_sessions_of_one_folder_keep_their_names_after_kill_9(core: Core) -> None:
    core.start()
    for session in ("1f2c-first", "81aa-second"):
        core.hook("PreToolUse", bash("ls", session=session)).done()
    before = {"1f2c-first": "tmp", "81aa-second": "tmp~81aa"}
    assert names(core) == before
    core.kill()
    core.start()
    for session in ("81aa-second", "1f2c-first"):
        core.hook("PreToolUse", bash("ls", "call-2", session=session)).done()
        assert names(core) == before
