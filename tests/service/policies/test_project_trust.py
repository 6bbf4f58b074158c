"""A repository may be anybody's: its policy file can neither loosen anything nor hold a call up."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.rules.profiles import gate_action
from watchgate.service.policies.policy_store import Policies

DENY = (
    'version = 1\n[[rule]]\nid = "team.deny"\ndecision = "deny"\nreason = "Not here"\n'
    'command = { program = "xx" }\n'
)
LOW = 'version = 1\n[[rule]]\nid = "a.b"\ndecision = "ask"\nrisk = "low"\nreason = "x"\n'


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".watchgate").mkdir()
    return tmp_path / "repo"


def judged(policy: Policy, cwd: Path, tool: Tool) -> Assessment:
    return assess(Subject(tool=tool, cwd=str(cwd), home="/home/ada"), policy, 0)


def shell(command: str) -> Tool:
    return Tool("Bash", "Bash", "shell", {"command": command}, "h")


OTHER = Tool("thing", "thing", "other", {"q": "1"}, "h")


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (LOW + 'command = { program = "*" }\n', shell("frobnicate")),
        (LOW + 'tools = "<other>"\n', OTHER),
        ("nonsense", OTHER),
    ],
)
def test_what_nobody_knows_is_still_held_whatever_a_projects_file_says(
    repo: Path, text: str, tool: Tool
) -> None:
    (repo / ".watchgate" / "policy.toml").write_text(text)
    found = judged(Policies(())(str(repo)), repo, tool)
    assert gate_action("guard", found, autonomous=True) == "hold"


def test_a_file_that_an_agent_loosens_is_not_in_force_in_another_folder_either(repo: Path) -> None:
    file = repo / ".watchgate" / "policy.toml"
    file.write_text(DENY)
    policies = Policies(())
    assert judged(policies(str(repo)), repo, shell("xx")).decision == "deny"
    file.unlink()
    sub = repo / "sub"
    assert judged(policies(str(sub)), sub, shell("xx")).decision == "deny"
    for number in range(300):
        policies(f"/nowhere/{number}")
    assert judged(policies(str(repo)), repo, shell("xx")).decision == "deny"
    policies.reload()
    assert judged(policies(str(repo)), repo, shell("xx")).decision == "ask"


def test_a_folder_behind_a_link_has_the_policy_of_its_repository(
    repo: Path, tmp_path: Path
) -> None:
    (repo / ".watchgate" / "policy.toml").write_text(DENY)
    (repo / "sub").mkdir()
    link = tmp_path / "link"
    link.symlink_to(repo / "sub")
    assert judged(Policies(())(str(link)), link, shell("xx")).decision == "deny"


@pytest.mark.parametrize(
    "text",
    [
        LOW + 'raw = "(a+)+$"\n',
        LOW + 'command = { program = "x", args_regex = "(a+)+$" }\n',
        LOW + f'paths = {{ any = "{"*a" * 6}b" }}\nmatch = ["rm {"a" * 3000}"]\n',
        LOW + f'command = {{ program = "*", line = "{"*a" * 2000}b" }}\nmatch = ["{"a" * 9000}"]\n',
        "version = 1\n" + "# x\n" * 20_000,
        "version = 1\n" + "".join(
            f'[[rule]]\nid = "a.r{i}"\ndecision = "ask"\nreason = "x"\ntools = "x"\n'
            for i in range(200)
        ),
        "version = 1\n[sets]\n" + "".join(f'a{i} = ["@a{i + 1}", "@a{i + 1}"]\n' for i in range(40))
        + 'a40 = ["x"]\n[[rule]]\nid = "a.b"\ndecision = "ask"\nreason = "x"\ntools = "@a0"\n',
    ],
    ids=["raw", "regex", "paths", "line", "long", "many", "sets"],
)  # fmt: skip
def test_a_file_that_would_take_long_is_refused_at_once(repo: Path, text: str) -> None:
    (repo / ".watchgate" / "policy.toml").write_text(text)
    policies, began = Policies(()), time.process_time()
    policies(str(repo))
    assert time.process_time() - began < 2
    assert policies.faults


def test_a_folder_that_no_system_can_have_is_no_fault_of_ours() -> None:
    policies = Policies(())
    assert policies("/tmp/\0x") is policies("")


def test_a_users_file_that_is_a_link_to_nothing_is_a_fault(tmp_path: Path) -> None:
    link = tmp_path / "policy.toml"
    link.symlink_to(tmp_path / "gone")
    assert "leads to no file" in Policies(((link, "user"),)).fault
