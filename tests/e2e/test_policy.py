"""Policy files, edits and facts as an operator meets them: a real core, real hook clients."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs import Core, bash, until

PUSH = "git push --force origin main"
DENY_DEPLOYS = """\
version = 1
[[rule]]
id = "team.no-deploy"
decision = "deny"
reason = "Deploys go through the pipeline"
command = { program = "launch" }
match = ["launch now"]
"""


def told(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out)["hookSpecificOutput"]
    return found


def policy_file() -> Path:
    return Path(os.environ["WATCHGATE_CONFIG"]).with_name("policy.toml")


def written(text: str) -> None:
    policy_file().parent.mkdir(parents=True, exist_ok=True)
    policy_file().write_text(text)


def test_the_agent_runs_the_command_that_an_operator_put_in_its_place(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(PUSH))
    (request,) = running.pending()
    assert running.allow(request, "--command", "git push --dry-run").code == 0
    assert told(hook.done().out)["updatedInput"]["command"] == "git push --dry-run"
    first, second = (r for r in running.records() if r["kind"] == "approval.requested")
    assert second["data"]["edited_from"] == first["request"]
    assert second["data"]["before"]["command"] == PUSH
    assert second["data"]["digest"] != first["data"]["digest"]


@pytest.mark.parametrize(
    ("denied", "advised", "again"),
    [
        ("git push --force", "git push --force-with-lease", "git push -f"),
        (
            "kubectl apply -f x.yaml",
            "kubectl apply --dry-run=server -f x.yaml",
            "kubectl apply --dry-run=none -f x.yaml",
        ),
    ],
)
def test_what_a_denial_advised_is_not_held_and_the_same_again_is_raised(
    running: Core, denied: str, advised: str, again: str
) -> None:
    hook = running.hook("PreToolUse", bash(denied))
    (request,) = running.pending()
    running.cli("deny", request["id"])
    assert "denied" in hook.done().out
    assert running.hook("PreToolUse", bash(advised)).done().out == "", "left to the agent"
    running.hook("PreToolUse", bash(again))
    (raised,) = running.pending()
    assert raised["risk"] == "critical"


def test_a_refused_edit_leaves_the_request_waiting(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(PUSH))
    (request,) = running.pending()
    same = running.allow(request, "--command", PUSH)
    assert (same.code, "not changed" in same.err) == (2, True)
    other = running.cli("allow", request["id"], "--digest", "0" * 64, "--command", "ls")
    assert other.code == 1
    assert hook.waits
    running.cli("deny", request["id"])
    assert hook.done().code == 2


def test_a_rule_of_the_users_denies_without_asking(core: Core) -> None:
    written(DENY_DEPLOYS)
    core.start()
    done = core.hook("PreToolUse", bash("cd app && launch --all")).done()
    assert done.code == 2
    assert "A rule denied this call: Deploys go through the pipeline" in done.err


def test_a_changed_file_counts_only_once_it_is_loaded(running: Core) -> None:
    written(DENY_DEPLOYS)
    assert running.hook("PreToolUse", bash("launch now")).done().code == 0
    running.seen("policy.changed")
    assert running.cli("policy", "reload").code == 0
    assert running.hook("PreToolUse", bash("launch now", "call-2")).done().code == 2


def test_a_file_with_a_fault_is_refused_and_what_was_in_force_stays(core: Core) -> None:
    written(DENY_DEPLOYS)
    core.start()
    written(DENY_DEPLOYS.replace("launch now", "ship now"))
    reload = core.cli("policy", "reload")
    assert reload.code == 1
    assert f"{policy_file()}:7" in reload.err
    assert core.hook("PreToolUse", bash("launch now")).done().code == 2


def test_a_file_with_a_fault_at_start_has_every_call_asked(core: Core) -> None:
    written("version = 1\nrules = []\n")
    core.start()
    hook = core.hook("PreToolUse", bash("ls"))
    (request,) = core.pending()
    assert request["risk"] == "high"
    assert f"{policy_file()}:2" in request["reason"]
    core.cli("deny", request["id"])
    assert hook.done().code == 2


def test_what_runs_below_the_agent_cannot_load_a_policy(running: Core) -> None:
    hook = running.hook("PreToolUse", bash(PUSH))
    (request,) = running.pending()
    written("version = 1\ndisable = ['git.force-push']\n")
    running.cli("deny", request["id"])
    hook.done()
    running.seen("policy.changed")
    again = running.hook("PreToolUse", bash(PUSH, "call-2"))
    assert running.pending()
    again.end()


@pytest.mark.parametrize(("auto", "says"), [("true", "allow"), ("false", None)])
def test_an_allow_rule_is_told_only_where_that_is_configured(
    core: Core, auto: str, says: str | None
) -> None:
    core.configure(f"[policy]\nauto_allow = {auto}\n")
    core.start()
    done = core.hook("PreToolUse", bash("git status --short")).done()
    assert done.code == 0
    assert (told(done.out)["permissionDecision"] if done.out else None) == says


def test_an_operator_sees_what_would_be_lost(running: Core, tmp_path: Path) -> None:
    for args in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=b@c", "commit", "-q",
                                  "--allow-empty", "-m", "x"]):  # fmt: skip
        subprocess.run(["git", *args], cwd=tmp_path, check=True)
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "x").write_text("12345")
    _, request, facts = running.looked_at("rm -rf made", tmp_path)
    assert facts == [{"text": "1 file, 5 B, 1 not in git", "segment": 1, "grave": True}]
    assert "1 not in git" in running.cli("show", request["id"]).out


def test_a_file_is_judged_by_what_a_link_in_the_folder_leads_to(
    running: Core, tmp_path: Path
) -> None:
    (tmp_path / "plain").write_text("x")
    assert running.hook("PreToolUse", bash("cat notes", cwd=str(tmp_path))).done().code == 0
    (tmp_path / "notes").symlink_to(Path.home() / ".ssh" / "id_rsa")
    hook = running.hook("PreToolUse", bash("cat notes", "call-2", cwd=str(tmp_path)))
    (request,) = running.pending()
    assert request["risk"] == "high"
    running.cli("deny", request["id"])
    assert hook.done().code == 2


def test_a_flood_of_one_session_is_denied_and_says_why(running: Core) -> None:
    hooks = [running.hook("PreToolUse", bash(PUSH, f"call-{n}")) for n in range(24)]
    ended = until(
        lambda: [h for h in hooks if not h.waits] if sum(not h.waits for h in hooks) >= 4 else None,
        "calls denied unasked",
    )
    for hook in ended:
        done = hook.done()
        assert done.code == 2
        assert "wait for an operator already" in done.err
    assert len(running.pending(20)) == 20
