from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from watchgate.link.paths import Paths, paths
from watchgate.service.system import runtime_dir
from watchgate.service.system.runtime_dir import (
    CoreRunningError,
    RuntimeDir,
    RuntimeDirError,
    bind_listener,
    check_config,
    prepare_directories,
    private_dir,
)

NOBODY = 65534
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def check(path: Path) -> None:
    private_dir(path, variable="WATCHGATE_RUNTIME_DIR")


@pytest.fixture
def places() -> Paths:
    """Those of a core that this test starts."""
    return paths(os.environ)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_missing_directories_are_made_private(umask: None, short_path: Path) -> None:
    paths = Paths(
        short_path / "a" / "run", short_path / "b" / "c" / "state", short_path, short_path
    )
    prepare_directories(paths)
    prepare_directories(paths)
    assert mode(paths.runtime_dir) == mode(paths.state_dir) == 0o700


def test_the_runtime_directory_may_lie_in_the_state_directory(short_path: Path) -> None:
    state = short_path / "state"
    prepare_directories(Paths(state / "run", state, short_path, short_path))
    assert mode(state) == mode(state / "run") == 0o700


@pytest.mark.parametrize("bits", [0o755, 0o750, 0o777, 0o1700, 0o500])
def test_any_other_mode_is_refused_with_the_command_that_mends_it(
    short_path: Path, bits: int
) -> None:
    path = short_path / "open"
    path.mkdir()
    path.chmod(bits)
    with pytest.raises(RuntimeDirError, match=f"mode {bits:04o}.*chmod 700 {path}"):
        check(path)


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_is_refused(short_path: Path, there: bool) -> None:
    real = short_path / "real"
    if there:
        real.mkdir(mode=0o700)
    (short_path / "link").symlink_to(real)
    with pytest.raises(RuntimeDirError, match=r"symbolic link.*WATCHGATE_RUNTIME_DIR"):
        check(short_path / "link")


def test_a_file_is_refused(short_path: Path) -> None:
    (short_path / "file").touch()
    with pytest.raises(RuntimeDirError, match="not a directory"):
        check(short_path / "file")
    with pytest.raises(RuntimeDirError, match=r"cannot be made.*set WATCHGATE_RUNTIME_DIR"):
        check(short_path / "file" / "below")


@root_only
def test_another_users_directory_is_refused(short_path: Path) -> None:
    path = short_path / "foreign"
    path.mkdir(mode=0o700)
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(RuntimeDirError, match=f"belongs to user {NOBODY}.*of your own"):
        check(path)


def test_a_configuration_of_ones_own_is_accepted(short_path: Path) -> None:
    config = short_path / "config.toml"
    check_config(config)
    config.touch()
    config.chmod(0o644)
    check_config(config)


@pytest.mark.parametrize("bits", [0o664, 0o646, 0o666])
def test_a_configuration_that_others_can_write_is_refused(short_path: Path, bits: int) -> None:
    config = short_path / "config.toml"
    config.touch()
    config.chmod(bits)
    with pytest.raises(RuntimeDirError, match=f"mode {bits:04o}.*chmod go-w"):
        check_config(config)


@root_only
def test_another_users_configuration_is_refused(short_path: Path) -> None:
    config = short_path / "config.toml"
    config.touch()
    os.chown(config, NOBODY, NOBODY)
    with pytest.raises(RuntimeDirError, match=f"belongs to user {NOBODY}"):
        check_config(config)


def test_one_core_per_runtime_directory(places: Paths) -> None:
    with RuntimeDir(places):
        assert mode(places.core_lock) == 0o600
        with pytest.raises(CoreRunningError, match="attach to it with `watchgate`"):
            RuntimeDir(places).__enter__()
    with RuntimeDir(places):
        pass


def test_a_core_that_ends_takes_its_sockets_with_it(places: Paths) -> None:
    with RuntimeDir(places) as claim:
        claim.bind(places.ingest_socket).close()
        assert places.ingest_socket.is_socket()
    assert not places.ingest_socket.exists()


def test_a_core_that_may_not_start_leaves_the_sockets_of_the_other(places: Paths) -> None:
    with RuntimeDir(places) as claim, claim.bind(places.ingest_socket):
        with pytest.raises(CoreRunningError):
            RuntimeDir(places).__enter__()
        assert places.ingest_socket.is_socket()


def test_a_killed_core_leaves_no_claim(places: Paths) -> None:
    script = (
        "import os; from watchgate.link.paths import paths;"
        "from watchgate.service.system.runtime_dir import RuntimeDir; place = paths(os.environ);"
        "claim = RuntimeDir(place).__enter__(); claim.bind(place.ingest_socket);"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == -9
    assert places.ingest_socket.is_socket()
    with RuntimeDir(places) as claim:
        claim.bind(places.ingest_socket).close()


def test_a_link_in_place_of_the_lock_is_not_followed(places: Paths) -> None:
    places.core_lock.symlink_to(places.runtime_dir / "elsewhere")
    with pytest.raises(RuntimeDirError, match="cannot be opened"):
        RuntimeDir(places).__enter__()
    assert not (places.runtime_dir / "elsewhere").exists()


def test_a_listener_is_private_and_answers(umask: None, runtime_dir: Path) -> None:
    path = runtime_dir / "ingest.sock"
    with bind_listener(path) as listener, socket.socket(socket.AF_UNIX) as client:
        assert mode(path) == 0o600
        client.connect(str(path))
        listener.accept()[0].close()


def test_a_stale_socket_is_replaced(runtime_dir: Path) -> None:
    path = runtime_dir / "ingest.sock"
    bind_listener(path).close()
    assert path.exists()
    with bind_listener(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_a_live_core_is_never_displaced(runtime_dir: Path) -> None:
    path = runtime_dir / "ingest.sock"
    with bind_listener(path) as living:
        with pytest.raises(CoreRunningError):
            bind_listener(path)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
        living.accept()[0].close()


def test_a_core_with_a_full_queue_is_alive(runtime_dir: Path) -> None:
    path = runtime_dir / "ingest.sock"
    with socket.socket(socket.AF_UNIX) as hung, socket.socket(socket.AF_UNIX) as waiting:
        hung.bind(str(path))
        hung.listen(0)
        waiting.connect(str(path))
        with pytest.raises(CoreRunningError):
            bind_listener(path)
    assert path.exists()


def test_what_is_not_a_socket_is_not_removed(runtime_dir: Path) -> None:
    path = runtime_dir / "ingest.sock"
    path.write_text("precious")
    with pytest.raises(RuntimeDirError, match="not a socket"):
        bind_listener(path)
    assert path.read_text() == "precious"


@root_only
def test_another_users_socket_is_not_removed(runtime_dir: Path) -> None:
    path = runtime_dir / "ingest.sock"
    bind_listener(path).close()
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(RuntimeDirError, match=f"belongs to user {NOBODY}"):
        bind_listener(path)


def test_a_path_that_is_too_long_is_said_so(short_path: Path) -> None:
    with pytest.raises(RuntimeDirError, match="set WATCHGATE_RUNTIME_DIR to a shorter"):
        bind_listener(short_path / ("x" * 110))
    with pytest.raises(RuntimeDirError, match="no socket can be made"):
        bind_listener(short_path / "missing" / "ingest.sock")


def test_no_place_of_another_users_login_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_dir, "LOGINS", tmp_path)
    another, own = tmp_path / "4711", tmp_path / str(os.geteuid())

    with pytest.raises(RuntimeDirError, match="is made when its user logs in"):
        check(another / "watchgate")
    check(own / "watchgate")

    assert not another.exists()
    assert mode(own / "watchgate") == 0o700
