"""Duplicate records: those that hold one and the same call of a model, counted once.

Agents write a call several times: once per block of the answer, again in a sub-agent's file, and
as a copy in a session that goes on from another. Two records of one id are the same call if their
request is the same, if one of them has no request and their session is the same, or if one is a
sub-agent's. A sub-agent's copy joins no two calls that are different without it.

Threads that are forked have no requests: there a copy is one of the same thread, or of its parent.
Children of one parent may count alike without having copied it from one another, so they are told
apart unless the parent has no file: then what they have in common is taken to be the parent's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from watchgate.core.ledger.call import UsageCall


class Told(msgspec.Struct, frozen=True, gc=False):
    """One record of a call and the file that holds it; `least`: it may have used more.

    `thread` is what the file was written for, where it can be forked from `parent`; `orphan`: no
    file was written for the parent.
    """

    file: str
    call: UsageCall
    is_lower_bound: bool
    thread: str = ""
    parent: str = ""
    orphan: bool = False


class Same(msgspec.Struct, frozen=True, gc=False):
    """One call out of its records: the fullest record and the one that it belongs to."""

    call: UsageCall
    owner: UsageCall
    file: str
    is_lower_bound: bool


def same_calls(records: Iterable[Told]) -> list[Same]:
    """Merges records of one id into the calls that they hold, in whatever order they come."""
    every = list(records)
    own = [record for record in every if not record.call.side]
    if not own:
        return [_merged(every)] if every else []
    return [_merged(group) for group in _grouped(own)]


def _grouped(records: list[Told]) -> Iterator[list[Told]]:
    without = {record.call.session for record in records if not record.call.request}
    threads = {record.thread for record in records}
    leads: dict[str, str] = {}
    for record in records:
        names = _names(record, without, threads)
        leads[_lead(leads, names[0])] = _lead(leads, names[-1])
    groups: dict[str, list[Told]] = {}
    for record in records:
        lead = _lead(leads, _names(record, without, threads)[0])
        groups.setdefault(lead, []).append(record)
    yield from groups.values()


def _names(record: Told, without: set[str], threads: set[str]) -> list[str]:
    """Returns the names that the record shares with others of the same call."""
    call = record.call
    if record.thread:
        names = [f"thread {record.thread}"]
        if record.orphan or record.parent in threads:
            names.append(f"thread {record.parent}")
        return names
    names = [f"request {call.request}"] if call.request else []
    if call.session in without:
        names.append(f"session {call.session}")
    return names


def _lead(leads: dict[str, str], name: str) -> str:
    """Returns the name that stands for all that are joined to this one."""
    while (further := leads.setdefault(name, name)) != name:
        leads[name] = name = leads[further]
    return name


def _merged(records: list[Told]) -> Same:
    threads = {record.thread for record in records}

    def order(record: Told) -> tuple[int, bool, str, str, str]:
        call = record.call
        forked = record.parent in threads and record.thread != ""
        # A file may be moved, and is then another one; the thread stays.
        return call.at_us, forked, record.thread, record.file, call.request

    def fullest(record: Told) -> tuple[Any, ...]:
        return -record.call.output, not record.call.model, *order(record)

    fullest_record = min(records, key=fullest)
    owner = min(records, key=order)
    is_lower_bound = all(record.is_lower_bound for record in records)
    return Same(fullest_record.call, owner.call, owner.file, is_lower_bound)
