"""`watchgate uninstall`: each agent, and after the last one everything that install brought."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.cli.conftest import Cli, Core
from tests.e2e.programs import until
from tests.service.setup.forms.cases import texts
from tests.terminal import Terminal
from watchgate.agents.registry import ADAPTERS
from watchgate.cli.base.printing import Exit
from watchgate.cli.setup import uninstall_command
from watchgate.link.paths import Paths, paths
from watchgate.service.setup.agent_files import hook_path, is_folder, setup_of

Snapshot = dict[str, tuple[str, int, bytes]]


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in INSTALLABLE:
        monkeypatch.delenv(setup_of(ADAPTERS[name]).variable or "NONE", raising=False)


@pytest.fixture
def places() -> Paths:
    return paths(os.environ)


def snapshot(root: Path) -> Snapshot:
    """Everything below a folder: what it is, its mode, and its bytes or where it leads."""
    found: Snapshot = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        if path.is_symlink():
            content = bytes(path.readlink())
        else:
            content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (stat.filemode(mode), stat.S_IMODE(mode), content)
    return found


def user_file(name: str) -> Path:
    return hook_path(ADAPTERS[name], "user", os.environ, Path("/"))


def fill(tmp_path: Path) -> None:
    """Gives every agent that keeps its hooks in a file one, each behind a link in another mode."""
    for at, name in enumerate(INSTALLABLE):
        setup = setup_of(ADAPTERS[name])
        if is_folder(setup):
            continue
        given = texts(setup)
        real, path = tmp_path / "dotfiles" / name, user_file(name)
        real.parent.mkdir(exist_ok=True, mode=0o755)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
        real.write_text(list(given.values())[at % len(given)])
        real.chmod(0o644 if at % 2 else 0o600)
        if at % 3:
            path.symlink_to(real)
        else:
            real.rename(path)


def test_the_whole_home_is_byte_for_byte_as_it_was(cli: Cli, tmp_path: Path) -> None:
    fill(tmp_path)
    before = snapshot(tmp_path)
    assert cli("install", *INSTALLABLE).code == Exit.DONE
    assert len(snapshot(tmp_path)) > len(before) + 10
    assert cli("uninstall", "--all").code == Exit.DONE
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", INSTALLABLE)
def test_an_empty_home_is_empty_again_after_the_only_agent(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    before = snapshot(tmp_path)
    cli("install", name)
    cli("install", name, "--no-status-line")
    said = cli("uninstall", name)
    assert snapshot(tmp_path) == before
    assert "the hook client and its backups are gone" in said.out


def test_the_client_stays_for_the_agents_that_are_left(cli: Cli, places: Paths) -> None:
    cli("install", "claude", "gemini")
    assert "hook client" not in cli("uninstall", "claude").out
    assert places.client.exists()
    cli("uninstall", "gemini")
    assert not places.data_dir.exists()


def test_every_place_is_cleared_whatever_led_there(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, moved = tmp_path / "project", tmp_path / "moved"
    project.mkdir()
    before = snapshot(tmp_path)
    monkeypatch.chdir(project)
    cli("install", "claude")
    cli("install", "claude", "--scope", "project")
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("CLAUDE_CONFIG_DIR", str(moved))
        cli("install", "claude")
    monkeypatch.chdir("/")
    said = cli("uninstall", "--all")
    assert said.code == Exit.DONE
    for path in (project / ".claude" / "settings.local.json", moved / "settings.json"):
        assert f"claude: {path} is gone again" in said.out
    assert snapshot(tmp_path) == before


def test_twice_is_once(cli: Cli) -> None:
    cli("install", "claude")
    assert cli("uninstall", "--all").code == Exit.DONE
    said = cli("uninstall", "--all")
    assert (said.code, said.err) == (Exit.DONE, "")
    assert said.out.startswith("No hooks of watchgate are installed anywhere.")


def test_one_refusal_does_not_stop_the_others_and_keeps_the_client(cli: Cli, places: Paths) -> None:
    cli("install", "claude", "codex")
    broken = user_file("codex")
    broken.write_text(broken.read_text().replace("{", "{,", 1))
    said = cli("uninstall", "--all")
    assert (said.code, "codex: refused." in said.err) == (Exit.REFUSED, True)
    assert "line 1" in said.err
    assert not user_file("claude").exists()
    assert places.client.exists(), "what is left in that file would deny without it"
    broken.write_text(broken.read_text().replace("{,", "{", 1))
    assert cli("uninstall", "--all").code == Exit.DONE
    assert not places.data_dir.exists()


def test_links_that_lead_in_a_circle_stop_no_other_agent(cli: Cli, places: Paths) -> None:
    cli("install", "claude", "gemini")
    path = user_file("claude")
    path.unlink()
    path.symlink_to(path.name)
    said = cli("uninstall", "--all")
    assert (said.code, "claude: refused. cannot read" in said.err) == (Exit.REFUSED, True)
    assert (user_file("gemini").exists(), places.client.exists()) == (False, True)


def test_an_agent_that_nobody_knows_any_more_is_named(cli: Cli, places: Paths) -> None:
    cli("install", "claude")
    places.installed.write_text(places.installed.read_text().replace('"claude"', '"gone"'))
    user_file("claude").rename(user_file("claude").with_name("other.json"))
    text = places.installed.read_text().replace("settings.json", "other.json")
    places.installed.write_text(text)
    said = cli("uninstall", "--all")
    assert said.code == Exit.REFUSED
    assert "gone: no adapter is called gone any more; take its hooks out of" in said.err


def test_a_configuration_that_cannot_be_read_keeps_nobody_from_leaving(
    cli: Cli, places: Paths
) -> None:
    cli("install", "claude")
    places.config.parent.mkdir(parents=True)
    places.config.write_text("profile = [")
    said = cli("uninstall", "--all")
    assert said.code == Exit.DONE
    assert "only built-in agents are looked at" in said.err
    assert not user_file("claude").exists()


def test_what_stays_is_named_with_the_way_to_remove_it(cli: Cli, places: Paths) -> None:
    cli("install", "claude", "--watch")
    places.state_dir.mkdir(parents=True, mode=0o700)
    places.pin.touch()
    out = cli("uninstall", "--all").out
    assert f"stays: {places.config.parent} {places.state_dir}" in out
    assert "watchgate uninstall --all --purge" in out
    assert places.config.exists()


def test_a_purge_ends_the_core_and_removes_its_records_and_the_configuration(
    cli: Cli, core: Core, places: Paths
) -> None:
    cli("install", "claude")
    cli("config", "set", "approval.timeout_s", "60")
    said = cli("uninstall", "--all", "--purge")
    assert (said.code, said.err) == (Exit.DONE, "")
    assert said.out.endswith("What was recorded and configured is gone.\n")
    left = (places.state_dir, places.config.parent, places.runtime_dir, places.data_dir)
    assert not any(path.exists() for path in left)


def test_a_dry_run_of_a_purge_names_what_would_go(cli: Cli, core: Core, places: Paths) -> None:
    cli("install", "claude")
    said = cli("uninstall", "--all", "--purge", "--dry-run")
    *_, client, first, last = said.out.splitlines()
    assert client.endswith(f"would be removed from {places.data_dir}.")
    assert "The core would be ended first" in first
    assert last == f"would be removed for good: {places.runtime_dir} {places.state_dir}"
    assert core.paths.journal.exists()


def test_a_dry_run_of_a_purge_names_each_file_to_a_script(
    cli: Cli, core: Core, places: Paths
) -> None:
    cli("install", "claude")
    told = cli("uninstall", "--all", "--purge", "--dry-run", "--json").lines
    assert told[0]["agent"] == "claude"
    assert all(each["needed"] and each["removes"] for each in told)
    files = {each["path"] for each in told}
    assert len(files) == len(told)
    before = {path for path, (what, *_) in snapshot(places.data_dir).items() if what[0] != "d"}
    before |= {str(places.journal), str(places.core_lock), str(places.control_socket)}
    assert files >= before
    client = [each["path"] for each in cli("uninstall", "--all", "--dry-run", "--json").lines]
    assert str(places.client) in client
    assert str(places.journal) not in client


def test_a_purge_below_an_agent_changes_nothing(
    cli: Cli, core_of_our_agent: Core, places: Paths, tmp_path: Path
) -> None:
    cli("install", "claude", "gemini")
    core_of_our_agent.hold()
    until(lambda: cli("ls", "--json").lines, "a held call")
    before = snapshot(tmp_path / "home"), snapshot(places.data_dir)
    said = cli("uninstall", "--all", "--purge")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "uninstall takes a person: it runs below an agent. Nothing was changed" in said.err
    assert (snapshot(tmp_path / "home"), snapshot(places.data_dir)) == before
    assert places.journal.exists()
    assert cli("ls").code == Exit.DONE, "the core goes on"


def test_a_purge_that_the_core_refuses_changes_nothing(
    cli: Cli, core_of_another_agent: Core, places: Paths
) -> None:
    cli("install", "claude")
    core_of_another_agent.hold()
    until(lambda: cli("ls", "--json").lines, "a held call")
    with Terminal("uninstall", "--all") as terminal:
        terminal.wait_for("[y/N]")
        assert user_file("claude").exists()
        terminal.type("y\n")
        assert terminal.code() == Exit.REFUSED
        assert "the core does not end, so nothing was changed" in terminal.seen
    assert user_file("claude").exists()


def test_a_purge_spares_the_journal_of_a_core_with_another_runtime_directory(
    cli: Cli, core: Core, places: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As over ssh or in cron, where XDG_RUNTIME_DIR is not set, or where an agent sets it."""
    cli("install", "claude")
    monkeypatch.setattr(uninstall_command, "CORE_ENDS_S", 0.0)
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("WATCHGATE_RUNTIME_DIR", str(tmp_path / "run"))
        for words in (("--dry-run",), ()):
            said = cli("uninstall", "--all", "--purge", *words)
            assert said.code == Exit.REFUSED
            assert "a core with another runtime directory keeps its journal" in said.err
            assert "is gone" not in said.out
    assert user_file("claude").exists()
    assert places.journal.exists()
    assert cli("ls").code == Exit.DONE, "the core goes on"


