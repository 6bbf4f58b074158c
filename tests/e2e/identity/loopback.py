"""An ssh daemon of a test's own on this machine, with keys of its own."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.e2e.programs import until

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin:/bin")


class Loopback:
    """Serves logins on a port of this machine alone; skips the test where that cannot be."""

    def __init__(self, folder: Path) -> None:
        if SSHD is None or shutil.which("ssh") is None:
            pytest.skip("no sshd")
        try:
            # What a service manager makes for it, where one has started it.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        except OSError:
            pytest.skip("sshd has no /run/sshd here, and only root can make it")
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]

    def __enter__(self) -> Self:
        for name in ("host", "own"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._folder / name)]
            subprocess.run(key, check=True)
        config = self._folder / "sshd_config"
        config.write_text(
            f"ListenAddress 127.0.0.1\nPort {self._port}\nHostKey {self._folder / 'host'}\n"
            f"AuthorizedKeysFile {self._folder / 'own.pub'}\nStrictModes no\nUsePAM no\n"
            f"PermitRootLogin yes\nPasswordAuthentication no\nPidFile none\n"
        )
        self._daemon = subprocess.Popen(
            [str(SSHD), "-D", "-e", "-f", str(config)],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self._serves, "sshd")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._daemon.terminate()
        self._daemon.wait()

    def argv(self, command: str) -> list[str]:
        """A login with a terminal that runs a command."""
        options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes")
        chosen = [word for option in options for word in ("-o", option)]
        where = [f"{getpass.getuser()}@127.0.0.1", "-p", str(self._port)]
        key = ["-i", str(self._folder / "own")]
        return ["ssh", "-tt", "-F", "/dev/null", *chosen, *key, *where, command]

    def _serves(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self._port)) == 0
