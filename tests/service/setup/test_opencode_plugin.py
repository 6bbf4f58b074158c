"""The plugin in a real JavaScript engine: what a fake hook client answers decides what runs."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from watchgate import client
from watchgate.service.setup.forms.guarded_command import PASSED, HookClient
from watchgate.service.setup.opencode_plugin import contents, is_ours

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

LIMIT_S = 30
DRIVER = """
import { readFileSync } from "node:fs"
const { Watchgate } = await import(process.argv[2])
const posted = []
const client = { _client: { post: async (sent) => {
  posted.push([sent.url, sent.body ?? null])
  return {}
} } }
const hooks = await Watchgate({ client, directory: "/srv/app", serverUrl: "http://127.0.0.1:9" })
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const out = []
for (const step of JSON.parse(readFileSync(0, "utf8"))) {
  if (step.sleep) await sleep(step.sleep)
  if (step.event) await hooks.event({ event: step.event })
  if (step.until) while (posted.length < step.until) await sleep(5)
  if (step.after) {
    await hooks["tool.execute.after"](...step.after)
    out.push({ read: step.after[1].output })
  }
  if (step.before) {
    const output = { args: step.before.args }
    const began = Date.now()
    try {
      const sent = { tool: step.before.tool, sessionID: "s", callID: "c" }
      await hooks["tool.execute.before"](sent, output)
      out.push({ ran: output.args })
    } catch (fault) {
      out.push({ threw: fault instanceof Error ? fault.message : "no Error" })
    }
    out.at(-1).ms = Date.now() - began
  }
}
await hooks.dispose()
console.log(JSON.stringify({ out, posted }))
"""

Run = Callable[..., dict[str, Any]]


class Stage:
    """A plugin with a client program of the test's own, and a core that only listens."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.python = Path(sys.executable)
        self.script = place / "client.py"
        self.asked = place / "asked.jsonl"
        self.frames: list[tuple[str, dict[str, Any]]] = []
        run = place / "run"
        run.mkdir(mode=0o700)
        self.socket = run / "ingest.sock"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket))
        self._listener.listen(64)
        threading.Thread(target=self._listen, daemon=True).start()
        self.answers("")

    def answers(self, stdout: str, code: int = PASSED, then: str = "") -> None:
        """Has the client note what it was asked, print this and leave so."""
        self.script.write_text(
            "import json, os, sys, time\n"
            f"with open({str(self.asked)!r}, 'a') as f:\n"
            "    json.dump([sys.argv[1:], json.load(sys.stdin)], f)\n"
            "    f.write('\\n')\n"
            f"{then}\n"
            f"sys.stdout.write({stdout!r})\n"
            "def main():\n"
            f"    sys.exit({code})\n"
            "if True:\n"
            "    main()\n"
        )

    def run(
        self, *steps: dict[str, Any], profile: str = "guard", argv: tuple[str, ...] = ()
    ) -> Any:
        """Plays these steps; what came of the calls, and what was posted to OpenCode."""
        plugin = self.place / "watchgate.mjs"
        client = HookClient(
            python=self.python, script=self.script, ingest_socket=self.socket, deadline_s=60
        )
        plugin.write_bytes(contents(client, profile))
        driver = self.place / "driver.mjs"
        driver.write_text(DRIVER)
        done = subprocess.run(
            [str(NODE), str(driver), str(plugin), *argv],
            input=json.dumps(steps),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=True,
        )
        if self.socket.exists():  # connections are heard in turn: after this one all were
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(str(self.socket))
                last.sendall(b"\n\n")
                last.recv(1)
        return json.loads(done.stdout)

    def call(self, tool: str = "bash", profile: str = "guard", **args: Any) -> dict[str, Any]:
        """What becomes of one call."""
        step = {"before": {"tool": tool, "args": args or {"command": "make"}}}
        found: dict[str, Any] = self.run(step, profile=profile)["out"][0]
        return found

    @property
    def questions(self) -> list[tuple[list[str], dict[str, Any]]]:
        """Arguments and payload of each time the client was run."""
        if not self.asked.exists():
            return []
        return [tuple(json.loads(line)) for line in self.asked.read_text().splitlines()]

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                core, _ = self._listener.accept()
            except OSError:
                return
            with core:
                data = b""
                while b"\n\n" not in data:
                    data += core.recv(65536)
                head, _, body = data.partition(b"\n\n")
                if not head:
                    continue
                fields = dict(line.split(": ", 1) for line in head.decode().split("\n")[1:])
                while len(body) < int(fields["length"]):
                    body += core.recv(65536)
                self.frames.append((fields["event"], json.loads(body)))


@pytest.fixture
def stage(short_path: Path) -> Iterator[Stage]:
    stage = Stage(short_path)
    yield stage
    stage.close()