def test_a_purge_is_left_where_hooks_would_stay(cli: Cli, core: Core, places: Paths) -> None:
    cli("install", "claude", "codex")
    broken = user_file("codex")
    broken.write_text(broken.read_text().replace("{", "{,", 1))
    shown = cli("uninstall", "--all", "--purge", "--dry-run")
    assert (shown.code, "would be removed for good" in shown.out) == (Exit.REFUSED, False)
    assert "hooks would be left" in shown.err
    said = cli("uninstall", "--all", "--purge")
    assert said.code == Exit.REFUSED
    assert "What was recorded and configured stays, as hooks are left." in said.out
    assert (user_file("claude").exists(), places.journal.exists()) == (False, True)
    assert cli("ls").code == Exit.DONE, "the core goes on"


@pytest.mark.parametrize("name", ["claude", "kimi", "cursor"])
@pytest.mark.parametrize("words", [("--all",), ("--all", "--purge")])
def test_a_hook_that_was_changed_by_hand_keeps_the_client(
    cli: Cli, places: Paths, name: str, words: tuple[str, ...]
) -> None:
    cli("install", name)
    path = user_file(name)
    path.write_text(path.read_text().replace("/bin/sh -c", "timeout 9 /bin/sh -c", 1))
    shown = cli("uninstall", *words, "--dry-run")
    assert (shown.code, "hooks would be left" in shown.err) == (Exit.REFUSED, True)
    for _ in range(2):
        said = cli("uninstall", *words)
        assert said.code == Exit.REFUSED
        assert f"{name}: take out by hand what still runs the hook client in {path}" in said.err
        assert "no hooks of watchgate" not in said.out
        assert places.client.exists()
    [line] = [at for at, each in enumerate(path.read_text().splitlines(), 1) if "timeout 9" in each]
    assert f"in line {line}" in said.err
    path.unlink()
    assert cli("uninstall", "--all").code == Exit.DONE
    assert not places.data_dir.exists()


