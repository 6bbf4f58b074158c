"""Reads and replaces an agent's own file that holds hooks: whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final, Literal, get_args

import msgspec

from watchgate.agents.base import Adapter, Setup
from watchgate.service.system import safe_files

Scope = Literal["user", "project"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
_FOLDERS = ("scripts", "plugin")
_NO_PROJECT = (
    "{} has no hooks file that stays out of a project's repository, and a committed one "
    "would run this machine's paths for everybody: use --scope user"
)


class InstallRefusal(Exception):
    """The installer does not do this; the message says why and what to do instead."""


def setup_of(agent: Adapter) -> Setup:
    """Returns an agent's installation; raises `InstallRefusal` for one that needs none."""
    if agent.setup is None:
        raise InstallRefusal(
            f"{agent.title} runs no hooks of its own: there is nothing to install. An agent that "
            "speaks ACP is gated where its editor starts it as `watchgate acp -- AGENT`"
        )
    return agent.setup


def is_folder(setup: Setup) -> bool:
    """Returns whether `user` names a folder of files of ours, not one file."""
    return setup.form in _FOLDERS


def agent_home(setup: Setup, env: Mapping[str, str]) -> Path:
    """Returns the agent's own directory for this user, whether it exists or not."""
    given = env.get(setup.variable) if setup.variable else None
    if given:
        return Path(given).expanduser().absolute()
    return _user(env) / _below_home(setup).parts[0]


def hook_path(agent: Adapter, scope: Scope, env: Mapping[str, str], cwd: Path) -> Path:
    """Returns the file to edit, or the folder; raises `InstallRefusal` where a project has none."""
    setup = setup_of(agent)
    if scope == "user":
        return agent_home(setup, env).joinpath(*_below_home(setup).parts[1:])
    if not setup.project:
        raise InstallRefusal(setup.no_project or _NO_PROJECT.format(agent.title))
    return cwd / setup.project


def _below_home(setup: Setup) -> PurePosixPath:
    return PurePosixPath(setup.user).relative_to("~")


def _user(env: Mapping[str, str]) -> Path:
    given = env.get("HOME")
    return Path(given) if given else Path.home()


_NEW_FILE_MODE = 0o600
_SCRIPT_MODE = 0o700
_BOM = b"\xef\xbb\xbf"


class AgentFile(msgspec.Struct, frozen=True):
    """A file as it was read: the real path behind links, and its bytes (None: no such file)."""

    path: Path
    content: bytes | None
    version: tuple[int, int, int] | None

    @property
    def text(self) -> str:
        """Returns the text, without a byte order mark; raises `InstallRefusal` if not UTF-8."""
        try:
            return (self.content or b"").removeprefix(_BOM).decode()
        except UnicodeDecodeError as error:
            raise InstallRefusal(
                f"{self.path} is not UTF-8 ({error.reason}): nothing was changed"
            ) from error

    def encode(self, text: str) -> bytes:
        """Returns the bytes of a new text, with the mark that the old one had."""
        return (_BOM if (self.content or b"").startswith(_BOM) else b"") + text.encode()


def read(path: Path) -> AgentFile:
    """Reads the file behind a path; raises `InstallRefusal` when it cannot be read."""
    try:
        real = path.resolve()
        return AgentFile(real, safe_files.read_regular_file(real), _version(real))
    except FileNotFoundError:
        return AgentFile(path.resolve(), None, None)
    except (OSError, RuntimeError) as error:
        raise InstallRefusal(f"cannot read {path}: {_why(error)}") from error


def check_writable(file: AgentFile) -> None:
    """Raises `InstallRefusal` when the file, or the folder for a new version, is read-only."""
    path = file.path
    if file.content is not None and not path.stat().st_mode & stat.S_IWUSR:
        raise InstallRefusal(f"{path} is read-only: chmod u+w it first, nothing was changed")
    parent = path.parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise InstallRefusal(f"{parent} cannot be written to: nothing was changed")


def write(file: AgentFile, content: bytes, *, executable: bool = False) -> None:
    """Replaces the file in one step; raises `InstallRefusal` when it changed since then."""
    path = file.path
    check_writable(file)
    if _version(path) != file.version:
        raise InstallRefusal(f"{path} changed while it was edited: nothing was written, try again")
    try:
        replace(path, content, _SCRIPT_MODE if executable else _NEW_FILE_MODE)
    except OSError as error:
        raise InstallRefusal(f"cannot write {path}: {_why(error)}") from error


def let_run(path: Path) -> None:
    """Gives the owner the right to run a script, where somebody took it."""
    mode = path.stat().st_mode
    if not mode & stat.S_IXUSR:
        path.chmod(stat.S_IMODE(mode) | stat.S_IXUSR)


def delete(file: AgentFile) -> None:
    """Removes the file; raises `InstallRefusal` when it changed since it was read."""
    if _version(file.path) != file.version:
        raise InstallRefusal(f"{file.path} changed meanwhile: nothing was deleted, try again")
    try:
        file.path.unlink()
    except OSError as error:
        raise InstallRefusal(f"cannot delete {file.path}: {_why(error)}") from error


def missing_directories(path: Path) -> tuple[Path, ...]:
    """Returns the directories above a path that are not there, the innermost first."""
    missing = []
    while not (path := path.parent).exists():
        missing.append(path)
    return tuple(missing)


def remove_directories(paths: Iterable[Path]) -> None:
    """Removes those that hold nothing but cached bytecode; the innermost have to come first."""
    for path in paths:
        if path.is_dir() and {each.name for each in path.iterdir()} <= {"__pycache__"}:
            shutil.rmtree(path)


def replace(path: Path, content: bytes, mode: int = _NEW_FILE_MODE) -> None:
    """Writes a file whole: beside it first, then over it; an old file's mode and owner win."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    old = path.stat() if path.exists() else None
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if old is not None and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) if old else mode)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:  # Ctrl-C, too: what was begun may hold all that the file does
        Path(name).unlink(missing_ok=True)
        raise


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _why(error: OSError | RuntimeError) -> str:
    return getattr(error, "strerror", None) or str(error)
