"""One core's watch over the files and rules that it rests on: a change by others is recorded."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import anyio
import anyio.to_thread
import msgspec

from watchgate.agents.base import Adapter
from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Clock
from watchgate.core.model.records import CoreData, Draft, TamperedData
from watchgate.link.paths import Paths
from watchgate.service.hub.hub import Hub
from watchgate.service.policies.policy_store import Policies
from watchgate.service.setup import manifest
from watchgate.service.setup.manifest import InstalledFile, IntegritySnapshot, ManifestError
from watchgate.service.system.error_boundary import contain_errors
from watchgate.service.watch.integrity.examiner import Alarms, Examiner, WatchedKey
from watchgate.service.watch.integrity.file_judges import list_gone

POLICY_LOOK_S = 2.0
_RELOAD = "the policy in force is the old one until `watchgate policy reload`"


async def watch_policy(hub: Hub, policies: Policies) -> None:
    """Records faults and changes for as long as the core runs."""
    if policies.fault:
        data = CoreData(what="the policy cannot be used", detail=policies.fault)
        hub.recorder.about_core("policy.broken", data)
    while True:
        await anyio.sleep(POLICY_LOOK_S)
        record_policy_faults(hub, policies)
        await record_policy_changes(hub, policies)


def record_policy_faults(hub: Hub, policies: Policies) -> None:
    """Records the faults of projects' files that were read meanwhile."""
    faults, policies.pending_faults = policies.pending_faults, []
    for fault in faults:
        data = CoreData(what="a project's policy cannot be used", detail=fault, tier="project")
        hub.recorder.about_core("policy.fault", data)


async def record_policy_changes(hub: Hub, policies: Policies) -> None:
    """Records the files that are no longer what is in force."""
    changed = await anyio.to_thread.run_sync(policies.changed)
    if changed:
        names = ", ".join(map(str, changed))
        data = CoreData(what="the policy's files changed", detail=f"{names} changed: {_RELOAD}")
        hub.recorder.about_core("policy.changed", data)


FILES_LOOK_S = 2.0
MAX_FOLDERS = 1_000
MEANWHILE = "this came about while no core ran"


