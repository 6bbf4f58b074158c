"""The second plugin in a real JavaScript engine, which loads both as OpenCode does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.client.damage import damaged
from watchgate.service.setup.forms.guarded_command import HookClient
from watchgate.service.setup.opencode_plugin import CHECK_NAME, NAME, check, contents

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

TRIED = int(os.environ.get("WATCHGATE_DAMAGED", "200")) // 5
"""The plugin's share of what tests/client/test_damaged.py tries."""
LIMIT_S = 300
# A plugin that does not load is left out, and a hook that is no function is none.
DRIVER = """
import { readFileSync } from "node:fs"
const loaded = async (file) => {
  try {
    const found = []
    for (const start of Object.values(await import(file))) {
      found.push(await start({ client: {}, directory: "/srv", serverUrl: "http://127.0.0.1:9" }))
    }
    return found
  } catch {
    return []
  }
}
const out = []
for (const [folder, tool] of JSON.parse(readFileSync(0, "utf8"))) {
  const hooks = [...await loaded(`${folder}/watchgate.js`), ...await loaded(`${folder}/watchgate-check.js`)]
  let threw = ""
  for (const each of hooks) {
    try {
      const sent = { tool, sessionID: "s", callID: "c" }
      await each?.["tool.execute.before"]?.(sent, { args: { command: "make", filePath: "/a" } })
    } catch (fault) {
      threw ||= String(fault?.message ?? fault) || "no words"
    }
  }
  out.push(threw)
}
console.log(JSON.stringify(out))
process.exit(0)
"""  # noqa: E501 - JavaScript


def client(place: Path) -> HookClient:
    """A client that denies whatever it is asked, as with no core."""
    denies = place / "denies"
    denies.write_text('#!/bin/sh\necho \'{"decision":"deny","reason":"no core"}\'\nexit 2\n')
    denies.chmod(0o700)
    return HookClient(
        python=denies, script=denies, ingest_socket=place / "none" / "ingest.sock", deadline_s=5
    )


def folder(place: Path, name: str, profile: str = "guard", **changed: bytes | None) -> Path:
    """Both plugins where OpenCode looks for them; `plugin` and `checking` are other contents."""
    made = place / name
    made.mkdir()
    (made / "package.json").write_text('{"type":"module"}')
    plugin = contents(client(place), profile)
    whole = {"plugin": (NAME, plugin), "checking": (CHECK_NAME, check(plugin, profile))}
    for part, (file, content) in whole.items():
        written = changed.get(part, content)
        if written is not None:
            (made / file).write_bytes(written)
    return made


def threw(place: Path, *calls: tuple[Path, str]) -> list[str]:
    """What OpenCode would tell the model of each call; empty where it runs."""
    driver = place / "driver.mjs"
    driver.write_text(DRIVER)
    done = subprocess.run(
        [str(NODE), str(driver)],
        input=json.dumps([(str(where), tool) for where, tool in calls]),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_while_the_first_is_whole_it_says_nothing(tmp_path: Path) -> None:
    assert threw(tmp_path, (folder(tmp_path, "whole"), "bash")) == ["no core"]


@pytest.mark.parametrize("content", [None, b"", b"\0" * 99, b"export const Watchgate = async ("])
def test_where_the_first_is_not_what_was_installed_calls_are_held_and_reads_as_the_profile_says(
    tmp_path: Path, content: bytes | None
) -> None:
    guard = folder(tmp_path, "guard", plugin=content)
    strict = folder(tmp_path, "strict", "strict", plugin=content)
    watch = folder(tmp_path, "watch", "watch", plugin=content)

    calls = (guard, "bash"), (guard, "read"), (strict, "read"), (watch, "bash")
    held, read, held_read, watched = threw(tmp_path, *calls)

    assert "Run watchgate install opencode, then start OpenCode again" in held
    assert held_read == held
    assert (read, watched) == ("", "")


@pytest.mark.parametrize("part", ["plugin", "checking"])
def test_damage_to_either_lets_no_call_run(tmp_path: Path, part: str) -> None:
    plugin = contents(client(tmp_path), "guard")
    content = plugin if part == "plugin" else check(plugin, "guard")
    changes: list[dict[str, Any]] = [
        {part: damaged(f"{part} {number}", content)} for number in range(TRIED // 2)
    ]
    calls = [(folder(tmp_path, str(at), **each), "bash") for at, each in enumerate(changes)]

    found = threw(tmp_path, *calls)

    assert [at for at, reason in enumerate(found) if not reason] == []
