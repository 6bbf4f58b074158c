"""What a console may have decided, judged from the keys and the screen alone.

The rules are those of the design, told anew here: nothing of the console's own arming is asked.
"""

from __future__ import annotations

import msgspec

from tests.ui.random_answers import RandomAnswers
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Request

DRAWN_S = 0.6
REPLACED_S = 0.3
FOCUS_S = 0.5
ALONE_S = 0.25
BY_HAND_S = 0.03
CONFIRM_S = 5.5
SLACK_S = 0.001

ALLOWING = frozenset({"a", "A", "e"})
DENYING = frozenset({"d", "X", "r", "D"})


class Pressed(msgspec.Struct, frozen=True):
    """A key: when it was pressed, and which request the screen showed since when at that moment.

    `read` says that something took it as text, or as the label of a line.
    """

    name: str
    at_s: float
    shown: str | None
    since_s: float
    focus_s: float
    pasted: bool = False
    read: bool = False


class Oracle:
    """Follows what is drawn and pressed (`now_s` on the keys' clock), and judges each decision."""

    def __init__(self) -> None:
        self.keys: list[Pressed] = []
        self.shown: str | None = None
        self.since_s = 0.0
        self.focus_s = float("-inf")
        self.known: dict[str, PendingView] = {}
        self.allowed = self.denied = self.handed = 0

    def drew(self, request: str | None, now_s: float) -> None:
        """The screen names this request now."""
        if request != self.shown:
            self.shown, self.since_s = request, now_s

    def pressed(self, name: str, now_s: float, *, pasted: bool = False, read: bool = False) -> None:
        """A key is pressed, or something is pasted."""
        self.keys.append(Pressed(name, now_s, self.shown, self.since_s, self.focus_s, pasted, read))

    def judge(self, request: Request, now_s: float, told: RandomAnswers) -> None:
        """Fails when this decision was not asked for by an armed key on the request's own card.

        `told` is what the core said of rules and of edited calls: only that is allowed.
        """
        id_ = request.request or ""
        view = self.known.get(id_)
        assert view is not None, f"{request} is about nothing that was pending"
        last = self.keys[-1]
        if request.reason is not None or request.decision == "answer":
            last = [key for key in self.keys if key.name == "enter"][-1]
        assert not last.pasted, f"{request} after a paste"
        assert not last.read, f"{request} by a key that was read as text: {self._told(request)}"
        if request.verb == "extend":
            assert self._armed("t", id_, REPLACED_S), self._told(request)
            return
        looked = told.edits.get(id_, {}) if request.input is not None else {}
        assert request.digest == looked.get("digest", view.data.digest), self._told(request)
        assert request.input == looked.get("input"), "edited otherwise than the core has shown"
        rules = told.rules.get(id_) if request.scope == "always" else ()
        assert request.rules == rules, "other rules than the core has shown"
        if last.name != "enter":
            assert now_s - last.at_s >= ALONE_S - SLACK_S, f"{request} while keys were coming"
        if request.decision == "deny":
            self._judge_deny(request, id_, last.name)
        elif request.decision == "handback":
            self.handed += 1
            assert self._armed("b", id_, REPLACED_S), self._told(request)
        else:
            self._judge_allow(request, view, looked.get("risk", view.data.risk))

    def _judge_allow(self, request: Request, view: PendingView, risk: str) -> None:
        self.allowed += 1
        armed = [k for k in ALLOWING if self._armed(k, view.id, DRAWN_S, focus=True)]
        assert armed or self._armed("space", view.id, DRAWN_S, focus=True), self._told(request)
        assert (request.shown_ms or 0) >= DRAWN_S * 1000 or request.decision == "answer"
        names = [key.name for key in self.keys]
        if request.decision == "answer":
            assert "enter" in names, self._told(request)
        elif risk == "critical":
            assert names[-3:] == ["y", "e", "s"], self._told(request)
            gaps = [b.at_s - a.at_s for a, b in zip(self.keys[-3:], self.keys[-2:], strict=False)]
            assert min(gaps) >= BY_HAND_S - SLACK_S, self._told(request)
            assert self.keys[-3].at_s - self.keys[-1].focus_s >= FOCUS_S - SLACK_S
        elif risk in ("high", "unknown"):
            assert names[-2:] == ["a", "a"], self._told(request)
            assert self.keys[-1].at_s - self.keys[-2].at_s <= CONFIRM_S
            assert request.confirmed
        else:
            assert names[-1] == "a", self._told(request)

    def _judge_deny(self, request: Request, id_: str, last: str) -> None:
        self.denied += 1
        assert last in DENYING | {"enter"}, self._told(request)
        if last == "D":
            again = [key for key in self.keys[-2:] if key.name == "D"]
            assert len(again) == 2, self._told(request)
            assert again[1].at_s - again[0].at_s <= CONFIRM_S
            return
        begun = [k for k in DENYING | ALLOWING if self._armed(k, id_, REPLACED_S)]
        assert begun, self._told(request)
        if last == "enter":
            assert {"r", "a"} & set(begun), self._told(request)
            names = [key.name for key in self.keys]
            typed = names[len(names) - names[::-1].index("r") :]
            assert "escape" not in typed[: typed.index("enter")], self._told(request)

    def _armed(self, name: str, id_: str, drawn_s: float, *, focus: bool = False) -> bool:
        """Whether such a key was pressed alone, on this request, after it was drawn so long."""
        for place, key in enumerate(self.keys):
            before = self.keys[place - 1].at_s if place else float("-inf")
            after = self.keys[place + 1].at_s if place + 1 < len(self.keys) else float("inf")
            if (
                (key.name, key.shown) == (name, id_)
                and key.at_s - key.since_s >= drawn_s - SLACK_S
                and (not focus or key.at_s - key.focus_s >= FOCUS_S - SLACK_S)
                and key.at_s - before >= ALONE_S - SLACK_S
                and after - key.at_s >= ALONE_S - SLACK_S
            ):
                return True
        return False

    def _told(self, request: Request) -> str:
        keys = [(k.name, round(k.at_s, 2), (k.shown or "")[:4]) for k in self.keys[-12:]]
        return f"{request.decision} of {request.request} (drawn: {self.shown}) after {keys}"