class IntegrityWatch:
    """Looks every two seconds, off the loop; a look at unchanged files reads nothing."""

    def __init__(
        self,
        hub: Hub,
        clock: Clock,
        paths: Paths,
        adapters: Mapping[str, Adapter],
        policies: Policies,
        env: Mapping[str, str],
    ) -> None:
        """Loads what the core before knew.

        Args:
            hub: The core's hub.
            clock: Source of UTC time.
            paths: Watchgate's own paths.
            adapters: The agents by name.
            policies: The policies in force.
            env: The environment in which agents' settings are looked up.
        """
        self._hub = hub
        self._clock = clock
        self._paths = paths
        self._policies = policies
        self._examiner = Examiner(adapters, env)
        self._home = env.get("HOME", "")
        self._entries: tuple[InstalledFile, ...] = ()
        self._watched: tuple[InstalledFile, ...] | None = None
        self._first: Mapping[WatchedKey, TamperedData] | None = None
        self._is_first_core = not paths.integrity.exists()
        self._before, self._unread = manifest.load_snapshot(paths.integrity)
        self._known = self._before
        self._alarms = Alarms(self._before.reported)
        self._written: IntegritySnapshot | None = None
        self._fault = ""
        self._folders: Recent[tuple[str, str], None] = Recent(MAX_FOLDERS)
        self._entered: deque[tuple[str, str]] = deque(maxlen=MAX_FOLDERS)
        self._woken = anyio.Event()

    async def run(self) -> None:
        """Looks until cancelled, and at once at the folder of a session that begins."""
        self.tell_of_rules()
        due = 0.0
        while True:
            with contain_errors(self._report_fault):
                if anyio.current_time() >= due:
                    await self.look()
                    due = anyio.current_time() + FILES_LOOK_S
                await self.look_at_folders()
            self._woken = anyio.Event()
            with anyio.move_on_after(max(due - anyio.current_time(), 0.0)):
                if not self._entered:
                    await self._woken.wait()

    def entered(self, agent: str, folder: str) -> None:
        """Notes that an agent works in this folder, whose files may stop its hooks."""
        if folder and (agent, folder) not in self._folders:
            self._folders[agent, folder] = None
            self._entered.append((agent, folder))
            self._woken.set()

    async def look_at_folders(self) -> None:
        """Looks at the folders that agents have entered; reports faults there at once."""
        while self._entered:
            agent, folder = self._entered.popleft()
            faults = await anyio.to_thread.run_sync(self._enter, agent, folder)
            self._hub.catch_up()
            for alarm in self._alarms.at_once(faults):
                self._record("policy.tampered", alarm)

    async def look(self) -> None:
        """Looks at every file, and records what is new."""
        faults = await anyio.to_thread.run_sync(self._examine)
        self._hub.catch_up()
        self._tell_of_installations()
        if self._first is None:
            self._first = faults
        for kind, alarm in self._alarms.look(faults):
            self._record(kind, self._dated(alarm) if kind == "policy.tampered" else alarm)
        await self._keep()

    def _enter(self, agent: str, folder: str) -> Mapping[WatchedKey, TamperedData]:
        """Returns the faults in a folder, for an agent that may be installed only just now."""
        try:
            listed = manifest.load_manifest(self._paths.installed)
        except (ManifestError, OSError):
            listed = None  # the next look says so
        if listed is not None and listed != self._watched:
            self._examiner.watch(listed)
            self._watched = self._entries = listed
        return self._examiner.enter(agent, folder)

    def tell_of_rules(self) -> None:
        """Records rules in force that are not those of the core before, with both digests."""
        if self._unread:
            self._fault_once("what the last core saw is not known", self._unread)
            return
        if self._policies.fault:
            return  # that they are not in force is told by itself
        before, now = self._before.policy, self._policies.digests
        for path in () if self._is_first_core else before | now:
            was, digest = before.get(path, ""), now.get(path, "")
            if was != digest:
                what = f"{path} is not what the last core had in force; what it says now is"
                data = TamperedData(part="policy", path=path, what=what, digest=digest, was=was)
                self._record("policy.changed", data)

    def _examine(self) -> dict[WatchedKey, TamperedData]:
        """Returns everything that is wrong now; runs in a thread."""
        gone: dict[WatchedKey, TamperedData] = {}
        path, fault = str(self._paths.installed), ""
        listed: tuple[InstalledFile, ...] | None
        try:
            listed = manifest.load_manifest(self._paths.installed)
        except ManifestError as unread:
            listed, fault = None, str(unread)
        except OSError:
            listed = self._known.entries
        if listed is None:
            listed = self._known.entries
            if listed:
                gone[path, ""] = list_gone(path, fault, listed, self._home)
        if listed != self._watched:
            self._examiner.watch(listed)
            self._watched = self._entries = listed
        return {**self._examiner.look(), **gone}

    def _tell_of_installations(self) -> None:
        """Notes what our own commands installed and took out since a core last looked."""
        before = {entry.key: entry for entry in self._known.entries}
        now = {entry.key: entry for entry in self._entries}
        notices = [
            f"{_named(before[key])}: no longer in the list of what is installed"
            for key in before.keys() - now
        ]
        notices += [f"{_named(now[key])}: installed" for key in now.keys() - before]
        notices += [
            f"{_named(now[key])}: installed again, with a change"
            for key in now.keys() & before
            if now[key] != before[key]
        ]
        for words in sorted(notices):
            self._hub.recorder.notice("integrity", words)

    def _dated(self, alarm: TamperedData) -> TamperedData:
        """Adds that no core ran when the alarm came about, where that is known."""
        at_first = alarm in (self._first or {}).values()
        known = any(entry.path == alarm.path for entry in self._before.entries)
        if not (at_first and known) or alarm in self._before.reported:
            return alarm
        return msgspec.structs.replace(alarm, what=f"{alarm.what} ({MEANWHILE})")

    async def _keep(self) -> None:
        """Writes for the next core what this one knows."""
        self._known = IntegritySnapshot(
            entries=self._entries,
            reported=tuple(self._alarms.reported.values()),
            policy=self._known.policy if self._policies.fault else self._policies.digests,
        )
        if self._known == self._written:
            return
        try:
            await anyio.to_thread.run_sync(
                manifest.save_snapshot, self._paths.integrity, self._known
            )
        except OSError as fault:
            why = f"{self._paths.integrity}: {fault.strerror or fault}"
            self._fault_once("a change that is made while no core runs would not show", why)
            return
        self._written, self._fault = self._known, ""

    def _record(self, kind: str, data: TamperedData) -> None:
        self._hub.recorder.record(Draft(kind=kind, at=self._clock.now().wall_us, data=data))

    def _fault_once(self, what: str, detail: str) -> None:
        if detail != self._fault:
            self._hub.recorder.about_core("policy.fault", CoreData(what=what, detail=detail))
        self._fault = detail

    def _report_fault(self, fault: str) -> None:
        if fault != self._fault:
            self._hub.recorder.internal_error(fault, "a look at the files that the gate rests on")
        self._fault = fault


def _named(entry: InstalledFile) -> str:
    part = f"the hooks of {entry.agent}" if entry.part == "hooks" else "the hook client"
    return f"{part} in {entry.path}"
