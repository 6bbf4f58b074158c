"""What a pending call would touch, looked up in real folders and repositories."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from watchgate.core.model.assessment import Segment
from watchgate.core.model.events import Tool
from watchgate.core.model.records import Fact, RequestData
from watchgate.service.watch.facts import fact_finder
from watchgate.service.watch.facts.fact_finder import facts, looks

ME = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")


def git(folder: Path, *args: str, who: tuple[str, ...] = ME) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True, env=env)


def commit(folder: Path, name: str, text: str, who: tuple[str, ...] = ME) -> None:
    (folder / name).write_text(text)
    git(folder, "add", name)
    git(folder, "commit", "-qm", name, who=who)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    commit(folder, "notes", "one\ntwo\n")
    return folder


def request(folder: Path, *commands: str) -> RequestData:
    segments = tuple(
        Segment(number, (0, 0), tuple(command.split()), dynamic="$" in command)
        for number, command in enumerate(commands, 1)
    )
    tool = Tool("Bash", "Bash", "shell", {"command": " && ".join(commands)}, "h")
    return data(tool, folder, segments)


def data(tool: Tool, folder: Path, segments: tuple[Segment, ...] = ()) -> RequestData:
    return RequestData(
        digest="d", lane="gate", native="PreToolUse", tool=tool, summary="", risk="high", rule="r",
        reason="", cwd=str(folder), segments=segments,
    )  # fmt: skip


async def found(asked: RequestData, late: Callable[[], bool] = lambda: False) -> list[Fact]:
    return [fact for look in looks(asked, "/home/u") for fact in await facts(look, late)]


async def texts(folder: Path, *commands: str) -> list[str]:
    return [fact.text for fact in await found(request(folder, *commands))]


async def test_a_removal_counts_files_and_what_git_does_not_have(repository: Path) -> None:
    (repository / "made").mkdir()
    for name in ("a", "b"):
        (repository / "made" / name).write_text("12345")
    (fact,) = await found(request(repository, "rm -rf notes made"))
    assert fact == Fact("3 files, 18 B, 2 not in git", 1, grave=True)


async def test_a_removal_of_what_git_has_says_so(repository: Path) -> None:
    (fact,) = await found(request(repository, "rm notes"))
    assert fact == Fact("1 file, 8 B, all of them in git", 1)


async def test_a_removal_follows_a_change_of_folder(repository: Path) -> None:
    (repository / "sub").mkdir()
    (repository / "sub" / "x").write_text("")
    assert await texts(repository, "cd sub", "rm x") == ["1 file, 0 B, 1 not in git"]


async def test_words_that_only_the_run_knows_are_not_guessed(repository: Path) -> None:
    assert await texts(repository, "rm -rf $GONE") == []
    assert await texts(repository, "cd $SOMEWHERE", "rm notes") == []


async def test_links_are_not_followed(repository: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "big").write_text("x" * 1000)
    (repository / "link").symlink_to(outside)
    assert "1 file" in (await texts(repository, "rm -r link"))[0]


async def test_a_count_that_takes_too_long_says_that_there_is_more(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("")
    (fact,) = await found(request(tmp_path, "rm -r ."), late=lambda: True)
    assert "nothing" not in fact.text


async def test_a_reset_tells_the_lines_that_it_loses(repository: Path) -> None:
    (repository / "notes").write_text("one\nthree\nfour\n")
    (fact,) = await found(request(repository, "git reset --hard"))
    assert fact == Fact("loses 3 changed lines", 1, grave=True)


async def test_a_clean_tells_the_untracked_files(repository: Path) -> None:
    (repository / "new").write_text("")
    assert await texts(repository, "git clean -fd") == ["1 untracked file"]


async def test_a_forced_push_tells_whose_commits_it_drops(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "user.email", "ann@example.org")
    git(tmp_path, "clone", "-q", "--bare", str(repository), "remote")
    git(repository, "remote", "add", "origin", str(tmp_path / "remote"))
    bob = ("-c", "user.name=Bob", "-c", "user.email=bob@example.org")
    commit(repository, "of-bob", "x", who=bob)
    commit(repository, "of-ann", "x")
    git(repository, "push", "-q", "origin", "main")
    git(repository, "fetch", "-q", "origin")
    git(repository, "reset", "-q", "--hard", "HEAD~2")
    (fact,) = await found(request(repository, "git push -f origin main"))
    assert fact == Fact("drops 2 commits of origin/main, 1 of another author", 1, grave=True)


async def test_a_branch_is_said_to_hold_what_is_nowhere_else(repository: Path) -> None:
    git(repository, "checkout", "-qb", "topic")
    commit(repository, "only-here", "x")
    git(repository, "checkout", "-q", "main")
    (fact,) = await found(request(repository, "git branch -D topic"))
    assert fact == Fact("topic: 1 commit nowhere else", 1, grave=True)


async def test_an_edit_of_a_file_that_is_there_tells_what_is_lost(repository: Path) -> None:
    (repository / "notes").write_text("one\nchanged\n")
    tool = Tool("Write", "Write", "edit", {"file_path": str(repository / "notes")}, "h")
    (fact,) = await found(data(tool, repository))
    assert fact.text == "there already: 1 file, 12 B, 2 changed lines not committed"
    assert fact.grave


async def test_a_process_is_named_before_it_is_killed(repository: Path) -> None:
    assert (await texts(repository, f"kill -9 {os.getpid()}"))[0].startswith(f"{os.getpid()} is ")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("filter.x.clean", "touch RAN; cat"),
        ("core.fsmonitor", "touch RAN"),
        ("diff.x.textconv", "touch RAN"),
        ("core.sshCommand", "touch RAN"),
        ("include.path", "elsewhere"),
        ("lfs.extension.x.clean", "touch RAN"),
        ("lfs.customtransfer.x.path", "touch RAN"),
    ],
)
async def test_a_repository_whose_settings_run_programs_is_not_asked(
    repository: Path, key: str, value: str
) -> None:
    (repository / ".gitattributes").write_text("* filter=x diff=x\n")
    (repository / "notes").write_text("changed\n")
    git(repository, "config", key, value)
    (text,) = await texts(repository, "git reset --hard")
    assert text.startswith("not looked at: its repository has")
    assert not (repository / "RAN").exists()


async def test_hooks_of_a_repository_do_not_run(repository: Path) -> None:
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        hook = repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {repository}/RAN\n")
        hook.chmod(0o755)
    (repository / "notes").write_text("changed\n")
    await texts(repository, "git reset --hard", "git clean -f", "git stash clear")
    assert not (repository / "RAN").exists()


async def test_outside_a_repository_there_is_nothing_to_say_of_git(tmp_path: Path) -> None:
    assert await texts(tmp_path, "git reset --hard") == []


async def test_a_setting_is_seen_whatever_letters_its_name_has(repository: Path) -> None:
    git(repository, "config", "remote.a\x0cb.promisor", "true")
    (fact,) = await found(request(repository, "git reset --hard"))
    assert fact.text.startswith("not looked at: ")


async def test_a_name_that_no_file_can_have_is_only_missing(repository: Path) -> None:
    (fact,) = await found(request(repository, "rm ~nobody-is-called-so/x a\0b"))
    assert fact.text.startswith("nothing is there: ")


async def test_counting_stops_within_one_folder_too(repository: Path) -> None:
    (repository / "made").mkdir()
    for number in range(50):
        (repository / "made" / str(number)).write_text("")
    calls = iter(range(1_000))
    (fact,) = await found(request(repository, "rm -r made"), lambda: next(calls) > 10)
    assert fact.text.startswith("more than ")


async def test_looks_that_hang_take_no_thread_from_anybody_else(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, go_on = anyio.Event(), threading.Event()

    def hang(*_: object) -> None:
        anyio.from_thread.run_sync(here.set)
        go_on.wait(20)

    monkeypatch.setattr(fact_finder, "count_files", hang)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(found, request(repository, "rm notes"))
        await here.wait()
        everybodys = anyio.to_thread.current_default_thread_limiter()
        taken = everybodys.borrowed_tokens
        tasks.cancel_scope.cancel()
        go_on.set()
    assert taken == 0
