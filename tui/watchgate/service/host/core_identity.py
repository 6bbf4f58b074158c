"""Identity that outlives a core: PIN, key and tokens, checked against the journal, and agents.

- Finds the numbers in a call that are processes of ours: the core, its clients, their groups.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
import anyio.to_thread

from watchgate.core.base.clock import Clock
from watchgate.core.model.events import Tool
from watchgate.core.model.records import CoreData, TamperedData
from watchgate.core.policy.inputs.text_guards import numbers_in
from watchgate.core.tools import tool_input
from watchgate.link.paths import Paths
from watchgate.service.hub.hub import Hub
from watchgate.service.identity.agent_processes import AgentsFileError, AgentsOnDisk
from watchgate.service.identity.presence import CoreProcesses, Presences, Sealed, UnlockedTerminals
from watchgate.service.identity.sealed_files import ProofFile, SealedFile, TokenRegistry
from watchgate.service.identity.unlock_proofs import Guesses, Pin, PinTries, TouchKey
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import JournalError
from watchgate.service.search.index_query import records_of_kinds


class OwnProcesses:
    """Finds our pids in a call; `clients` yield the pids of all that are connected.

    A number is ours as a process and as its group: `kill -- -PGID` names the latter.
    """

    def __init__(self, core_pid: int) -> None:
        self.clients: list[Callable[[], Iterable[int]]] = []
        self._core_pid = core_pid

    def __call__(self, tool: Tool) -> frozenset[int]:
        """Returns the numbers in the call's command that are ours."""
        text = tool_input.command(tool)
        named = numbers_in(text) if text else frozenset[int]()
        return named and named & self._ours()

    def _ours(self) -> frozenset[int]:
        pids = {self._core_pid, *(pid for each in self.clients for pid in each())} - {0}
        return frozenset(pids.union(map(_group, pids)) - {0})


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return pid


LOOK_S = 2.0

RECORDED_EVERY_S = 86_400.0
"""Seconds until fingerprints are recorded anew, so that retention never drops the newest."""

LOOKED_AT = 200_000
PIN, TOKENS = "policy.pin", "policy.token"
_MEND = (
    "what counts is in the core's memory. If nobody of you did it, an agent may have: set it anew "
    "in a terminal window that was open before the agent"
)


class CoreIdentity:
    """The proofs of one core, from its start to its end."""

    def __init__(self, paths: Paths, clock: Clock, hub: Hub, own: CoreProcesses) -> None:
        """Reads an earlier core's files; `tell_of_start` records their faults."""
        self._paths = paths
        self._clock = clock
        self._hub = hub
        self._unread = self._unwritten = ""
        proofs, guesses = ProofFile(paths.pin), Guesses(PinTries(paths.pin_tries, clock))
        files: dict[str, SealedFile] = {PIN: proofs, TOKENS: SealedFile(paths.tokens)}
        for kind, file in files.items():
            file.load(recorded_fingerprint(paths.journal, kind))
        self._files = files
        self._agents = AgentsOnDisk(paths.agents, hub.askers, self._on_write_failure)
        hub.once_saved = self._agents.once_saved
        try:
            self._agents.load()
        except AgentsFileError as fault:
            self._unread = str(fault)
        state = hub.recorder.state
        sealed = Sealed(
            pin=Pin(proofs, guesses),
            key=TouchKey(proofs, guesses),
            tokens=TokenRegistry(files[TOKENS]),
        )
        self.presences = Presences(
            hub.askers,
            sealed=sealed,
            unlocking=UnlockedTerminals(clock),
            sessions=state.sessions.values,
            now_us=lambda: clock.now().wall_us,
            own=own,
            agents_unread=bool(self._unread),
        )

    def tell_of_start(self) -> None:
        """Records the files that cannot be trusted, and once more those that can."""
        for kind, file in self._files.items():
            if file.distrusted:
                self._alarm(kind, f"{file.distrusted}: nothing is unlocked or let through by it")
        self._record_again()
        if self._unread:
            what = (
                "which processes the agents are is not known, so no terminal is clear: end them, "
                f"remove {self._paths.agents} and start the core again"
            )
            data = CoreData(what=what, detail=self._unread)
            self._hub.recorder.about_core("policy.fault", data)

    async def run(self) -> None:
        """Keeps the agents on disk and checks the files, until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._agents.run)
            await self._look_on()

    async def _look_on(self) -> None:
        reported: set[str] = set()
        recorded_s = self._clock.now().mono_s
        while True:
            await self._look(reported)
            if self._clock.now().mono_s - recorded_s >= RECORDED_EVERY_S:
                recorded_s = self._clock.now().mono_s
                self._record_again()
            await anyio.sleep(LOOK_S)

    def _on_write_failure(self, why: str) -> None:
        if why != self._unwritten:
            self._unwritten = why
            what = f"{self._paths.agents} cannot be written: a core that starts knows no agent"
            self._hub.recorder.about_core("policy.fault", CoreData(what=what, detail=why))

    async def _look(self, reported: set[str]) -> None:
        for kind, file in self._files.items():
            differs = await anyio.to_thread.run_sync(file.differs)
            if differs and kind not in reported:
                reported.add(kind)
                self._alarm(kind, f"{file.path} was changed, and not by the core")
            elif not differs and kind in reported:
                reported.discard(kind)
                data = self._tampered(kind, f"{file.path} is again what the core wrote", "")
                self._hub.recorder.about("policy.intact", data)

    def _record_again(self) -> None:
        for kind, file in self._files.items():
            if file.content is not None:
                data = CoreData(what="it is as it was set", detail=file.fingerprint)
                self._hub.recorder.about_core(kind, data)

    def _alarm(self, kind: str, what: str) -> None:
        self._hub.recorder.about("policy.tampered", self._tampered(kind, what, _MEND))

    def _tampered(self, kind: str, what: str, mend: str) -> TamperedData:
        part = "PIN" if kind == PIN else "tokens"
        return TamperedData(part=part, path=str(self._files[kind].path), what=what, mend=mend)


def recorded_fingerprint(journal: Path, kind: str) -> str | None:
    """Returns the fingerprint in the newest record of this kind; None where there is none."""
    try:
        first, last = journal_reader.ends(journal)
        fingerprint = None
        for record in records_of_kinds(journal, (kind,), first, last, limit=LOOKED_AT):
            fingerprint = str(record.data.get("detail", ""))
    except JournalError:
        return None
    return fingerprint
