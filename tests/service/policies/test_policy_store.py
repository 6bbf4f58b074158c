"""Policy files of admin, user and project: who is believed, what a fault does, what reload does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.load import PolicyError
from watchgate.service.policies.policy_store import Policies

DENY = (
    'version = 1\n[[rule]]\nid = "{id}"\ndecision = "deny"\nreason = "Not here"\n'
    'command = {{ program = "{program}" }}\n'
)


def deny(program: str, rule_id: str = "team.deny") -> str:
    return DENY.format(program=program, id=rule_id)


class Place:
    """An admin's, a user's and a project's file in folders of their own."""

    def __init__(self, root: Path) -> None:
        self.admin = root / "admin.toml"
        self.user = root / "user.toml"
        self.repo = root / "repo"
        self.cwd = self.repo / "src" / "deep"
        self.cwd.mkdir(parents=True)
        (self.repo / ".git").mkdir()
        self.project = self.repo / ".watchgate" / "policy.toml"
        self.project.parent.mkdir()

    def policies(self) -> Policies:
        return Policies(((self.admin, "admin"), (self.user, "user")))

    def judged(self, policies: Policies, command: str) -> Assessment:
        tool = Tool("Bash", "Bash", "shell", {"command": command}, "h")
        subject = Subject(tool=tool, cwd=str(self.cwd), home="/home/ada")
        return assess(subject, policies(str(self.cwd)), 0)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_files_the_shipped_policy_holds(place: Place) -> None:
    policies = place.policies()
    assert place.judged(policies, "ls").decision == "allow"
    assert (policies.files, policies.faults) == ((), ())


def test_every_tier_is_read(place: Place) -> None:
    place.user.write_text(deny("uu", "user.deny"))
    place.project.write_text(deny("pp", "project.deny"))
    policies = place.policies()
    assert place.judged(policies, "uu").decision == "deny"
    assert place.judged(policies, "pp").decision == "deny"
    assert policies.files == ((str(place.user), "user"), (str(place.project), "project"))


def test_a_projects_files_are_those_from_its_git_root_down(place: Place) -> None:
    (place.repo.parent / ".watchgate").mkdir()
    (place.repo.parent / ".watchgate" / "policy.toml").write_text(deny("above", "above.deny"))
    place.project.write_text(deny("root", "root.deny"))
    (place.cwd / ".watchgate").mkdir()
    (place.cwd / ".watchgate" / "policy.toml").write_text(deny("here", "here.deny"))
    policies = place.policies()
    assert place.judged(policies, "above").decision == "ask"
    assert place.judged(policies, "root").decision == "deny"
    assert place.judged(policies, "here").decision == "deny"


def test_outside_a_repository_only_the_sessions_own_folder_counts(place: Place) -> None:
    (place.repo / ".git").rmdir()
    place.project.write_text(deny("root"))
    assert place.judged(place.policies(), "root").decision == "ask"


@pytest.mark.parametrize("command", ["ls", "rm -rf /", "unheard-of"])
def test_with_a_bad_file_at_start_every_call_is_asked(place: Place, command: str) -> None:
    place.user.write_text("version = 2\n")
    policies = place.policies()
    found = place.judged(policies, command)
    broken = next(each for each in found.findings if each.rule == "policy.broken")
    assert (found.decision, broken.risk) == ("ask", "high")
    assert f"{place.user}:1" in broken.reason
    assert policies.faults == (policies.fault,)


def test_a_file_that_others_can_write_is_refused_with_the_mend(place: Place) -> None:
    place.user.write_text(deny("x"))
    place.user.chmod(0o666)
    assert f"run `chmod go-w {place.user}`" in place.policies().fault


def test_a_file_of_a_project_may_be_the_groups_but_not_everybodys(place: Place) -> None:
    place.project.write_text(deny("x"))
    place.project.chmod(0o664)
    assert place.judged(place.policies(), "x").decision == "deny"
    place.project.chmod(0o666)
    assert place.judged(place.policies(), "ls").decision == "ask"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_admins_file_must_be_roots(place: Place) -> None:
    place.admin.write_text(deny("x"))
    assert place.judged(place.policies(), "x").decision == "deny"
    os.chown(place.admin, 1234, -1)
    assert f"run `chown root {place.admin}`" in place.policies().fault
    place.admin.unlink()
    place.user.write_text(deny("x"))
    os.chown(place.user, 1234, -1)
    assert "copy it to a file of your own" in place.policies().fault


def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(place: Place) -> None:
    os.mkfifo(place.user)
    assert "is no regular file" in place.policies().fault


def test_examples_that_fail_refuse_the_file(place: Place) -> None:
    place.user.write_text(deny("x") + 'match = ["y"]\n')
    assert "does not match its example 'y'" in place.policies().fault


def test_a_bad_project_file_allows_nothing_there_and_is_told_of_once(place: Place) -> None:
    place.project.write_text('version = 1\ndisable = ["git.discard"]\n')
    policies = place.policies()
    found = place.judged(policies, "ls")
    assert (found.decision, found.risk) == ("ask", "medium")
    assert "may only add ask and deny" in found.reason
    assert place.judged(policies, "ls").decision == "ask"
    assert len(policies.pending_faults) == 1
    other = Subject(tool=Tool("Bash", "Bash", "shell", {"command": "ls"}, "h"), cwd="/srv")
    assert assess(other, policies("/srv"), 0).decision == "allow"


def test_a_changed_file_is_told_of_once_and_not_loaded_before_reload(place: Place) -> None:
    policies = place.policies()
    assert place.judged(policies, "x").decision == "ask"
    assert policies.changed() == ()
    place.user.write_text(deny("x"))
    assert policies.changed() == (place.user,)
    assert policies.changed() == ()
    assert place.judged(policies, "x").decision == "ask"
    assert policies.reload() == ()
    assert place.judged(policies, "x").decision == "deny"
    assert policies.changed() == ()
    place.user.unlink()
    assert policies.changed() == (place.user,)


def test_a_projects_new_file_is_a_change_too(place: Place) -> None:
    policies = place.policies()
    assert place.judged(policies, "x").decision == "ask"
    place.project.write_text(deny("x"))
    assert policies.changed() == (place.project,)
    assert place.judged(policies, "x").decision == "ask"
    policies.reload()
    assert place.judged(policies, "x").decision == "deny"


def test_a_reload_of_a_bad_file_keeps_what_was_in_force(place: Place) -> None:
    place.user.write_text(deny("x"))
    policies = place.policies()
    place.user.write_text(deny("x") + "colour = 1\n")
    with pytest.raises(PolicyError, match=r"unknown key rule\.colour"):
        policies.reload()
    assert place.judged(policies, "x").decision == "deny"
    assert policies.fault == ""


def test_a_projects_file_that_went_bad_keeps_what_was_good(place: Place) -> None:
    place.project.write_text(deny("x"))
    policies = place.policies()
    assert place.judged(policies, "x").decision == "deny"
    place.project.write_text("nonsense")
    assert len(policies.reload()) == 1
    assert place.judged(policies, "x").decision == "deny"
    assert place.judged(policies, "ls").decision == "allow"


def test_a_reload_ends_the_fault_of_the_start(place: Place) -> None:
    place.user.write_text("nonsense")
    policies = place.policies()
    place.user.write_text(deny("x"))
    policies.reload()
    assert (policies.fault, place.judged(policies, "ls").decision) == ("", "allow")


def test_a_relative_folder_has_no_project(place: Place) -> None:
    assert place.policies()("src") is place.policies()("")
