from __future__ import annotations

import sys
from pathlib import Path

import platformdirs
import pytest

from watchgate.link.paths import (
    SOCKET_PATH_MAX_BYTES,
    SocketPathTooLongError,
    check_socket_path,
    paths,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux places")


def test_the_environment_names_every_place() -> None:
    found = paths(
        {
            "WATCHGATE_RUNTIME_DIR": "/r",
            "WATCHGATE_STATE_DIR": "/s",
            "WATCHGATE_CONFIG": "/c/other.toml",
        }
    )
    assert found.ingest_socket == Path("/r/ingest.sock")
    assert found.control_socket == Path("/r/control.sock")
    assert found.core_lock == Path("/r/core.lock")
    assert found.off == Path("/r/off")
    assert found.journal == Path("/s/journal.db")
    assert found.core_log == Path("/s/core.log")
    assert found.config == Path("/c/other.toml")
    assert found.policy == Path("/c/policy.toml")


def test_without_our_variables_the_platform_decides() -> None:
    found = paths({"XDG_RUNTIME_DIR": "/run/user/7"})
    assert found.runtime_dir == Path("/run/user/7/watchgate")
    assert found.state_dir == platformdirs.user_state_path("watchgate")
    assert found.config == platformdirs.user_config_path("watchgate") / "config.toml"
    data_dir = platformdirs.user_data_path("watchgate")
    assert found.client == data_dir / "client.py"
    assert found.client_module == data_dir / "watchgate_client.py"


@linux
@pytest.mark.parametrize("env", [{}, {"XDG_RUNTIME_DIR": ""}])
def test_without_a_private_runtime_place_it_lies_in_the_state_directory(
    env: dict[str, str],
) -> None:
    assert paths(env | {"WATCHGATE_STATE_DIR": "/s"}).runtime_dir == Path("/s/run")


def test_empty_variables_count_as_unset() -> None:
    found = paths({"XDG_RUNTIME_DIR": "/x", "WATCHGATE_RUNTIME_DIR": "", "WATCHGATE_CONFIG": ""})
    assert found.runtime_dir == Path("/x/watchgate")
    assert found.config.name == "config.toml"


def test_relative_places_are_made_absolute(
    monkeypatch: pytest.MonkeyPatch, short_path: Path
) -> None:
    monkeypatch.chdir(short_path)
    assert paths({"WATCHGATE_RUNTIME_DIR": "here"}).runtime_dir == Path.cwd() / "here"


def test_a_home_directory_is_expanded() -> None:
    found = paths({"XDG_RUNTIME_DIR": "/x", "WATCHGATE_STATE_DIR": "~/state"})
    assert found.state_dir == Path.home() / "state"


def test_a_socket_path_over_the_limit_names_the_mend() -> None:
    with pytest.raises(SocketPathTooLongError, match="set WATCHGATE_RUNTIME_DIR to a shorter"):
        paths({"WATCHGATE_RUNTIME_DIR": "/" + "x" * SOCKET_PATH_MAX_BYTES})


def test_the_limit_counts_bytes_and_not_characters() -> None:
    check_socket_path(Path("/" + "x" * 106), limit_bytes=107)
    with pytest.raises(SocketPathTooLongError, match="109 bytes, the platform takes 107"):
        check_socket_path(Path("/" + "é" * 54), limit_bytes=107)


def test_who_needs_no_core_needs_no_place_for_its_sockets() -> None:
    env = {"HOME": "/h", "WATCHGATE_RUNTIME_DIR": "/" + "x" * 200}
    with pytest.raises(SocketPathTooLongError):
        paths(env)
    assert paths(env, sockets=False).config.name == "config.toml"
