"""The programs that an operator registered: each shows a token, of which only a hash is stored."""

from __future__ import annotations

import hmac
import re
import secrets
from hashlib import sha256

import anyio.to_thread
import msgspec

from watchgate.core import decoding
from watchgate.core.decisions import Refused
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.presence.proof import TokenRisk
from watchgate.link.protocol import TokenRow
from watchgate.service.identity.sealed_file import SealedFile

TOKEN_BYTES = 32
MOST = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    hash: str
    name: str
    risk: TokenRisk
    added_at: int


class _File(msgspec.Struct, frozen=True, kw_only=True):
    tokens: tuple[_Kept, ...] = ()
    version: int = 1


class Tokens:
    """The registered programs of one core, stored in `file`."""

    def __init__(self, file: SealedFile) -> None:
        self.file = file

    def rows(self) -> list[TokenRow]:
        """Returns every registered program, the oldest first."""
        return [_row(each) for each in self._entries()]

    def program(self, token: str) -> TokenRow:
        """Returns the owner of this token; raises `Refused` where there is none."""
        if self.file.distrusted:
            raise Refused("locked", f"{self.file.distrusted}: register the program anew")
        shown = _hash(token)
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
        return _row(hits[0])

    async def add(self, name: str, risk: TokenRisk, now_us: int) -> tuple[TokenRow, str]:
        """Registers a program; returns its row, and the token, which is shown only now."""
        entries = self._entries()
        if _NAME.fullmatch(name) is None:
            raise Refused("bad_request", "a program's name has up to 64 letters, digits, . _ and -")
        if any(each.name == name for each in entries):
            raise Refused("bad_request", f"{name} is registered already: revoke it first")
        if len(entries) >= MOST:
            raise Refused("bad_request", f"{MOST} programs are registered: revoke one first")
        token = secrets.token_hex(TOKEN_BYTES)
        made = _Kept(hash=_hash(token), name=name, risk=risk, added_at=now_us)
        await self._write((*entries, made))
        return _row(made), token

    async def revoke(self, name: str) -> TokenRow:
        """Takes a program's token back; raises `Refused` where there is none of this name."""
        entries = self._entries()
        gone = next((each for each in entries if each.name == name), None)
        if gone is None:
            raise Refused("unknown_id", f"no program {name} is registered; see watchgate token ls")
        await self._write(tuple(each for each in entries if each is not gone))
        return _row(gone)

    def _entries(self) -> tuple[_Kept, ...]:
        if self.file.content is None:
            return ()
        try:
            return decoding.decode(self.file.content, _File).tokens
        except JSON_FAULTS as fault:
            raise Refused("locked", f"{self.file.path} cannot be read: {fault}") from None

    async def _write(self, entries: tuple[_Kept, ...]) -> None:
        content = msgspec.json.encode(_File(tokens=entries)) if entries else None
        await anyio.to_thread.run_sync(self.file.replace, content)


def _row(entry: _Kept) -> TokenRow:
    return TokenRow(name=entry.name, risk=entry.risk, added_at=entry.added_at)


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
