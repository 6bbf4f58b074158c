"""Verbs that decide about requests, or give them more time.

- The calls of the past that grants of each width would have answered.
- Verbs about standing grants: a proposal, the grants in force, and taking one back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.clock import Clock
from watchgate.core.config.config import AGENT_MAX_S
from watchgate.core.gate.grant_book import grant_answers
from watchgate.core.gate.grant_rules import exact_grant, grant_candidate, proposed, why_no_grant
from watchgate.core.gate.operator_decisions import OperatorDecision, Refused, already_settled
from watchgate.core.gate.request_builder import edit_preview
from watchgate.core.model.records import CoreData, Record, RequestData
from watchgate.core.model.requests import ApprovalRequest, Status
from watchgate.core.model.standing_grant import WIDTHS, GrantRule, GrantView, Width
from watchgate.core.presence.proof import Proof
from watchgate.link.protocol import Request
from watchgate.service.control.caller import Caller, Do, named_request, operator_only
from watchgate.service.hub.grant_sync import GrantStore
from watchgate.service.hub.hub import Hub
from watchgate.service.identity.sealed_files import TokenRegistry
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import JournalError

SHOWN = 50
_AMONG = 200_000
_LOOKED_AT = 5_000


class PastCall(msgspec.Struct, frozen=True):
    """A call on record that would have been let through; `at` in UTC µs."""

    at: int
    summary: str
    agent: str | None
    session: str | None
    request: str | None


class PastCalls(msgspec.Struct, frozen=True):
    """The newest of those calls, and how many there were."""

    past: tuple[PastCall, ...] = ()
    past_count: int = 0


def past_calls(
    journal: Path, grants: Mapping[Width, GrantView], own_hash: str = ""
) -> dict[Width, PastCalls]:
    """Returns for each grant the past calls that it would have answered.

    The request that the grants are given with is not one of them. The newest 5,000 requests of the
    last 200,000 records are looked at. A grant without rules for one call is held to `own_hash`,
    the hash of that call's input. Raises `JournalError`.
    """
    shown: dict[Width, list[PastCall]] = {width: [] for width in grants}
    counts = dict.fromkeys(grants, 0)
    for record, data in _asked(journal):
        for width, grant in grants.items():
            if record.request == grant.id or not _is_answered(grant, record, data, own_hash):
                continue
            counts[width] += 1
            if len(shown[width]) < SHOWN:
                call = PastCall(
                    record.at, data.summary, record.agent, record.session, record.request
                )
                shown[width].append(call)
    return {width: PastCalls(tuple(shown[width]), counts[width]) for width in grants}


def _is_answered(grant: GrantView, record: Record, data: RequestData, own_hash: str) -> bool:
    if grant.width is not None:
        return grant_answers(grant, record.agent or "", data.cwd, data.tool, data)
    where = (record.agent, data.cwd, data.tool.native_name)
    same = data.tool.input_hash == own_hash
    return same and where == (grant.agent, grant.folder, grant.tool)


def _asked(journal: Path) -> Iterator[tuple[Record, RequestData]]:
    for record in journal_reader.of_kind(journal, "approval.requested", _AMONG, _LOOKED_AT):
        try:
            yield record, decoding.convert(record.data, RequestData)
        except msgspec.ValidationError:
            continue  # purged, or written by another version


class GrantVerbs:
    """Standing grants, over one hub."""

    def __init__(self, hub: Hub, clock: Clock, *, journal: Path, store: GrantStore) -> None:
        self._hub = hub
        self._clock = clock
        self._journal = journal
        self._store = store

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {"propose": self._propose, "grants": self._grants, "revoke": self._revoke}

    async def _propose(self, request: Request, _caller: Caller) -> dict[str, Any]:
        """Returns the rules that a wide allow would give, and the past calls of each width."""
        target = self._hub.engine.broker.find(named_request(request))
        try:
            proposed(target.data.tool, target.data)
        except ValueError as why:
            raise Refused("not_offered", f"only exactly this call can be allowed: {why}") from None
        try:
            grant = grant_candidate(target, request.rules, width=request.width or "program")
        except ValueError as fault:
            raise Refused("bad_request", str(fault)) from None
        await self._hub.written()
        grants = _of_each_width(target, request.rules)
        own_hash = target.data.tool.input_hash
        past = await anyio.to_thread.run_sync(past_calls, self._journal, grants, own_hash)
        rules = [{**msgspec.to_builtins(rule), "text": rule.text} for rule in grant.rules]
        widths = {
            width: {**_counted(past.get(width)), "why_not": why_no_grant(target.data, width)}
            for width in WIDTHS
        }
        return {
            "rules": rules,
            "folder": grant.folder,
            "answers": grant.answers,
            **_counted(past.get(request.width or "program")),
            "widths": widths,
        }

    async def _grants(self, _request: Request, _caller: Caller) -> dict[str, Any]:
        engine = self._hub.engine
        self._hub.execute(engine.grants.expire(self._clock.now()))
        return {"grants": list(self._hub.recorder.state.grants.values())}

    async def _revoke(self, request: Request, caller: Caller) -> dict[str, Any]:
        if not request.grant:
            raise Refused("bad_request", "revoke needs the id of a grant; see watchgate grants")
        proof, now = operator_only(caller), self._clock.now()
        by, actor = caller.name(request.as_, proof), caller.actor(proof)
        view, effects = self._hub.engine.grants.revoke(request.grant, by, now, actor)
        try:
            # Not on record as taken back before it is gone from the disk, too.
            await self._store.save()
        except OSError as fault:
            raise OSError(
                f"it answers nothing more in this core, but {self._store.path} cannot be written "
                f"({fault.strerror}): remove that file, or it is in force again after a restart"
            ) from fault
        finally:
            self._hub.execute(effects)
        # Who took it back must not be lost with a core that is killed now.
        await self._hub.written()
        return {"grant": view.id}


def _of_each_width(
    request: ApprovalRequest, rules: tuple[GrantRule, ...]
) -> dict[Width, GrantView]:
    grants: dict[Width, GrantView] = {"program": grant_candidate(request, rules)}
    for width in ("exact", "folder"):
        if not why_no_grant(request.data, width):
            grants[width] = grant_candidate(request, width=width)
    grants.setdefault("exact", exact_grant(request, "session"))
    return grants


def _counted(past: PastCalls | None) -> dict[str, Any]:
    return msgspec.structs.asdict(past or PastCalls())


class DecisionVerbs:
    """Decisions and more time, over one hub.

    Args:
        hub: The hub.
        clock: The clock.
        journal: The journal's database.
        store: The grants on disk.
        tokens: The registered programs.
    """

    def __init__(
        self, hub: Hub, clock: Clock, *, journal: Path, store: GrantStore, tokens: TokenRegistry
    ) -> None:
        self._hub = hub
        self._tokens = tokens
        self._clock = clock
        self._journal = journal
        self._store = store

    def table(self) -> dict[str, Do]:
        """Returns the verbs of this group."""
        return {"decide": self._decide, "extend": self._extend, "preview": self._preview}

    async def _decide(self, request: Request, caller: Caller) -> dict[str, Any]:
        if request.decision is None:
            raise Refused("bad_request", "decide needs a decision: allow, deny, handback or answer")
        engine, now = self._hub.engine, self._clock.now()
        broker = engine.broker
        target = broker.find(named_request(request))
        proof, program = self._proof(request, caller, target)
        decision = OperatorDecision(
            decision=request.decision,
            by=caller.name(request.as_, proof, program),
            digest=request.digest,
            reason=request.reason or "",
            scope=request.scope,
            stop=request.stop,
            proof=proof,
            actor=caller.actor(proof, program),
            shown_ms=request.shown_ms,
            confirmed=request.confirmed,
            answers=request.answers,
            rules=request.rules,
            width=request.width,
        )
        if request.input is None:
            decided = broker.decide(target.id, decision, now)
            self._hub.execute(engine.decided(decided))
        else:
            decided, effects = engine.edit(target, request.input, decision, now)
            self._hub.execute(effects)
        if decided.status is Status.COMMITTING:
            # Nobody may hear of an allow that the disk refused and the agent was never told.
            await self._hub.written()
            if decided.status is Status.COMMITTING:
                raise JournalError(
                    self._journal,
                    "has not taken the allow yet: the agent is told once it has, and denied at the "
                    f"deadline otherwise; see watchgate show {decided.id[:4]}",
                )
            if decided.status is not Status.ALLOWED:
                raise already_settled(decided)
        end = decided.ending
        return {
            "request": decided.id,
            "word": end.word,
            "by": end.by,
            **await self._save_grant(decided),
        }

    async def _save_grant(self, decided: ApprovalRequest) -> dict[str, Any]:
        """Saves a grant for good on disk; the allow itself stands even where that fails."""
        if decided.ending.scope != "always":
            return {}
        try:
            await self._store.save()
        except OSError as fault:
            what = f"{self._store.path} cannot be written: the grant ends with this core"
            data = CoreData(what=what, detail=fault.strerror or str(fault))
            self._hub.recorder.about_core("policy.fault", data)
            return {"warning": f"{what} ({data.detail})"}
        finally:
            # What is in force from now on must not lack its record after a kill.
            await self._hub.written()
        return {}

    def _proof(
        self, request: Request, caller: Caller, target: ApprovalRequest
    ) -> tuple[Proof, str]:
        """Returns the caller's proof, and the registered program whose token is to decide.

        Beyond what its token reaches a program is judged as everybody else is. A denial is free:
        there the token only names who denies, and a wrong one nobody.
        """
        proof, denies = caller.proof(target.id), request.decision == "deny"
        if request.token is None or (denies and proof.is_proven):
            return proof, ""
        try:
            row = self._tokens.program(request.token)
        except Refused:
            if denies:
                return proof, ""
            raise
        able = msgspec.structs.replace(proof, program=row.risk)
        if denies and proof.standing != "below":
            return able, row.name
        if request.input is None and able.token_covers(target.data.risk, request.scope):
            return able, row.name
        return proof, ""

    async def _preview(self, request: Request, _caller: Caller) -> dict[str, Any]:
        """Returns the request with another input; nothing changes."""
        if request.input is None:
            raise Refused("bad_request", "preview needs the input that the call shall have")
        engine = self._hub.engine
        return edit_preview(
            engine.edited(engine.broker.find(named_request(request)), request.input)
        )

    async def _extend(self, request: Request, caller: Caller) -> dict[str, Any]:
        if not 0 < (request.seconds or 0) <= AGENT_MAX_S:
            raise Refused("bad_request", f"extend needs seconds, from 1 to {AGENT_MAX_S}")
        broker, now = self._hub.engine.broker, self._clock.now()
        target = broker.find(named_request(request))
        proof = caller.proof(target.id)
        if bar := proof.bar_to_allow(target.data.risk):
            raise Refused(*bar)
        longer = broker.extend(target.id, request.seconds or 0, now)
        by, actor = caller.name(request.as_, proof), caller.actor(proof)
        self._hub.execute(self._hub.engine.extended(longer, by, now, actor))
        return {"request": longer.id, "deadline_at": longer.data.deadline_at}
