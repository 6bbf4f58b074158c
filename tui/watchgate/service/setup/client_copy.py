"""The stable copy of the hook client: a launcher, the client that it imports, and its bytecode."""

from __future__ import annotations

import subprocess
from importlib import resources
from pathlib import Path

from watchgate.link.paths import Paths
from watchgate.service.setup import files

_COMPILE_TIMEOUT_S = 10
# As the launcher finds it: compiled by anything else, it might be cached in another place.
_COMPILE = "import sys; sys.path.append(sys.argv[1]); __import__(sys.argv[2])"


def packaged(places: Paths) -> dict[Path, bytes]:
    """What this version ships for each file of the copy, in the order of writing.

    The launcher is last: once a hook can start it, what it imports is there.
    """
    package = resources.files("watchgate")
    return {
        places.client_module: package.joinpath("client.py").read_bytes(),
        places.client: package.joinpath("client_launcher.py").read_bytes(),
    }


def write(places: Paths) -> None:
    """Brings the copy up to date."""
    for path, content in packaged(places).items():
        if not path.exists() or path.read_bytes() != content:
            files.replace(path, content)


def renew_bytecode(places: Paths, python: Path) -> bool:
    """Compiles the copy anew; false when nothing could be cached, so that each hook compiles it.

    What was cached goes first. CPython believes it when size and second of the source's last
    change are right, and neither damage nor an update within one second changes those.
    """
    module = places.client_module
    cache = bytecode_directory(places)
    try:
        # CPython would make it with whatever rights the umask leaves to others.
        cache.mkdir(mode=0o700, exist_ok=True)
        cache.chmod(0o700)
        for old in cached(places):
            old.unlink(missing_ok=True)
        subprocess.run(
            [python, "-I", "-S", "-c", _COMPILE, module.parent, module.stem],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_COMPILE_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return bool(cached(places))


def bytecode_directory(places: Paths) -> Path:
    """Where CPython looks for the bytecode of the copy."""
    return places.client_module.with_name("__pycache__")


def cached(places: Paths) -> list[Path]:
    """The bytecode of the copy, of each interpreter that compiled it."""
    return list(bytecode_directory(places).glob(f"{places.client_module.stem}.*.pyc"))
