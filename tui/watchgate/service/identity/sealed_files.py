"""A small secret of the core: trusted in its memory alone, and the file only by a fingerprint.

- The file of the proofs that unlock a terminal: a PIN's hash, a key's public half, or both.
- The programs that an operator registered: each shows a token, of which only a hash is stored.
"""

from __future__ import annotations

import hmac
import re
import secrets
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Literal

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.presence.proof import TokenRisk
from watchgate.link.protocol import TokenRow
from watchgate.service.system import safe_files


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
            content = safe_files.read_own_file(self.path)
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
                safe_files.replace_own_file(self.path, content)
            self.content, self.distrusted = content, ""

    def differs(self) -> bool:
        """Returns whether the file no longer has the content in force; reads it."""
        if self.distrusted:
            return False  # told of already
        with self._changing:
            try:
                return safe_files.read_own_file(self.path) != self.content
            except FileNotFoundError:
                return self.content is not None
            except OSError:
                return True


VERSION = 1


class Proofs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A PIN's salt and hash, and the line of a public key with the path it was read from."""

    version: int
    salt: bytes = b""
    hash: bytes = b""
    key: str = ""
    key_file: str = ""


NO_PROOFS = Proofs(version=VERSION)


class ProofFile(SealedFile):
    """The PIN and the key of one core, in one file, so that one fingerprint covers both."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._turn = anyio.Lock()

    def proofs(self) -> Proofs:
        """Returns the proofs; raises `Refused` where the file cannot be trusted or read."""
        if self.distrusted:
            raise Refused(
                "locked",
                f"{self.distrusted}: set a new PIN (watchgate pin set) in a terminal window "
                "that was open before the agent, or while no agent runs",
            )
        if self.content is None:
            return NO_PROOFS
        try:
            return decoding.decode(self.content, Proofs)
        except JSON_FAULTS as fault:
            raise Refused("locked", f"{self.path} cannot be read: {fault}") from None

    def has(self, part: Literal["hash", "key"], *, unreadable: bool) -> bool:
        """Returns whether this is set; `unreadable` where the file does not say."""
        try:
            return bool(getattr(self.proofs(), part))
        except Refused:
            return unreadable

    async def change(self, **parts: bytes | str) -> None:
        """Sets these parts, and keeps the others where they can be trusted."""
        async with self._turn:
            try:
                before = self.proofs()
            except Refused:
                before = NO_PROOFS
            proofs = msgspec.structs.replace(before, **parts)
            content = None if proofs == NO_PROOFS else msgspec.json.encode(proofs)
            await anyio.to_thread.run_sync(self.replace, content)


TOKEN_BYTES = 32
MAX_PROGRAMS = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class _TokenEntry(msgspec.Struct, frozen=True, kw_only=True):
    hash: str
    name: str
    risk: TokenRisk
    added_at: int


class _TokensFile(msgspec.Struct, frozen=True, kw_only=True):
    tokens: tuple[_TokenEntry, ...] = ()
    version: int = 1


class TokenRegistry:
    """The registered programs of one core, stored in `file`."""

    def __init__(self, file: SealedFile) -> None:
        self.file = file

    def rows(self) -> list[TokenRow]:
        """Returns every registered program, the oldest first."""
        return [_token_row(each) for each in self._entries()]

    def program(self, token: str) -> TokenRow:
        """Returns the owner of this token; raises `Refused` where there is none."""
        if self.file.distrusted:
            raise Refused("locked", f"{self.file.distrusted}: register the program anew")
        shown = _token_hash(token)
        # Each is looked at, so that the time tells nothing.
        hits = [
            each
            for each in self._entries()
            if hmac.compare_digest(each.hash.encode(), shown.encode())
        ]
        if not hits:
            raise Refused(
                "locked", "this token is of no registered program; see watchgate token ls"
            )
        return _token_row(hits[0])

    async def add(self, name: str, risk: TokenRisk, now_us: int) -> tuple[TokenRow, str]:
        """Registers a program; returns its row, and the token, which is shown only now."""
        entries = self._entries()
        if _NAME.fullmatch(name) is None:
            raise Refused("bad_request", "a program's name has up to 64 letters, digits, . _ and -")
        if any(each.name == name for each in entries):
            raise Refused("bad_request", f"{name} is registered already: revoke it first")
        if len(entries) >= MAX_PROGRAMS:
            raise Refused(
                "bad_request", f"{MAX_PROGRAMS} programs are registered: revoke one first"
            )
        token = secrets.token_hex(TOKEN_BYTES)
        made = _TokenEntry(hash=_token_hash(token), name=name, risk=risk, added_at=now_us)
        await self._write((*entries, made))
        return _token_row(made), token

    async def revoke(self, name: str) -> TokenRow:
        """Takes a program's token back; raises `Refused` where there is none of this name."""
        entries = self._entries()
        gone = next((each for each in entries if each.name == name), None)
        if gone is None:
            raise Refused("unknown_id", f"no program {name} is registered; see watchgate token ls")
        await self._write(tuple(each for each in entries if each is not gone))
        return _token_row(gone)

    def _entries(self) -> tuple[_TokenEntry, ...]:
        if self.file.content is None:
            return ()
        try:
            return decoding.decode(self.file.content, _TokensFile).tokens
        except JSON_FAULTS as fault:
            raise Refused("locked", f"{self.file.path} cannot be read: {fault}") from None

    async def _write(self, entries: tuple[_TokenEntry, ...]) -> None:
        content = msgspec.json.encode(_TokensFile(tokens=entries)) if entries else None
        await anyio.to_thread.run_sync(self.file.replace, content)


def _token_row(entry: _TokenEntry) -> TokenRow:
    return TokenRow(name=entry.name, risk=entry.risk, added_at=entry.added_at)


def _token_hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
