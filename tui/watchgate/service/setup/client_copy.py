"""The stable copy of the hook client: a launcher, the client that it runs, and its bytecode.

With them lies what takes all hooks out, and a link by which the client sees that the program which
installed it is gone.
"""

from __future__ import annotations

import binascii
import subprocess
import sysconfig
from importlib import resources
from pathlib import Path

from watchgate.link.paths import Paths
from watchgate.service.setup import files

_COMPILE_TIMEOUT_S = 10
_MAGIC_BYTES = 4
_UNQUOTED = frozenset("'\"\\")
"""Characters that cannot stand in a single-quoted command within a JSON text."""
# By the interpreter that is to run it, with the number that the launcher finds it by before it. No
# word of the source's comments is needed to run it.
_COMPILE = """
import marshal, sys, _frozen_importlib_external as importing
client = compile(sys.stdin.buffer.read(), sys.argv[1], "exec", dont_inherit=True, optimize=2)
sys.stdout.buffer.write(importing.MAGIC_NUMBER + marshal.dumps(client))
"""


def sealed(content: bytes) -> bytes:
    """Returns the content with its checksum behind it: in a script a comment."""
    return b"%b\n# %08x" % (content, binascii.crc32(content))


def packaged(places: Paths) -> dict[Path, bytes]:
    """Returns this version's content of each file of the copy, in the order of writing.

    The launcher is last: once a hook can start it, what it runs is there.
    """
    package = resources.files("watchgate")
    return {
        places.uninstaller: package.joinpath("client_uninstall.py").read_bytes(),
        places.client_module: sealed(package.joinpath("client.py").read_bytes()),
        places.client: package.joinpath("client_launcher.py").read_bytes(),
    }


def write(places: Paths) -> None:
    """Brings the copy up to date; what was compiled from another client goes first."""
    for path, content in packaged(places).items():
        if not path.exists() or path.read_bytes() != content:
            for old in cached(places):
                old.unlink(missing_ok=True)
            files.replace(path, content)
    _link_program(places)


def _link_program(places: Paths) -> None:
    """Links the program, so that the client can tell when it is gone.

    Not where the folder's name cannot stand in a denial.
    """
    place = str(places.data_dir)
    if not (place.isascii() and place.isprintable()) or _UNQUOTED.intersection(place):
        return
    scripts = Path(sysconfig.get_path("scripts"), "watchgate")
    package = resources.files("watchgate")
    program = str(scripts if scripts.exists() else package)
    if not (places.program.is_symlink() and str(places.program.readlink()) == program):
        fresh = places.program.with_name(".program")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(program)
        fresh.replace(places.program)


def renew_bytecode(places: Paths, python: Path) -> bool:
    """Compiles the copy anew; false when nothing could be cached, so that each hook compiles it."""
    module = places.client_module
    cache = bytecode_directory(places)
    try:
        cache.mkdir(mode=0o700, exist_ok=True)
        cache.chmod(0o700)
        for old in cached(places):
            old.unlink(missing_ok=True)
        compiled = subprocess.run(
            [python, "-I", "-S", "-c", _COMPILE, module],
            input=module.read_bytes(),
            capture_output=True,
            check=True,
            timeout=_COMPILE_TIMEOUT_S,
        ).stdout
        magic, bytecode = compiled[:_MAGIC_BYTES], compiled[_MAGIC_BYTES:]
        if not bytecode:
            return False
        files.replace(cache / f"{module.stem}.{magic.hex()}.pyc", sealed(bytecode))
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def bytecode_directory(places: Paths) -> Path:
    """Returns the folder in which the launcher looks for the bytecode of the copy."""
    return places.client_module.with_name("__pycache__")


def cached(places: Paths) -> list[Path]:
    """Returns the bytecode of the copy, of each interpreter that compiled it."""
    return list(bytecode_directory(places).glob(f"{places.client_module.stem}.*.pyc"))
