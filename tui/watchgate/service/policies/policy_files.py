"""Reads policy files, the shipped ones and those of admin, user and project.

- Loading every reader of code ahead of the first call that needs one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module, resources
from pathlib import Path

import msgspec

from watchgate.core.policy.code.code_reading import LANGUAGES
from watchgate.core.policy.code.sql import sql_tokens
from watchgate.core.policy.inputs.rule_file import Tier
from watchgate.core.policy.rules.load import MAX_CHARS, Loaded, PolicyError, load
from watchgate.core.policy.rules.policy import Policy
from watchgate.service.system import safe_files


def load_readers() -> None:
    """Loads the readers of all languages, which takes longer than a call may; in any thread."""
    for module in dict.fromkeys(LANGUAGES.values()):
        import_module(module)
    sql_tokens.load()


@lru_cache(maxsize=1)
def shipped_files() -> tuple[Loaded, ...]:
    """Returns the shipped files, in the order of their names."""
    folder = resources.files("watchgate.core.policy") / "shipped"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return tuple(load(f.read_text("utf-8"), f"shipped/{f.name}", "shipped") for f in files)


@lru_cache(maxsize=1)
def shipped() -> Policy:
    """Returns the shipped policy alone, with the readers of code loaded: no call waits for them."""
    load_readers()
    return Policy.of(shipped_files())


PROJECT_FILE = Path(".watchgate") / "policy.toml"
# A path has no more folders than that; a longer one is no project.
_MAX_FOLDERS = 64
_ROOT_UID = 0


class PolicyFileStamp(msgspec.Struct, frozen=True):
    """The properties that tell one state of a file from another."""

    mtime_ns: int
    size: int
    inode: int
    mode: int


def policy_stamp(path: Path) -> PolicyFileStamp | None:
    """Returns the state of a file; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return PolicyFileStamp(status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)


def read_policy_file(path: Path, tier: Tier) -> Loaded | None:
    """Reads a file's rules, checked by themselves; None without a file. Raises `PolicyError`."""
    try:
        with safe_files.open_regular_file(path) as (file, status):
            _check_owner(path, tier, status)
            raw = file.read(4 * MAX_CHARS + 1)
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise PolicyError(f"{path}: leads to no file; mend the link, or remove it") from None
        return None
    except safe_files.NotRegularError:
        raise PolicyError(f"{path}: is no regular file; put one there, or remove it") from None
    except OSError as fault:
        raise PolicyError(f"{path}: cannot be read: {fault.strerror}") from None
    try:
        return load(raw.decode(), str(path), tier)
    except UnicodeDecodeError as fault:
        raise PolicyError(f"{path}: not valid TOML: it is no UTF-8 ({fault})") from None


def project_files(cwd: str) -> tuple[Path, ...]:
    """Returns the paths a project's file may have: from its git root down to the session's folder.

    Without a git repository only the session's folder itself counts. A folder that is reached
    through a link lies in the repository that it leads to, too.
    """
    if not cwd.startswith("/") or "\0" in cwd:
        return ()
    paths: dict[Path, None] = {}
    for name in (os.path.normpath(cwd), os.path.realpath(cwd)):
        folders = [Path(name), *Path(name).parents]
        depth = next(_roots(folders), 0)
        paths |= {each / PROJECT_FILE: None for each in reversed(folders[: depth + 1])}
    return tuple(paths)


def _roots(folders: list[Path]) -> Iterator[int]:
    for depth, folder in enumerate(folders[:_MAX_FOLDERS]):
        if os.path.lexists(folder / ".git"):
            yield depth


def _check_owner(path: Path, tier: Tier, status: os.stat_result) -> None:
    """Raises `PolicyError` for a file that somebody may write who may not decide."""
    if tier == "admin" and status.st_uid != _ROOT_UID:
        raise PolicyError(f"{path}: belongs to user {status.st_uid}: run `chown root {path}`")
    if tier == "user" and status.st_uid not in (os.geteuid(), _ROOT_UID):
        raise PolicyError(f"{path}: belongs to user {status.st_uid}: copy it to a file of your own")
    # The files of a project are often shared within a group, and can only add ask and deny.
    others, who = (0o002, "o-w") if tier == "project" else (0o022, "go-w")
    if status.st_mode & others:
        mode = stat.S_IMODE(status.st_mode)
        raise PolicyError(
            f"{path}: can be written by others (mode {mode:04o}): run `chmod {who} {path}`"
        )
