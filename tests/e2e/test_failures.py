"""Everything that can go wrong between the client and the core ends in a denial with its cause."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

from tests.e2e.programs import Core, bash, until

RISKY = "git reset --hard HEAD~3"


def _denied(out: str) -> str:
    said = json.loads(out)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    reason: str = said["permissionDecisionReason"]
    return reason


def test_no_core_denies_at_the_gate_and_hands_back_elsewhere(core: Core) -> None:
    done = core.hook("PreToolUse", bash(RISKY)).done()
    assert done.code == 2
    assert _denied(done.out).strip() == done.err.strip()
    for lane, event in (
        ("gate-read", "PreToolUse"),
        ("relay", "PermissionRequest"),
        ("observe", "Stop"),
    ):
        quiet = core.hook(event, bash(RISKY), lane=lane).done()
        assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_a_core_that_dies_while_a_request_waits_denies_it(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    running.pending()
    assert running.process is not None
    running.process.kill()
    done = hook.done()
    assert done.code == 2
    assert _denied(done.out)


def test_a_new_core_after_a_kill_has_the_history_and_nothing_actionable(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    running.seen("approval.requested")  # asking for history brings it to the disk
    assert running.process is not None
    running.kill()
    hook.done()
    running.start()
    assert running.cli("ls", "--json").lines == []
    assert running.cli("allow", request["id"], "--digest", request["digest"]).code == 1
    assert any(record["kind"] == "approval.requested" for record in running.records())
    assert running.cli("audit", "verify").code == 0


def test_a_hung_core_denies_before_the_agents_own_limit(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY), deadline_s=9)
    running.pending()
    assert running.process is not None
    running.process.send_signal(signal.SIGSTOP)
    try:
        done = hook.done()
    finally:
        running.process.send_signal(signal.SIGCONT)
    assert done.code == 2
    assert _denied(done.out)


def test_a_payload_that_is_no_json_is_kept_and_the_gate_is_closed(running: Core) -> None:
    done = running.hook("PreToolUse", b"not json at all").done()
    assert done.code == 2
    assert "unreadable payload" in done.err
    unknown = running.seen("unknown")
    assert unknown["data"]["undecoded"] == "not json at all"


def test_a_payload_just_under_the_limit_is_held_like_any_other(running: Core) -> None:
    big = bash(RISKY + " # " + "x" * (39 * 1024 * 1024 // 10))
    hook = running.hook("PreToolUse", big)
    (request,) = running.pending()
    running.cli("deny", request["id"])
    assert hook.done().code == 2


def test_a_payload_over_the_limit_is_denied_with_its_size_as_the_cause(running: Core) -> None:
    done = running.hook("PreToolUse", bash("x" * (5 * 1024 * 1024))).done()
    assert done.code == 2
    assert _denied(done.out)
    assert running.cli("ls", "--json").lines == []


def test_a_broken_frame_is_answered_closed_and_so_is_the_next(running: Core) -> None:
    for frame in (
        b"hello\n\n",
        b"watchgate/1 claude gate\nlength: 10\n\nabc",
        b"watchgate/1 nobody gate\nlength: 2\n\n{}",
        b"watchgate/1 claude gate\nlength: 9999999999\n\n",
    ):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(20)
            peer.connect(str(running.runtime / "ingest.sock"))
            peer.sendall(frame)
            if b"length: 10" in frame:
                peer.shutdown(socket.SHUT_WR)
            answer = peer.recv(65536)
        assert answer.startswith(b"2 "), frame


def test_lines_are_recorded_and_an_oversized_one_leaves_a_marker(running: Core) -> None:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(running.runtime / "ingest.sock"))
        peer.sendall(b'{"what": "is this"}\n')
        peer.sendall(b'{"x": "' + b"y" * (5 * 1024 * 1024) + b'"}\n')
        peer.sendall(b'{"watchgate":1,"kind":"prompt.submit","agent":"acp","session":"z"}\n')
    assert running.seen("unknown")["data"]["undecoded"] == '{"what": "is this"}'
    assert "bytes dropped" in running.seen("notice")["data"]["detail"]
    assert running.seen("prompt.submit")["agent"] == "acp"


def test_a_request_in_a_line_is_answered_after_a_half_close(running: Core) -> None:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(20)
        peer.connect(str(running.runtime / "ingest.sock"))
        line = {
            "watchgate": 1,
            "kind": "tool.pre",
            "agent": "acp",
            "session": "z",
            "tool": "sh",
            "tool_class": "shell",
            "input": {"command": RISKY},
            "ask": True,
            "id": 7,
        }
        peer.sendall(json.dumps(line).encode() + b"\n")
        peer.shutdown(socket.SHUT_WR)
        (request,) = running.pending()
        running.cli("deny", request["id"])
        said = json.loads(peer.recv(4096))
        assert (said["id"], said["decision"]) == (7, "deny")


def test_a_second_core_never_displaces_the_first(running: Core) -> None:
    refused = running.cli("serve")
    assert refused.code == 1
    assert "already running" in refused.err
    assert running.cli("status").code == 0


def test_a_runtime_directory_open_to_others_is_refused_with_the_mend(core: Core) -> None:
    core.runtime.chmod(0o755)
    refused = core.cli("serve")
    assert refused.code == 1
    assert "chmod 700" in refused.err


def test_a_lost_journal_denies_what_waits_and_what_comes(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(RISKY))
    (request,) = running.pending()
    state = os.environ["WATCHGATE_STATE_DIR"]
    Path(state, "journal.db").rename(Path(state, "moved.db"))
    refused = running.allow(request)
    done = hook.done()
    assert done.code == 2
    assert "journal" in done.err
    assert refused.code in (0, 4)
    later = running.hook("PreToolUse", bash("make test", "call-2")).done()
    assert later.code == 2
    assert "journal" in later.err


def test_off_hands_back_and_on_gates_again(running: Core) -> None:
    assert running.cli("off").code == 2  # needs a terminal and a typed word
    off = running.runtime / "off"
    off.write_text("99999999999\n")
    off.chmod(0o600)
    done = running.hook("PreToolUse", bash(RISKY)).done()
    assert (done.code, done.out) == (0, "")
    assert until(lambda: running.seen("tool.pre"), "the record")["data"]["gate"] == "recorded"
    assert running.cli("on").code == 0
    assert not off.exists()
    hook = running.hook("PreToolUse", bash(RISKY, "call-2"))
    (request,) = running.pending()
    running.cli("deny", request["id"])
    hook.done()
