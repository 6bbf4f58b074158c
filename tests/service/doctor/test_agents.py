"""What the doctor says about one agent's hooks."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agents.payloads import INSTALLABLE
from tests.service.setup.test_agent_states import trust_codex
from watchgate.agents.registry import ADAPTERS
from watchgate.core.config.config import Config, load
from watchgate.link.paths import paths
from watchgate.service.doctor.agent_checks import check_trust
from watchgate.service.doctor.doctor_run import Doctor
from watchgate.service.doctor.machine_checks import check_tmux
from watchgate.service.setup.agent_files import agent_home, hook_path, setup_of
from watchgate.service.setup.hook_checks import Check, check_silencers
from watchgate.service.setup.hook_client import base_interpreter, bytecode_directory
from watchgate.service.setup.installer import HookSettings, Installer

GUARD = HookSettings(profile="guard", client_deadline_s=3660)
FAKE_CODEX = """#!{python}
import json, os, sys
store = os.path.join(os.environ["CODEX_HOME"], "trusted.json")
commands = json.loads({commands!r})
for line in sys.stdin:
    request = json.loads(line)
    method, result = request["method"], {{}}
    trusted = json.load(open(store)) if os.path.exists(store) else {{}}
    if method == "hooks/list":
        result = {{"data": [{{"hooks": [
            {{"key": str(n), "command": c, "currentHash": "h" + str(n), "enabled": True,
              "trustStatus": "trusted" if str(n) in trusted else "untrusted"}}
            for n, c in enumerate(commands)]}}]}}
    if method == "config/batchWrite":
        trusted.update(request["params"]["edits"][0]["value"])
        json.dump(trusted, open(store, "w"))
    print(json.dumps({{"method": "note"}}))
    if "id" in request:
        print(json.dumps({{"id": request["id"], "result": result}}), flush=True)
