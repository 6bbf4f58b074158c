"""Routing of requests where several cores are watched: a decision goes to its own core alone.

The host's name stands before the id; the host is asked under the id without it. A filter of the
common picture is translated for each core, which knows of no hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn, Unpack

import anyio
import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.clock import Clock
from watchgate.core.filters.filter_parser import Filter, FilterError, parse
from watchgate.core.state.hosts import host_and_id
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer, CoreLost
from watchgate.link.protocol import Presence, Refusal, Result, Verb
from watchgate.ui.fleet.fleet_host import Host
from watchgate.ui.fleet.foreign_records import cut_reason, within


def for_host(text: str, host: str, now_us: int) -> str | None:
    """The filter for the core of a host, which knows of no hosts; None: it keeps nothing there.

    One that cannot be read stays as it is: the core says what is wrong with it.
    """
    try:
        wanted = parse(text, now_us=now_us)
    except FilterError:
        return text
    if not all(term.test()(host) for term in wanted.terms if term.key == "host"):
        return None
    terms = []
    for term in wanted.terms:
        if term.key == "host":
            continue
        value = term.value
        if term.key == "session":
            own = (f"{host}/", f"{host}:")
            if not value.startswith(own) and "/" in value and not term.negated:
                return None
            value = value.removeprefix(own[0]).removeprefix(own[1])
        elif term.key == "request":
            value = value.removeprefix(f"{host}/")
        terms.append(msgspec.structs.replace(term, value=value))
    return str(Filter(tuple(terms)).pinned())


ANSWERED_WITHIN_S = 10.0
"""Seconds that one core is waited for: one that hangs must not hold back the others."""

_OF_A_REQUEST = ("decide", "preview", "propose", "extend", "show")
_OF_ONE = ("off", "on", "profile", "config", "stop", "policy")
_OF_A_TERMINAL = ("presence", "unlock")
_LISTS: Mapping[str, tuple[str, ...]] = {
    "list": ("requests", "sessions", "agents"),
    "grants": ("grants",),
    "search": ("records", "calls"),
    "history": ("records",),
}


class Calls:
    """Asks the right one of several cores, or all of them."""

    def __init__(self, hosts: Sequence[Host], clock: Clock) -> None:
        self._hosts = hosts
        self._clock = clock

    async def __call__(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """The answer; raises `CoreLost` when the one that was asked is lost meanwhile."""
        if verb in _OF_A_REQUEST:
            return await self._of("request", fields.get("request"), verb, fields)
        if verb == "revoke":
            return await self._of("grant", fields.get("grant"), verb, fields)
        if verb in _OF_A_TERMINAL:
            return await self._standing(verb, fields)
        if verb in _OF_ONE:
            own = next((host for host in self._hosts if host.view.local), None)
            if own is None:
                why = "the core of this machine is not among those that are watched"
                return _refused("failed", f"{why}: do it on the machine that is meant")
            return await self._ask(own, verb, fields)
        if verb == "search":
            return await self._search(fields)
        return await self._all(self._here(), verb, fields)

    async def _standing(self, verb: Verb, fields: RequestFields) -> ControlAnswer:
        """Asks the core of a request; without one the first on which anything is locked.

        How one terminal stands is for each core to say, and it is unlocked there alone.
        """
        at, _ = host_and_id(fields.get("request") or "")
        meant = [host for host in self._hosts if host.name == at and host.view.here]
        own: RequestFields = {**fields, "request": None}
        if fields.get("code") is not None:
            # How this terminal stands says nothing of the one that shows the code.
            meant = meant or list(self._here())
            return await self._ask(meant[0], verb, own) if meant else _nobody()
        answer: ControlAnswer | None = None
        for host in meant or self._here():
            presence = await self._ask(host, "presence", own)
            locked = isinstance(presence, Result) and not _may_allow(host, presence)
            if answer is None or locked:
                answer, meant = presence, [host]
            if locked:
                break
        if answer is None:
            return _nobody()
        return answer if verb == "presence" else await self._ask(meant[0], verb, own)

    def _here(self) -> dict[Host, RequestFields]:
        return {host: {} for host in self._hosts if host.view.here}

    async def _search(self, fields: RequestFields) -> ControlAnswer:
        """Asks the cores that the filter may match anything of, each in its own names.

        The history of calls is that of one: its pages are by the numbers of its own records.
        """
        text = fields.get("filter") or ""
        now_us = self._clock.now().wall_us
        asked: dict[Host, RequestFields] = {}
        for host in self._hosts:
            own = for_host(text, host.name, now_us)
            if own is not None and host.view.here:
                asked[host] = {"filter": own}
        if not asked:
            return _refused("bad_request", "no machine that answers has anything that this keeps")
        if fields.get("what") == "calls":
            asked = dict([next(iter(asked.items()))])
        return await self._all(asked, "search", fields)

    async def _of(
        self, what: Literal["request", "grant"], name: str | None, verb: Verb, fields: RequestFields
    ) -> ControlAnswer:
        """Asks the host of a session, call or request, in the names that it knows."""
        at, id = host_and_id(name or "")
        host = next((host for host in self._hosts if host.name == at), None)
        if host is None or not id:
            return _refused("unknown_id", f"no {what} {name or ''} on any of these machines")
        own: RequestFields = {"request": id} if what == "request" else {"grant": id}
        return await self._ask(host, verb, {**fields, **own})

    async def _ask(self, host: Host, verb: Verb, fields: RequestFields) -> ControlAnswer:
        if not host.view.here:
            return _refused("failed", f"{host.name} is not reachable: nothing was done there")
        try:
            with anyio.fail_after(ANSWERED_WITHIN_S):
                answer = await host.call(verb, **fields)
        except TimeoutError:
            late = f"{host.name} has not answered within {ANSWERED_WITHIN_S:g} s"
            raise CoreLost(late) from None
        if isinstance(answer, Refusal):
            return msgspec.structs.replace(answer, message=cut_reason(answer.message))
        try:
            return Result(id=answer.id, ok=_named_answer(host, verb, answer.ok))
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise CoreLost(f"{host.name} gave an answer that cannot be read") from None

    async def _all(
        self, asked: Mapping[Host, RequestFields], verb: Verb, fields: RequestFields
    ) -> ControlAnswer:
        """Asks these hosts, each with its changes of the fields; merges lists, newest first."""
        answers: dict[str, ControlAnswer] = {}

        async def ask(host: Host) -> None:
            try:
                answers[host.name] = await self._ask(host, verb, {**fields, **asked[host]})
            except CoreLost:
                return  # how it stands is told elsewhere

        async with anyio.create_task_group() as tasks:
            for host in asked:
                tasks.start_soon(ask, host)
        in_order = [answers[host.name] for host in asked if host.name in answers]
        results = [answer for answer in in_order if isinstance(answer, Result)]
        if not results:
            return in_order[0] if in_order else _nobody()
        if len(asked) == 1:
            return results[0]
        merged: dict[str, Any] = {**results[0].ok, "host": ""}
        for name in _LISTS.get(verb, ()):
            parts = [each for result in results for each in result.ok.get(name, ())]
            if parts:
                merged[name] = sorted(parts, key=_time, reverse=True)
        return Result(id=results[0].id, ok=merged)


def _named_answer(host: Host, verb: Verb, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a host's answer under its name, to be listed next to the others."""
    within(answer)
    named: dict[str, Any] = {}
    for name, value in answer.items():
        if name == "agents":
            at = "" if host.view.local else host.name
            named[name] = [{**each, "host": at} for each in value]
        elif name in _LISTS.get(verb, ()):
            named[name] = [host.names.named_fields(each) for each in value]
        elif name == "request" and isinstance(value, dict):
            named[name] = host.names.named_fields(value)
        else:
            named[name] = value
    if "deadline_at" in named:
        named["deadline_at"] = host.names.moment(int(named["deadline_at"]))
    return {**named, "host": host.name}


def _nobody() -> NoReturn:
    raise CoreLost("none of the machines answered")


def _may_allow(host: Host, result: Result) -> bool:
    try:
        return decoding.convert(result.ok, Presence).proven
    except msgspec.ValidationError:
        raise CoreLost(f"{host.name} gave an answer that cannot be read") from None


def _refused(code: Any, message: str) -> Refusal:
    return Refusal(id=0, refused=code, message=message)


def _time(each: Mapping[str, Any]) -> int:
    at = each.get("at") or each.get("received_at") or each.get("given_at")
    return at if isinstance(at, int) else 0
