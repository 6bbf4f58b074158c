"""The sessions that were seen, each with a label of its own; the longest unheard of go first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.records import Record
from watchgate.core.sessions import SessionState, after
from watchgate.core.views import SessionView

KEPT = 2_000
LABEL_CHARS = 64

Key = tuple[str, str]


def session_key(record: Record) -> Key:
    """Which session a record is about."""
    return record.agent or "", record.session or ""


class SessionViews:
    """Every session by agent and id; over `kept` of them, those that ask nothing are let go."""

    def __init__(self, views: Iterable[SessionView] = (), *, kept: int = KEPT) -> None:
        self.views = {(view.agent, view.session): view for view in views}
        self._kept = kept
        self._labels = {view.label for view in self.views.values()}
        self._same: dict[str, int] = {}

    def touch(self, record: Record) -> None:
        """What every record of a session tells, whatever else it is about."""
        key, data = session_key(record), record.data
        seen = self.views.get(key)
        cwd, mode, model = data.get("cwd"), data.get("mode"), data.get("model")
        if seen is None:
            seen = self._new(key, cwd if isinstance(cwd, str) else "", record.at)
        changes: dict[str, Any] = {"seen_at": record.at}
        state = after(seen.state, record.kind)
        if state is not seen.state:
            changes["state"], changes["since"] = state, record.at
        # A journal that was changed from outside may hold anything.
        if cwd and not seen.cwd and isinstance(cwd, str):
            self._free(seen.label)
            changes["cwd"], changes["label"] = cwd, self._label(key, cwd)
        if isinstance(mode, str):
            changes["mode"], changes["autonomous"] = mode, data.get("autonomous") is True
        if isinstance(model, str):
            changes["model"] = model
        self.views[key] = msgspec.structs.replace(seen, **changes)

    def edit(self, key: Key, **changes: Any) -> None:
        """Change a session that was seen; nothing when it was let go."""
        seen = self.views.get(key)
        if seen is not None:
            self.views[key] = msgspec.structs.replace(seen, **changes)

    def ask(self, key: Key, change: int) -> None:
        """One request of the session more, or one less."""
        seen = self.views.get(key)
        if seen is not None:
            self.edit(key, pending=max(0, seen.pending + change))

    def start_over(self) -> None:
        """A core that starts knows nothing of what its sessions do, and none of them asks it."""
        for key, seen in self.views.items():
            state = seen.state if seen.state is SessionState.GONE else SessionState.UNKNOWN
            self.views[key] = msgspec.structs.replace(seen, state=state, pending=0, hidden_by="")

    def _new(self, key: Key, cwd: str, at: int) -> SessionView:
        if len(self.views) >= self._kept:
            self._let_go()
        label = self._label(key, cwd)
        return SessionView(agent=key[0], session=key[1], label=label, since=at, cwd=cwd)

    def _label(self, key: Key, cwd: str) -> str:
        base = (cwd.rstrip("/").rpartition("/")[2] or key[1][:8])[:LABEL_CHARS]
        count = self._same.get(base, 0) + 1
        label = base if count == 1 else f"{base}~{count}"
        while label in self._labels:
            count += 1
            label = f"{base}~{count}"
        self._same[base] = count
        self._labels.add(label)
        return label

    def _free(self, label: str) -> None:
        """Give a label back; the next such session takes the lowest number again, wherever."""
        self._labels.discard(label)
        for base in (label, label.rpartition("~")[0]):
            self._same.pop(base, None)

    def _let_go(self) -> None:
        """Forget a quarter of the quiet sessions at once: looking for them takes a while."""
        quiet = sorted((v for v in self.views.values() if not v.pending), key=_staleness)
        for view in quiet[: max(1, self._kept // 4)]:
            del self.views[view.agent, view.session]
            self._free(view.label)


def _staleness(view: SessionView) -> tuple[bool, int]:
    return view.state is not SessionState.GONE, view.seen_at