"""


def fake_codex(bin_dir: Path, commands: list[str]) -> Path:
    program = bin_dir / "codex"
    program.write_text(FAKE_CODEX.format(python=sys.executable, commands=json.dumps(commands)))
    program.chmod(0o755)
    Path(os.environ["CODEX_HOME"]).mkdir(exist_ok=True)
    return program


def install(agent: str, tmp_path: Path, setting: HookSettings = GUARD) -> Path:
    installer, python = Installer(paths(os.environ), os.environ, tmp_path), base_interpreter()
    installer.install(installer.plan_install(ADAPTERS[agent], "user", setting, python), python)
    return hook_path(ADAPTERS[agent], "user", os.environ, tmp_path)


def findings(tmp_path: Path, *agents: str, config: Config | None = None) -> dict[str, Check]:
    doctor = Doctor(paths(os.environ), config or Config(), os.environ, tmp_path, fix=False)
    asked = [ADAPTERS[agent] for agent in agents or ADAPTERS]
    return {check.check: check for check in doctor.checks(asked, named=bool(agents))}


def faults(found: dict[str, Check]) -> set[str]:
    """What has to be mended; without a core and with hooks that deny then, that is one of them."""
    return {name for name, check in found.items() if check.status == "fail"}


def test_a_machine_without_agents_is_healthy(tmp_path: Path, bin_dir: Path) -> None:
    found = findings(tmp_path)

    assert {check.status for check in found.values()} == {"ok", "warn"}
    assert not [name for name in found if name.endswith(": hooks")], "nothing is complained about"


def test_an_agent_without_hooks_is_a_fault_only_when_it_was_asked_for(
    tmp_path: Path, bin_dir: Path
) -> None:
    fake_codex(bin_dir, [])

    assert findings(tmp_path)["codex: hooks"].status == "warn"
    assert findings(tmp_path, "codex")["codex: hooks"].status == "fail"


def test_a_fresh_installation_is_healthy_and_denies_without_a_core(
    tmp_path: Path, bin_dir: Path
) -> None:
    install("claude", tmp_path)

    found = findings(tmp_path, "claude")

    assert faults(found) == {"core"}
    assert found["claude: gate answers"].status == "warn", "a call that is denied is not all well"
    assert (
        "it denies, as no core runs: watchgate core is not running"
        in found["claude: gate answers"].text
    )
    assert "no opinion" in found["claude: gate-read answers"].text


def test_strict_denies_reads_too(tmp_path: Path, bin_dir: Path) -> None:
    install("claude", tmp_path, HookSettings(profile="strict", client_deadline_s=3660))

    found = findings(tmp_path, "claude", config=load('profile = "strict"', "config.toml"))

    assert "it denies" in found["claude: gate-read answers"].text


def test_a_profile_that_needs_install_again_is_named(tmp_path: Path, bin_dir: Path) -> None:
    install("claude", tmp_path)

    found = findings(tmp_path, "claude", config=load('profile = "strict"', "config.toml"))

    assert "PreToolUse" in found["claude: hooks"].text
    assert found["claude: hooks"].mend == "watchgate install claude"


def test_an_entry_that_somebody_took_out_is_missed(tmp_path: Path, bin_dir: Path) -> None:
    path = install("claude", tmp_path)
    value = json.loads(path.read_text())
    del value["hooks"]["PreToolUse"]
    path.write_text(json.dumps(value))

    assert "lacks PreToolUse" in findings(tmp_path, "claude")["claude: hooks"].text


def test_an_agent_that_gives_up_first_would_run_the_call(tmp_path: Path, bin_dir: Path) -> None:
    path = install("claude", tmp_path)
    path.write_text(path.read_text().replace("86400", "600"))

    assert findings(tmp_path, "claude")["claude: deadlines"].status == "fail"


@pytest.mark.parametrize("name", ["client.py", "watchgate_client.py"])
def test_an_old_client_is_found_out(tmp_path: Path, bin_dir: Path, name: str) -> None:
    install("claude", tmp_path)
    path = paths(os.environ).data_dir / name
    path.write_text("raise SystemExit(2)")

    found = findings(tmp_path, "claude")

    assert found["claude: client"].text == f"{path} is of another version"
    assert "claude: bytecode" not in found
    assert found["claude: gate answers"].status == "fail"


def test_a_client_of_a_program_that_is_gone_is_found_out(tmp_path: Path, bin_dir: Path) -> None:
    install("claude", tmp_path)
    program = paths(os.environ).program
    program.unlink()
    program.symlink_to("/nowhere/watchgate")

    found = findings(tmp_path, "claude")["claude: client"]

    assert (found.status, "as /nowhere/watchgate is" in found.text) == ("warn", True)


@pytest.mark.parametrize("name", ["client.py", "watchgate_client.py"])
def test_a_client_that_lacks_a_file_is_found_out(tmp_path: Path, bin_dir: Path, name: str) -> None:
    install("claude", tmp_path)
    (paths(os.environ).data_dir / name).unlink()

    found = findings(tmp_path, "claude")

    assert "No such file" in found["claude: client"].text
    assert found["claude: client"].mend == "watchgate install claude"
    assert found["claude: gate answers"].status == "fail"


def test_bytecode_that_cannot_be_cached_is_only_a_warning(tmp_path: Path, bin_dir: Path) -> None:
    install("claude", tmp_path)
    cache = bytecode_directory(paths(os.environ))
    shutil.rmtree(cache)
    cache.touch()

    found = findings(tmp_path, "claude")

    assert found["claude: bytecode"].status == "warn"
    assert str(cache) in found["claude: bytecode"].mend
    assert "it denies" in found["claude: gate answers"].text


def test_damaged_bytecode_is_mended_before_the_command_is_played(
    tmp_path: Path, bin_dir: Path
) -> None:
    install("claude", tmp_path)
    [cached] = bytecode_directory(paths(os.environ)).iterdir()
    cached.write_bytes(cached.read_bytes()[:100])

    found = findings(tmp_path, "claude")

    assert found["claude: bytecode"].status == "ok"
    assert (
        "it denies, as no core runs: watchgate core is not running"
        in found["claude: gate answers"].text
    )


def test_a_command_that_only_looks_like_ours_is_never_run(tmp_path: Path, bin_dir: Path) -> None:
    path = install("claude", tmp_path)
    settings = tmp_path / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    trap = tmp_path / "sprung"
    forged = re.sub(r"wg_p=\$1; shift;", f"echo > {trap};", path.read_text())
    settings.write_text(forged.replace("/usr/bin/python3", str(trap)))

    found = findings(tmp_path, "claude")

    assert not trap.exists()
    assert found["claude: hooks"].status == "fail"


def test_a_broken_settings_file_is_a_finding(tmp_path: Path, bin_dir: Path) -> None:
    path = install("claude", tmp_path)
    path.write_text("{,}")

    assert "line 1" in findings(tmp_path, "claude")["claude: hooks"].text


SILENCERS = {
    name: adapter.setup.silencers
    for name, adapter in ADAPTERS.items()
    if adapter.setup is not None and adapter.setup.silencers is not None
}


def silenced(agent: str, tmp_path: Path) -> list[Check]:
    adapter = ADAPTERS[agent]
    found = msgspec.structs.replace(SILENCERS[agent], system=(str(tmp_path / "managed"),))
    setup = msgspec.structs.replace(setup_of(adapter), silencers=found)
    return check_silencers(adapter, setup, os.environ, tmp_path)


SILENT = [
    pytest.param(agent, key, value, where, id=f"{agent}: {key} in {where}")
    for agent, each in SILENCERS.items()
    for key, (value, _) in each.keys.items()
    for where in (*(f"home/{name}" for name in each.home), *each.project, "managed")
]


@pytest.mark.parametrize(("agent", "key", "value", "where"), SILENT)
def test_a_setting_that_silences_hooks_is_found(
    tmp_path: Path, agent: str, key: str, value: bool, where: str
) -> None:
    own = agent_home(setup_of(ADAPTERS[agent]), os.environ)
    path = own / where.removeprefix("home/") if where.startswith("home/") else tmp_path / where
    path.parent.mkdir(parents=True, exist_ok=True)
    setting: object = value
    for part in reversed(key.split(".")):
        setting = {part: setting}
    path.write_text(json.dumps(setting))

    checks = silenced(agent, tmp_path)

    assert [check.status for check in checks] == ["fail"]
    assert key in checks[0].text


@pytest.mark.parametrize("agent", SILENCERS)
@pytest.mark.parametrize("content", ["{}", "[]", '{"disableAllHooks": false}', ""])
def test_other_settings_are_fine(tmp_path: Path, agent: str, content: str) -> None:
    (tmp_path / "managed").write_text(content)

    assert [check.status for check in silenced(agent, tmp_path)] == ["ok"]


@pytest.mark.parametrize("agent", INSTALLABLE)
@pytest.mark.parametrize("profile", ["watch", "guard", "strict"])
def test_a_fresh_installation_of_every_agent_is_healthy(
    tmp_path: Path, bin_dir: Path, agent: str, profile: str
) -> None:
    install(agent, tmp_path, HookSettings(profile=profile, client_deadline_s=3660))

    found = findings(tmp_path, agent, config=load(f'profile = "{profile}"', "config.toml"))

    untrusted = {"codex: trust"} if agent == "codex" else set()
    assert faults(found) == untrusted | (set() if profile == "watch" else {"core"})
    assert "up to date" in found[f"{agent}: hooks"].text
    if profile != "watch" and setup_of(ADAPTERS[agent]).form != "plugin":
        assert "it denies" in found[f"{agent}: gate answers"].text


def test_a_shorter_patience_of_the_agent_is_said(tmp_path: Path, bin_dir: Path) -> None:
    install("kimi", tmp_path)

    text = findings(tmp_path, "kimi")["kimi: deadlines"].text

    assert text == (
        "the client answers after 595 s, not the configured 3660 s, as "
        f"{ADAPTERS['kimi'].title} waits no longer"
    )


def test_a_switch_that_says_something_else_is_found(tmp_path: Path, bin_dir: Path) -> None:
    path = install("cursor", tmp_path)
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))

    found = findings(tmp_path, "cursor")["cursor: switches"]

    assert (found.status, '"version": 1' in found.text) == ("fail", True)


def trust(program: Path, tmp_path: Path, *commands: str, fix: bool = False) -> Check:
    return check_trust(str(program), frozenset(commands), tmp_path, os.environ, fix=fix)


def test_untrusted_hooks_of_codex_are_a_fault(tmp_path: Path, bin_dir: Path) -> None:
    check = trust(fake_codex(bin_dir, ["ours", "theirs"]), tmp_path, "ours")

    assert check.status == "fail"
    assert "skips 1 of 1" in check.text
    assert "--fix" in check.mend


def test_fix_records_trust_in_our_hooks_and_in_no_others(tmp_path: Path, bin_dir: Path) -> None:
    program = fake_codex(bin_dir, ["theirs", "ours", "like ours"])

    fixed = trust(program, tmp_path, "ours", fix=True)
    stored: dict[str, Any] = json.loads(
        (Path(os.environ["CODEX_HOME"]) / "trusted.json").read_text()
    )

    assert (fixed.status, stored) == ("ok", {"1": {"trusted_hash": "h1"}})
    assert "recorded your trust in 1 hooks" in fixed.text
    assert trust(program, tmp_path, "ours").text == "Codex trusts all hooks of watchgate"


def test_where_codex_is_not_on_the_search_path_its_files_tell_of_trust(
    tmp_path: Path, bin_dir: Path
) -> None:
    hooks = install("codex", tmp_path)
    before = findings(tmp_path, "codex")["codex: trust"]
    trust_codex(hooks)
    after = findings(tmp_path, "codex")["codex: trust"]

    assert (before.status, after.status) == ("fail", "ok")
    assert "by its files nobody trusted our hooks" in before.text
    assert "Hooks need review" in before.mend


def test_hooks_that_talk_to_another_socket_are_told_by_both_sockets(
    tmp_path: Path, bin_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("claude", tmp_path)
    there = paths(os.environ).ingest_socket
    monkeypatch.setenv("WATCHGATE_RUNTIME_DIR", str(tmp_path / "r"))

    check = findings(tmp_path, "claude")["claude: hooks"]

    assert check.status == "fail"
    assert f"hooks talk to another socket, {there};" in check.text
    assert f"listens at {tmp_path / 'r' / 'ingest.sock'}" in check.text
    assert "watchgate install claude" in check.mend


@pytest.mark.parametrize("script", ["exit 1", "echo nonsense; cat", "echo '[]'; exit"])
def test_a_codex_that_cannot_be_asked_is_a_warning(
    tmp_path: Path, bin_dir: Path, script: str
) -> None:
    program = bin_dir / "codex"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)

    check = trust(program, tmp_path, "ours")

    assert check.status == "warn"
    assert "Hooks need review" in check.mend


@pytest.mark.parametrize(("answer", "status"), [("on", "ok"), ("all", "ok"), ("off", "warn")])
def test_tmux_has_to_pass_notifications_on(bin_dir: Path, answer: str, status: str) -> None:
    tmux = bin_dir / "tmux"
    tmux.write_text(f"#!/bin/sh\necho {answer}\n")
    tmux.chmod(0o755)

    assert [check.status for check in check_tmux({**os.environ, "TMUX": "x"})] == [status]
    assert check_tmux({**os.environ, "TMUX": ""}) == []


def test_every_hint_after_an_installation_is_a_sentence() -> None:
    hints = [each.setup.after for each in ADAPTERS.values() if each.setup and each.setup.after]
    assert [hint for hint in hints if not hint.endswith(".")] == []


@pytest.mark.parametrize(
    ("agent", "file", "content"),
    [
        ("claude", ".claude/settings.json", '{"env": {"LD_PRELOAD": "./gag.so"}}'),
        ("gemini", ".env", "LD_PRELOAD=./gag.so"),
    ],
)
def test_a_variable_that_can_end_hooks_is_found(
    tmp_path: Path, bin_dir: Path, agent: str, file: str, content: str
) -> None:
    install(agent, tmp_path)
    name = f"{agent}: variables"
    assert findings(tmp_path, agent)[name].status == "ok"
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(content)
    found = findings(tmp_path, agent)[name]
    assert found.status == "fail"
    assert "LD_PRELOAD" in found.text
    assert found.mend.startswith("take LD_PRELOAD out of")