def event(name: str, **properties: Any) -> dict[str, Any]:
    return {"event": {"id": "evt", "type": name, "properties": properties}}


PERMISSION = event(
    "permission.asked", id="per_1", sessionID="s", permission="bash", tool={"callID": "c"}
)
QUESTION = event("question.asked", id="que_1", sessionID="s", questions=[])


def test_a_call_that_is_handed_back_runs_as_it_is(stage: Stage) -> None:
    assert stage.call(command="make")["ran"] == {"command": "make"}
    ((argv, payload),) = stage.questions
    assert argv[1:4] == ["opencode", "gate", "tool.execute.before"]
    assert payload["input"] == {"tool": "bash", "sessionID": "s", "callID": "c"}
    assert payload["output"] == {"args": {"command": "make"}}
    assert payload["watchgate"]["directory"] == "/srv/app"


def test_an_allowed_call_runs(stage: Stage) -> None:
    stage.answers('{"decision":"allow"}')

    assert stage.call(command="make")["ran"] == {"command": "make"}


def test_a_changed_call_runs_with_the_other_arguments(stage: Stage) -> None:
    stage.answers('{"decision":"allow","args":{"command":"make -n"}}')

    assert stage.call(command="make", timeout=5)["ran"] == {"command": "make -n"}


def test_the_model_reads_the_words_for_it_below_the_result(stage: Stage) -> None:
    stage.answers('{"decision":"allow","args":{"command":"make -n"},"context":"it was edited"}')
    after = [{"tool": "bash", "sessionID": "s", "callID": "c", "args": {}}, {"output": "done"}]
    call = {"before": {"tool": "bash", "args": {"command": "make"}}}
    _, ended = stage.run(call, {"after": after})["out"]

    assert ended == {"read": "done\n\n[watchgate] it was edited"}


def test_a_denied_call_throws_the_reason(stage: Stage) -> None:
    stage.answers('{"decision":"deny","reason":"not today"}', code=2)

    assert stage.call()["threw"] == "not today"


@pytest.mark.parametrize(
    ("stdout", "code", "then"),
    [
        ("garbage", 0, ""),
        ('{"decision":"allow"', 0, ""),
        ('["allow"]', 0, ""),
        ("true", 0, ""),
        ('{"decision":"maybe"}', 0, ""),
        ("{}", 0, ""),
        ('{"decision":"allow","args":[1]}', 0, ""),
        ('{"decision":"allow"}', 0, ""),
        ('{"decision":"allow"}', 1, ""),
        ('{"decision":"allow"}', 2, ""),
        ("", 1, ""),
        ("", 2, ""),
        ("", 0, "raise SystemError"),
        ("", 0, "os.kill(os.getpid(), 9)"),
    ],
)
def test_no_answer_that_is_not_whole_lets_a_call_run(
    stage: Stage, stdout: str, code: int, then: str
) -> None:
    stage.answers(stdout, code, then)

    assert "watchgate" in stage.call()["threw"].lower()


def test_a_client_that_cannot_be_run_lets_no_call_run(stage: Stage) -> None:
    stage.python = stage.place / "gone"

    assert "could not be run (ENOENT)" in stage.call()["threw"]


def test_a_missing_client_lets_no_call_run(stage: Stage) -> None:
    stage.script = stage.place / "gone.py"

    assert "is missing. Mend it with watchgate install opencode" in stage.call()["threw"]


@pytest.mark.parametrize("end", ["", "import sys", "def step_s", "if __name__"])
def test_the_silence_of_a_client_that_is_cut_off_lets_no_call_run(stage: Stage, end: str) -> None:
    whole = Path(client.__file__).read_text(encoding="utf-8")
    start = whole.index(f"\n{end}") if end else 0
    stage.script.write_text(whole[:start])

    assert "failed with status 0. Mend it with watchgate doctor opencode" in stage.call()["threw"]


def test_a_slow_answer_is_waited_for(stage: Stage) -> None:
    stage.answers('{"decision":"deny","reason":"late"}', code=2, then="time.sleep(0.3)")

    found = stage.call()

    assert found["threw"] == "late"
    assert found["ms"] >= 300


def test_reads_go_on_when_nobody_answers_but_not_under_strict(stage: Stage) -> None:
    stage.script = stage.place / "gone.py"

    assert stage.call("read", filePath="/a")["ran"] == {"filePath": "/a"}
    assert "threw" in stage.call("read", profile="strict", filePath="/a")


def test_a_read_that_is_denied_does_not_run(stage: Stage) -> None:
    stage.answers('{"decision":"deny","reason":"secret"}', code=2)

    assert stage.call("read", filePath="/a")["threw"] == "secret"
    ((argv, _),) = stage.questions
    assert argv[2] == "gate-read"


