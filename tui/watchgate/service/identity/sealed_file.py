"""A small secret of the core: trusted in its memory alone, and the file only by a fingerprint."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from threading import Lock

from watchgate.service import own_file


class SealedFile:
    """One file in the state directory whose fingerprint the journal records.

    `content` is the secret in force, None where there is none. `distrusted` says why the file at
    the start was not taken; empty while all is well. A change under a running core changes nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: bytes | None = None
        self.distrusted = ""
        # A look in a thread must not come between the file and the memory of it.
        self._changing = Lock()

    @property
    def fingerprint(self) -> str:
        """The hash that the journal records of it; empty where there is none."""
        return "" if self.content is None else sha256(self.content).hexdigest()

    def load(self, recorded: str | None) -> None:
        """Reads the file, which must have the recorded fingerprint (None: nothing is recorded)."""
        try:
            content = own_file.read(self.path)
        except FileNotFoundError:
            content = None
        except OSError as fault:
            self.distrusted = f"{self.path} cannot be trusted: {fault.strerror or fault}"
            return
        self.content = content
        if self.fingerprint != (recorded or ""):
            self.content = None
            self.distrusted = f"{self.path} is not what the journal says was set"

    def replace(self, content: bytes | None) -> None:
        """Writes the content in force from now on, or removes the file. Raises `OSError`."""
        with self._changing:
            if content is None:
                self.path.unlink(missing_ok=True)
            else:
                own_file.replace(self.path, content)
            self.content, self.distrusted = content, ""

    def differs(self) -> bool:
        """Returns whether the file no longer has the content in force; reads it."""
        if self.distrusted:
            return False  # told of already
        with self._changing:
            try:
                return own_file.read(self.path) != self.content
            except FileNotFoundError:
                return self.content is not None
            except OSError:
                return True
