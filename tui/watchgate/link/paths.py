"""The places of all files: one answer for the core, the console and the command line."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import platformdirs

APP = "watchgate"
UNINSTALLER = "uninstall.py"
SOCKET_PATH_MAX_BYTES = 103 if sys.platform == "darwin" else 107
"""Bytes that the platform's `sun_path` holds besides its closing zero byte."""


USAGE_CACHE = "usage"
"""The folder below the state directory where sums of usage files are cached."""


class SocketPathTooLongError(ValueError):
    """A socket's path does not fit into the address the kernel takes."""

    def __init__(self, path: Path, size_bytes: int, limit_bytes: int) -> None:
        self.path = path
        super().__init__(
            f"the socket path {path} has {size_bytes} bytes, the platform takes {limit_bytes}: "
            "set WATCHGATE_RUNTIME_DIR to a shorter directory of your own"
        )


class Paths(msgspec.Struct, frozen=True):
    """The directories and the configuration file; everything else has its name within them."""

    runtime_dir: Path
    state_dir: Path
    config: Path
    data_dir: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which another process finds the same places."""
        return {
            "WATCHGATE_RUNTIME_DIR": str(self.runtime_dir),
            "WATCHGATE_STATE_DIR": str(self.state_dir),
            "WATCHGATE_CONFIG": str(self.config),
        }

    @property
    def ingest_socket(self) -> Path:
        """The socket on which hook clients and streams bring events."""
        return self.runtime_dir / "ingest.sock"

    @property
    def control_socket(self) -> Path:
        """The socket on which consoles and the command line attach."""
        return self.runtime_dir / "control.sock"

    @property
    def core_lock(self) -> Path:
        """The file that a running core keeps locked."""
        return self.runtime_dir / "core.lock"

    @property
    def off(self) -> Path:
        """The off switch."""
        return self.runtime_dir / "off"

    @property
    def journal(self) -> Path:
        """The journal's database."""
        return self.state_dir / "journal.db"

    @property
    def grants(self) -> Path:
        """The standing grants that outlive a core."""
        return self.state_dir / "grants.json"

    @property
    def pin(self) -> Path:
        """The hashed PIN that unlocks terminals."""
        return self.state_dir / "pin"

    @property
    def pin_tries(self) -> Path:
        """Returns the file that counts wrong guesses of the PIN."""
        return self.state_dir / "pin-tries.json"

    @property
    def tokens(self) -> Path:
        """The registered programs, with the hashes of their tokens."""
        return self.state_dir / "tokens.json"

    @property
    def agents(self) -> Path:
        """The file that says which processes the agents are."""
        return self.state_dir / "agents.json"

    @property
    def core_log(self) -> Path:
        """The file into which a detached core prints."""
        return self.state_dir / "core.log"

    @property
    def policy(self) -> Path:
        """The rules, beside the configuration."""
        return self.config.with_name("policy.toml")

    @property
    def admin_policy(self) -> Path:
        """The rules that this machine's administrator gives to everybody on it."""
        if sys.platform == "darwin":
            return Path("/Library/Application Support") / APP / "policy.toml"
        return Path("/etc") / APP / "policy.toml"

    @property
    def installed(self) -> Path:
        """The record of installed parts, with a digest of each."""
        return self.data_dir / "installed.json"

    @property
    def backups(self) -> Path:
        """Returns the folder with the old bytes of edited files."""
        return self.data_dir / "backups"

    @property
    def integrity(self) -> Path:
        """The last look of the newest core at the files that the gate rests on."""
        return self.state_dir / "integrity.json"

    @property
    def client(self) -> Path:
        """The stable copy of the hook client's launcher, which installed commands run."""
        return self.data_dir / "client.py"

    @property
    def client_module(self) -> Path:
        """The stable copy of the hook client, under the name by which the launcher imports it."""
        return self.data_dir / "watchgate_client.py"

    @property
    def uninstaller(self) -> Path:
        """Returns the script that takes all hooks out by itself, for when the program is gone."""
        return self.data_dir / UNINSTALLER

    @property
    def program(self) -> Path:
        """The link to the program that installed the client, which dangles once that is gone."""
        return self.data_dir / "program"

    @property
    def native_client(self) -> Path:
        """The stable copy of the native hook client, where there is one that works here."""
        return self.data_dir / "hook-client"


def paths(env: Mapping[str, str], *, sockets: bool = True) -> Paths:
    """The places that the environment names, else the platform's own for this user.

    Without `XDG_RUNTIME_DIR` the runtime directory lies in the state directory, never under a
    shared temporary one. Raises `SocketPathTooLongError` when the sockets would not fit there; with
    `sockets` false none is wanted.
    """
    state_dir = _named(env, "WATCHGATE_STATE_DIR") or platformdirs.user_state_path(APP)
    paths = Paths(
        runtime_dir=_named(env, "WATCHGATE_RUNTIME_DIR") or _runtime_dir(env, state_dir),
        state_dir=state_dir,
        config=_named(env, "WATCHGATE_CONFIG")
        or platformdirs.user_config_path(APP) / "config.toml",
        data_dir=platformdirs.user_data_path(APP),
    )
    if sockets:
        check_socket_path(paths.control_socket)
    return paths


def check_socket_path(path: Path, *, limit_bytes: int = SOCKET_PATH_MAX_BYTES) -> None:
    """Raises `SocketPathTooLongError` if no socket can be bound at `path` on this platform."""
    size_bytes = len(bytes(path))
    if size_bytes > limit_bytes:
        raise SocketPathTooLongError(path, size_bytes, limit_bytes)


def _runtime_dir(env: Mapping[str, str], state_dir: Path) -> Path:
    given = _named(env, "XDG_RUNTIME_DIR")
    if given is not None:
        return given / APP
    if sys.platform == "darwin":
        return platformdirs.user_runtime_path(APP)
    return state_dir / "run"


def _named(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name)
    # Absolute, because hook commands and a detached core run in other directories.
    return Path(value).expanduser().absolute() if value else None