def test_where_only_is_watched_nothing_is_asked(stage: Stage) -> None:
    stage.script = stage.place / "gone.py"

    assert stage.call(profile="watch")["ran"] == {"command": "make"}
    assert [name for name, _ in stage.frames] == ["tool.execute.before"]


@pytest.mark.parametrize(
    ("asked", "told", "posted"),
    [
        (PERMISSION, '{"reply":"once"}', ["/permission/per_1/reply", {"reply": "once"}]),
        (
            PERMISSION,
            '{"reply":"reject","message":"no"}',
            ["/permission/per_1/reply", {"reply": "reject", "message": "no"}],
        ),
        (QUESTION, '{"answers":[["A"]]}', ["/question/que_1/reply", {"answers": [["A"]]}]),
        (QUESTION, '{"reject":true}', ["/question/que_1/reject", None]),
    ],
)
def test_what_opencode_asks_is_answered(
    stage: Stage, asked: dict[str, Any], told: str, posted: list[Any]
) -> None:
    stage.answers(told)

    assert stage.run(asked, {"until": 1})["posted"] == [posted]
    ((argv, payload),) = stage.questions
    assert argv[1:4] == ["opencode", "relay", asked["event"]["type"]]
    assert payload["type"] == asked["event"]["type"]


@pytest.mark.parametrize("told", ["", "garbage", '{"reply":"always"}', "{}", '{"answers":[]}'])
def test_nothing_else_is_ever_posted_for_a_permission(stage: Stage, told: str) -> None:
    stage.answers(told)

    assert stage.run(PERMISSION, {"sleep": 400})["posted"] == []


def test_a_permission_carries_the_call_that_it_is_about(stage: Stage) -> None:
    stage.answers("", then="sys.stdout.write('{\"reply\":\"once\"}' * (sys.argv[3] == 'relay'))")

    stage.run({"before": {"tool": "bash", "args": {"command": "make"}}}, PERMISSION, {"until": 1})

    (_, (_, asked)) = stage.questions
    assert asked["watchgate"]["tool"] == "bash"
    assert asked["watchgate"]["input"] == {"command": "make"}


def test_a_question_answered_by_somebody_else_is_withdrawn(stage: Stage) -> None:
    stage.answers('{"reply":"once"}', then="time.sleep(20)")
    replied = event("permission.replied", sessionID="s", requestID="per_1", reply="once")

    found = stage.run(PERMISSION, {"sleep": 400}, replied, {"sleep": 200})

    assert found["posted"] == []
    assert [name for name, _ in stage.frames] == ["permission.replied"]


def test_a_run_without_a_person_is_not_asked_for(stage: Stage) -> None:
    stage.run(PERMISSION, argv=("run",))

    assert stage.questions == []
    ((name, payload),) = stage.frames
    assert name == "permission.asked"
    assert payload["watchgate"]["headless"] is True


def test_events_are_told_in_order_and_without_waiting(stage: Stage) -> None:
    many = [event("session.idle", sessionID=f"s{number}") for number in range(50)]

    stage.run(*many)

    told = [payload["properties"]["sessionID"] for _, payload in stage.frames]
    assert told == [f"s{number}" for number in range(50)]


def test_sub_agents_are_told_with_the_session_at_the_top(stage: Stage) -> None:
    stage.run(
        event("session.created", info={"id": "a", "title": "t"}),
        event("session.created", info={"id": "b", "parentID": "a", "agent": "general"}),
        event("session.created", info={"id": "c", "parentID": "b", "agent": "explore"}),
        event("session.idle", sessionID="c"),
    )

    assert [p["watchgate"].get("parent") for _, p in stage.frames] == [None, "a", "a", "a"]
    assert stage.frames[-1][1]["watchgate"]["agent"] == "explore"


def test_a_call_that_was_denied_is_told_as_one_that_never_ran(stage: Stage) -> None:
    stage.answers('{"decision":"deny","reason":"no"}', code=2)
    state = {"status": "error", "input": {"command": "make"}, "error": "no"}
    failed = {"type": "tool", "tool": "bash", "callID": "c", "sessionID": "s", "state": state}

    stage.run(
        {"before": {"tool": "bash", "args": {"command": "make"}}},
        event("message.part.updated", part=failed),
    )

    ((_, payload),) = stage.frames
    assert payload["watchgate"]["refused"] is True


def test_without_a_core_opencode_goes_on(stage: Stage) -> None:
    stage.close()
    stage.socket.unlink()

    found = stage.run(event("session.idle", sessionID="s"), {"before": {"tool": "x", "args": {}}})

    assert found["out"][0]["ran"] == {}


def test_the_file_says_whose_it_is() -> None:
    client = HookClient(
        python=Path("/p"), script=Path("/c"), ingest_socket=Path("/s"), deadline_s=1
    )
    written = contents(client, "guard")

    assert is_ours(written)
    assert not is_ours(b"export const Other = 1\n")
    assert b"const SETUP = {}" not in written
