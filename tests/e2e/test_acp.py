"""An editor, our ACP proxy, an agent and a core, each in its own process."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.driving import Driver
from tests.e2e.programs import Core, until

AGENT = str(Path(__file__).with_name("acp_agent.py"))
RISKY = "git push --force"
PERMISSION = "session/request_permission"


@pytest.fixture
def editor() -> Iterator[Driver]:
    driver = Driver("acp", [sys.executable, AGENT])
    yield driver
    driver.kill()


def prompt(editor: Driver, text: str = RISKY) -> None:
    editor.send({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/tmp"}})
    assert editor.answer(1)["result"] == {"sessionId": "sess-1"}
    words = [{"type": "text", "text": text}]
    params = {"sessionId": "sess-1", "prompt": words}
    editor.send({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params})


def outcome(editor: Driver) -> tuple[dict[str, Any], list[str]]:
    """What the agent says it was told, and the methods of all that the editor got until the end."""
    told: dict[str, Any] = {}
    methods = []
    while (line := editor.line()).get("id") != 2:
        assert line, "the agent ended early"
        methods.append(line["method"])
        update = line["params"].get("update", {})
        if update.get("sessionUpdate") == "agent_message_chunk":
            told = json.loads(update["content"]["text"])
    return told, methods


def test_an_allow_chooses_the_plain_option_for_once_and_the_editor_never_asks(
    attended: Core, editor: Driver
) -> None:
    prompt(editor)
    (request,) = attended.pending()
    assert (request["agent"], request["session"]) == ("acp", "sess-1")
    assert request["summary"] == RISKY
    assert attended.allow(request).code == 0
    told, methods = outcome(editor)
    assert told == {"outcome": "selected", "optionId": "a-once"}
    assert PERMISSION not in methods
    assert editor.end() == 3
    kinds = [record["kind"] for record in attended.records()]
    for kind in ("session.start", "prompt.submit", "tool.pre", "tool.permission", "tool.post"):
        assert kind in kinds
    for kind in ("message", "turn.end", "usage", "effect.confirmed"):
        assert kind in kinds


def test_a_denial_chooses_reject_once(attended: Core, editor: Driver) -> None:
    prompt(editor)
    (request,) = attended.pending()
    attended.cli("deny", request["id"], "--reason", "not today")
    told, methods = outcome(editor)
    assert told == {"outcome": "selected", "optionId": "r-once"}
    assert PERMISSION not in methods
    assert attended.seen("tool.permission.resolved")
    assert "effect.contradicted" not in [record["kind"] for record in attended.records()]


def test_what_is_handed_back_is_asked_in_the_editor_as_it_came(
    attended: Core, editor: Driver
) -> None:
    prompt(editor)
    (request,) = attended.pending()
    attended.cli("handback", request["id"])
    _editor_answers(editor)


def test_without_anybody_at_a_console_the_editor_asks_at_once(
    running: Core, editor: Driver
) -> None:
    prompt(editor)
    _editor_answers(editor)


def test_without_a_core_the_editor_asks(core: Core, editor: Driver) -> None:
    prompt(editor)
    _editor_answers(editor)


def test_a_core_that_dies_while_it_holds_leaves_the_question_to_the_editor(
    attended: Core, editor: Driver
) -> None:
    prompt(editor)
    attended.pending()
    attended.kill()
    _editor_answers(editor)


def test_a_cancelled_prompt_answers_what_is_held_as_cancelled(
    attended: Core, editor: Driver
) -> None:
    prompt(editor)
    attended.pending()
    params = {"sessionId": "sess-1"}
    editor.send({"jsonrpc": "2.0", "method": "session/cancel", "params": params})
    told, methods = outcome(editor)
    assert told == {"outcome": "cancelled"}
    assert PERMISSION not in methods
    assert attended.seen("approval.decided")["data"]["word"] == "withdrawn"


def test_an_agent_that_dies_withdraws_what_it_asked_and_its_exit_code_is_ours(
    attended: Core, editor: Driver
) -> None:
    prompt(editor)
    attended.pending()
    editor.send({"jsonrpc": "2.0", "method": "die"})
    assert editor.process.wait(timeout=20) == 7
    assert attended.seen("approval.decided")["data"]["word"] == "withdrawn"


def test_an_editor_that_leaves_has_the_call_cancelled(attended: Core, editor: Driver) -> None:
    prompt(editor)
    attended.pending()
    assert editor.end() == 3
    assert attended.seen("approval.decided")["data"]["word"] == "withdrawn"


def test_a_signal_reaches_the_agent_and_ends_us_as_it_ended_the_agent(editor: Driver) -> None:
    editor.send({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/tmp"}})
    editor.answer(1)
    pid = editor.process.pid
    (agent,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    os.kill(editor.process.pid, signal.SIGTERM)
    assert editor.process.wait(timeout=20) == -signal.SIGTERM
    assert until(lambda: not Path(f"/proc/{agent}").exists(), "the agent's end")


def test_what_runs_below_the_agent_may_not_allow_its_call(attended: Core, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(
        "import json, subprocess, sys\n"
        "ask = sys.stdin.readline()\n"
        "sys.stdout.write(ask); sys.stdout.flush()\n"
        "words = sys.stdin.readline().split()\n"
        "done = subprocess.run([sys.executable, '-m', 'watchgate', *words], capture_output=True)\n"
        "told = [done.returncode, b'self_approval' in done.stderr]\n"
        'print(json.dumps({"method": "code", "params": told}), flush=True)\n'
    )
    editor = Driver("acp", [sys.executable, str(script)])
    try:
        call = {"toolCallId": "c1", "kind": "execute", "rawInput": {"command": RISKY}}
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
        params = {"sessionId": "s", "toolCall": call, "options": options}
        editor.send({"jsonrpc": "2.0", "id": 5, "method": PERMISSION, "params": params})
        (request,) = attended.pending()
        assert editor.process.stdin is not None
        token = attended.token_file(tmp_path / "token")
        words = f"allow {request['id']} --digest {request['digest']} --token-file {token}\n"
        editor.process.stdin.write(words.encode())
        editor.process.stdin.flush()
        assert editor.line() == {"method": "code", "params": [1, True]}
    finally:
        editor.kill()


def _editor_answers(editor: Driver) -> None:
    asked = editor.answer("ask-1")
    assert asked["method"] == PERMISSION
    assert asked["params"]["options"][0]["optionId"] == "a-always"
    chosen = {"outcome": {"outcome": "selected", "optionId": "a-once"}}
    editor.send({"jsonrpc": "2.0", "id": "ask-1", "result": chosen})
    told, _ = outcome(editor)
    assert told == chosen["outcome"]