def test_a_hook_that_was_changed_by_hand_is_remembered_wherever_it_is(
    cli: Cli, tmp_path: Path, places: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "moved" / "settings.json"
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("CLAUDE_CONFIG_DIR", str(moved.parent))
        cli("install", "claude")
    moved.write_text(moved.read_text().replace("/bin/sh -c", "timeout 9 /bin/sh -c", 1))
    for _ in range(2):
        said = cli("uninstall", "--all")
        assert (said.code, str(moved) in said.err) == (Exit.REFUSED, True)
        assert places.client.exists()


def test_without_the_old_bytes_only_our_entries_go(cli: Cli, places: Paths) -> None:
    path = user_file("claude")
    path.parent.mkdir()
    path.write_text('{"a": 1.50}\n')
    cli("install", "claude")
    for old in places.backups.glob("*.before"):
        old.unlink()
    assert cli("install", "claude", "--no-status-line").code == Exit.DONE
    for old in places.backups.glob("*.before"):
        old.unlink()
    assert cli("uninstall", "--all").code == Exit.DONE
    assert path.read_text() == '{"a": 1.50}\n'


@pytest.mark.parametrize("damage", ["{", "[]", '{"version": 1, "entries": [{}]}', "[" * 100_000])
def test_a_damaged_list_is_told_and_no_hooks_are_lost(
    cli: Cli, places: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    before = snapshot(tmp_path)
    moved = tmp_path / "moved" / "settings.json"
    cli("install", "claude", "gemini")
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("CLAUDE_CONFIG_DIR", str(moved.parent))
        cli("install", "claude")
    places.installed.write_text(damage)
    for words in (("--all", "--dry-run"), ("--all",), ("--all",)):
        said = cli("uninstall", *words)
        assert said.code == Exit.REFUSED
        assert f"take its hooks out of {moved} by hand" in said.err
        assert moved.exists()
        assert places.client.exists()
    moved.unlink()
    moved.parent.rmdir()
    assert cli("uninstall", "--all").code == Exit.DONE
    assert snapshot(tmp_path) == before


def test_an_installation_over_a_damaged_list_says_so_and_keeps_it(cli: Cli, places: Paths) -> None:
    cli("install", "claude")
    places.installed.write_text("{")
    shown = cli("doctor", "claude")
    assert f"fail  list of hooks: {places.installed}: " in shown.out
    assert "`watchgate install AGENT` begins it anew" in shown.out
    said = cli("install", "claude")
    assert said.code == Exit.DONE
    assert "the list of what was installed cannot be read. `watchgate install" in said.err
    assert places.installed.with_name("installed.json.unread").read_text() == "{"
    assert "list of hooks" not in cli("doctor", "claude").out
    assert cli("uninstall", "--all").err == ""
    assert not places.data_dir.exists()


def test_a_purge_spares_what_lies_beside_our_files_in_folders_of_others(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    (shared / "watchgate").mkdir(parents=True)
    (shared / "usage").mkdir()
    config, beside = (
        shared / "watchgate.toml",
        [
            shared / name
            for name in ("vimrc", "journal.md", "usage/report.txt", "watchgate/setup.py")
        ],
    )
    config.write_text('profile = "guard"\n')
    for path in beside:
        path.touch()
    monkeypatch.setenv("WATCHGATE_CONFIG", str(config))
    monkeypatch.setenv("WATCHGATE_STATE_DIR", str(shared))
    monkeypatch.setenv("WATCHGATE_RUNTIME_DIR", str(shared / "watchgate"))
    shown = cli("uninstall", "--all", "--purge", "--dry-run").out
    assert f"would be removed for good: {config}\n" in shown
    assert (
        f"{shared} would stay, with what is not ours: journal.md, usage, vimrc and 1 more\n"
        in shown
    )
    said = cli("uninstall", "--all", "--purge")
    assert said.code == Exit.DONE
    assert f"{shared / 'watchgate'} stays, with what is not ours: setup.py\n" in said.out
    assert not config.exists()
    assert all(path.exists() for path in beside)


def test_what_somebody_else_put_into_our_folder_stays(cli: Cli, places: Paths) -> None:
    cli("install", "claude")
    (places.data_dir / "extensions").mkdir()
    assert cli("uninstall", "--all").code == Exit.DONE
    assert [path.name for path in places.data_dir.iterdir()] == ["extensions"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "--all"),
        (("--all", "claude"), "takes no names"),
        (("hal",), "claude, cline"),
        (("claude", "--purge"), "--purge goes with --all"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(cli: Cli, words: tuple[str, ...], why: str) -> None:
    said = cli("uninstall", *words)
    assert (said.code, why in said.err) == (Exit.USAGE, True)


def test_it_is_said_that_a_core_still_runs(cli: Cli, core: Core, places: Paths) -> None:
    cli("install", "claude")
    assert "`watchgate stop` ends it" in cli("uninstall", "--all").out
    assert (places.data_dir.exists(), core.paths) == (False, places)
