"""Verbs by which a person proves to be there: standing, PIN, key, code, tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from watchgate.core.base.clock import Clock
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.records import CoreData
from watchgate.core.presence.proof import Proof
from watchgate.link.protocol import Challenge, Code, Presence, Request, Unlocked
from watchgate.service.control.caller import Caller, Do, operator_only
from watchgate.service.hub.hub import Hub
from watchgate.service.identity.ancestry import terminal_name
from watchgate.service.identity.presence import CHALLENGE_S, CODE_S, Presences, UnlockMethod
from watchgate.service.system.process_table import Proc


class ProofVerbs:
    """PIN, key, codes and tokens; `changed` is called when a terminal's standing changes."""

    def __init__(
        self, hub: Hub, clock: Clock, presences: Presences, *, changed: Callable[[], None]
    ) -> None:
        self._hub = hub
        self._clock = clock
        self._presences = presences
        self._changed = changed

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {
            "presence": self._presence,
            "unlock": self._unlock,
            "pin": self._pin,
            "token": self._token,
        }

    async def _presence(self, request: Request, caller: Caller) -> dict[str, Any]:
        wanted = self._hub.engine.broker.find(request.request).id if request.request else None
        return _stands(caller, caller.proof(wanted))

    async def _unlock(self, request: Request, caller: Caller) -> dict[str, Any]:
        if request.action == "off":
            self._presences.unlocking.lock(caller.chain)
            self._changed()
            return _stands(caller, caller.proof())
        if request.code is not None:
            return self._confirm(request, caller)
        proof = caller.proof()
        if proof.standing == "below":
            raise Refused("self_approval", f"no PIN unlocks this: {proof.why}")
        if request.pin is not None:
            await self._presences.pin.verify(request.pin)
            return await self._unlocked(caller, "pin", "the PIN")
        if request.signature is not None:
            # Used up before it is checked: no two signatures are held against one challenge.
            challenge = self._presences.unlocking.take_challenge(caller.chain)
            await self._presences.key.verify(challenge, request.signature)
            return await self._unlocked(caller, "key", "the security key")
        if request.challenge:
            path = self._presences.key.path
            text = self._presences.unlocking.challenge_for(caller.chain)
            return _plain(Challenge(challenge=text, seconds=CHALLENGE_S, key_file=path))
        if proof.is_proven:
            return _stands(caller, proof)
        return _plain(Code(code=self._presences.unlocking.code_for(caller.chain), seconds=CODE_S))

    async def _unlocked(self, caller: Caller, method: UnlockMethod, named: str) -> dict[str, Any]:
        leader = self._presences.unlocking.unlock(caller.chain, method)
        await self._record_durably("policy.unlocked", f"{_terminal(leader)} by {named}", caller)
        self._changed()
        return _stands(caller, caller.proof())

    def _confirm(self, request: Request, caller: Caller) -> dict[str, Any]:
        operator_only(caller)
        leader = self._presences.unlocking.confirm(request.code or "")
        where = _terminal(leader)
        self._record("policy.unlocked", f"{where} by a code, confirmed here", caller)
        self._changed()
        tty = terminal_name(leader.tty) or "no terminal"
        return _plain(Unlocked(unlocked=tty, leader=f"{leader.comm} (pid {leader.pid})"))

    async def _pin(self, request: Request, caller: Caller) -> dict[str, Any]:
        if request.action not in ("set", "remove"):
            raise Refused("bad_request", "pin needs an action: set or remove")
        await self._check_may_set(caller, request.current)
        if request.key is not None:
            return await self._key(request.key, request, caller)
        pin = self._presences.pin
        if request.action == "set":
            await pin.set(request.pin or "")
        else:
            await pin.remove()
        # What the old one unlocked is not unlocked by the new one.
        self._presences.unlocking.lock_all()
        if request.action == "set" and caller.proof().standing in ("locked", "adrift"):
            self._presences.unlocking.unlock(caller.chain, "pin")
        self._changed()
        done = "set" if request.action == "set" else "removed"
        await self._record_durably(
            "policy.pin", f"the PIN was {done}", caller, pin.file.fingerprint
        )
        return _stands(caller, caller.proof())

    async def _key(self, line: str, request: Request, caller: Caller) -> dict[str, Any]:
        if request.action == "set":
            fingerprint = await self._presences.key.set(line, request.key_file or "")
            what = f"the security key {fingerprint} was set"
        else:
            await self._presences.key.remove()
            what = "the security key was removed"
        self._presences.unlocking.lock_all("key")
        self._changed()
        await self._record_durably("policy.pin", what, caller, self._presences.pin.file.fingerprint)
        return _stands(caller, caller.proof())

    async def _check_may_set(self, caller: Caller, current: str | None = None) -> None:
        """Raises `Refused` for a caller that an agent may have sent to choose a person's proof."""
        proof = caller.proof()
        if proof.is_proven or (caller.may_be_a_persons and self._presences.nobody_asks):
            return
        if proof.standing != "below" and current is not None:
            await self._presences.pin.verify(current)
            return
        if bar := proof.bar_to_operate():
            raise Refused(*bar)

    async def _token(self, request: Request, caller: Caller) -> dict[str, Any]:
        tokens = self._presences.tokens
        if request.action == "ls":
            return {"tokens": msgspec.to_builtins(tokens.rows())}
        name = request.name or ""
        if request.action not in ("add", "revoke"):
            raise Refused("bad_request", "token needs an action: add, ls or revoke")
        await self._check_may_set(caller)
        if request.action == "add":
            row, token = await tokens.add(name, request.risk, self._clock.now().wall_us)
            what = f"the program {name} was registered: it may allow up to {row.risk}"
            await self._record_durably("policy.token", what, caller, tokens.file.fingerprint)
            return {**_plain(row), "token": token}
        row = await tokens.revoke(name)
        what = f"the program {name} is registered no more"
        await self._record_durably("policy.token", what, caller, tokens.file.fingerprint)
        return _plain(row)

    async def _record_durably(self, kind: str, what: str, caller: Caller, detail: str = "") -> None:
        """Records it, and returns when it is on disk.

        The next core compares the file with this record.
        """
        self._record(kind, what, caller, detail)
        await self._hub.written()

    def _record(self, kind: str, what: str, caller: Caller, detail: str = "") -> None:
        proof = caller.proof()
        data = CoreData(
            what=what, detail=detail, name=caller.name(None, proof), actor=caller.actor(proof)
        )
        self._hub.recorder.about_core(kind, data)


def _stands(caller: Caller, proof: Proof) -> dict[str, Any]:
    tty = terminal_name(caller.chain[0].tty) if caller.chain else ""
    standing, why = proof.standing, proof.why
    return _plain(Presence(standing=standing, why=why, pin=proof.pin, key=proof.key, tty=tty))


def _terminal(leader: Proc) -> str:
    tty = terminal_name(leader.tty)
    led = f"{leader.comm} (pid {leader.pid})"
    return f"the terminal {tty} of {led} was unlocked" if tty else f"what {led} leads was unlocked"


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(value)
    return fields
