"""The adapter of any agent whose protocol is a `Table`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from watchgate.agents.base import (
    Adapter,
    DecodeError,
    HookAnswer,
    HookEntry,
    Intake,
    Setup,
    awaited,
    in_mode,
)
from watchgate.agents.hooks import hooks_of_profile
from watchgate.agents.table import EventRule, Fields, Modes, Table
from watchgate.agents.table.answer_shapes import encode_output, encode_reply, possible_replies
from watchgate.agents.table.payload_values import Places, Tools, compile_places
from watchgate.agents.table.table_bodies import (
    FOLDER_LIMIT,
    NAME_LIMIT,
    Reader,
    body_reader,
    text_at,
)
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import (
    Body,
    Can,
    Event,
    Kind,
    Lane,
    OwnRules,
    Sub,
    ToolCall,
    ToolResult,
)
from watchgate.core.model.verdicts import Reply

_UNKNOWN = EventRule(kind="notice")
_FOR_A_PERSON = ("question", "plan")


class _EventReading(msgspec.Struct, frozen=True):
    """The reader of one event's payloads: the places of what every event has, and of its body."""

    kind: Kind
    body: Reader
    session: Places
    cwd: Places
    turn: Places
    mode: Places
    sub_id: Places
    sub_type: Places


class TableAdapter(Adapter):
    """One agent's protocol, from its table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._tools = Tools(table)
        self._event = compile_places(table.fields.event)
        self._readings = {native: self._reading(native) for native in table.events}
        self._other = self._reading("")
        self._can = {
            native: possible_replies(rule.answers) for native, rule in table.events.items()
        }
        self._kinds = frozenset(_kinds(table))

    @property
    def name(self) -> str:
        """The table's word for the agent."""
        return self.table.name

    @property
    def title(self) -> str:
        """The agent's name in a sentence."""
        return self.table.title

    @property
    def experimental(self) -> bool:
        """Returns whether it was never run against the agent itself."""
        return self.table.experimental

    @property
    def setup(self) -> Setup | None:
        """The place where the agent's hooks are installed."""
        return self.table.setup

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of events that the table names, and notices for those it does not."""
        return self._kinds

    @property
    def own_rules(self) -> Mapping[str, OwnRules]:
        """Returns the agent's own rules for a call of its gate, by mode."""
        return self.table.modes.own_rules

    def can(self, native: str) -> Can:
        """Returns the replies that the agent can be told to this event of its own."""
        return self._can.get(native, Can())

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """Returns the event that this payload means; raises `DecodeError`."""
        fields = _object(payload)
        native = text_at(fields, self._event, NAME_LIMIT) or intake.native
        if not native:
            raise DecodeError(
                f"the payload does not name its event ({' or '.join(self.table.fields.event)}),"
                " and neither does the hook's command"
            )
        reading = self._readings.get(native, self._other)
        body = reading.body(fields)
        kind = _asked(reading.kind, body)
        mode = text_at(fields, reading.mode, NAME_LIMIT) or None
        modes = self.table.modes
        sub = text_at(fields, reading.sub_id, NAME_LIMIT)
        event = Event(
            kind=kind,
            native=native,
            agent=self.table.name,
            session=self._session(fields, reading),
            lane=intake.lane,
            at=intake.at,
            body=body,
            turn=text_at(fields, reading.turn, NAME_LIMIT) or None,
            sub=Sub(sub, text_at(fields, reading.sub_type, NAME_LIMIT)) if sub else None,
            cwd=text_at(fields, reading.cwd, FOLDER_LIMIT),
            mode=mode,
            autonomous=mode in modes.autonomous,
            races_dialog=self.table.races_dialog,
            runs_unasked=kind == "tool.pre" and _runs_unasked(modes, mode),
            env=intake.env,
        )
        if self.table.events.get(native, _UNKNOWN).every_call:
            event = msgspec.structs.replace(event, asks_every_call=True)
        if _asks_for_words(event):
            can = self.can(native)
            return awaited(event, intake, {native: Can(deny=can.deny, stop=can.stop)})
        rules = in_mode(modes.own_rules, mode) if kind == "tool.pre" else None
        return awaited(event, intake, self._can, rules)

    def answer(self, event: Event, reply: Reply) -> HookAnswer:
        """Returns the answer that the agent obeys; an empty one where no hook may decide."""
        rule = self.table.events.get(event.native, _UNKNOWN)
        if not event.lane.waits or rule.answers is None:
            return HookAnswer()
        answers = rule.answers
        if _asks_for_words(event):
            answers = msgspec.structs.replace(answers, allow=None, modify=None)
        return encode_reply(answers, event, reply, self.table.title)

    def closed(self, native: str, lane: Lane, reason: str) -> HookAnswer:
        """Returns the denial of the event, or of one before a tool call where it is not known."""
        if lane is not Lane.GATE:
            rule = self.table.events.get(native, _UNKNOWN)
            return encode_output(rule.answers.nothing, native) if rule.answers else HookAnswer()
        denied = native if self.can(native).deny else self._deniable()
        rule = self.table.events.get(denied, _UNKNOWN)
        if rule.answers is None or rule.answers.deny is None:
            return HookAnswer(stderr=f"{reason}\n".encode("utf-8", "replace"), exit_code=2)
        return encode_output(rule.answers.deny, denied, reason=reason)

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """Returns the hooks of a profile; raises `ValueError` for an unknown one."""
        before = {native for native, rule in self.table.events.items() if rule.kind == "tool.pre"}
        return hooks_of_profile(self.table.hooks, profile, before)

    def _session(self, fields: dict[str, Any], reading: _EventReading) -> str:
        session = text_at(fields, reading.session, NAME_LIMIT) or self.table.no_session
        if not session:
            raise DecodeError(
                f"the payload does not name its session ({' or '.join(self.table.fields.session)})"
            )
        return session

    def _deniable(self) -> str:
        """Returns an event before a tool call that can be denied, else any that can."""
        deniable = [native for native, can in self._can.items() if can.deny]
        before = [each for each in deniable if self.table.events[each].kind == "tool.pre"]
        return next(iter((*before, *deniable)), "")

    def _reading(self, native: str) -> _EventReading:
        rule = self.table.events.get(native, _UNKNOWN)
        fields = _replaced(self.table.fields, rule.fields)
        return _EventReading(
            rule.kind,
            body_reader(native, rule, fields, self._tools),
            compile_places(fields.session),
            compile_places(fields.cwd),
            compile_places(fields.turn),
            compile_places(fields.mode),
            compile_places(fields.sub_id),
            compile_places(fields.sub_type),
        )


def _object(payload: bytes) -> dict[str, Any]:
    try:
        fields = msgspec.json.decode(payload)
    except JSON_FAULTS as error:
        raise DecodeError(f"not a hook payload: {error}") from error
    if not isinstance(fields, dict):
        raise DecodeError("not a hook payload: it is no JSON object")
    return fields


def _replaced(fields: Fields, own: Fields | None) -> Fields:
    """Returns the table's places, with those that one event has elsewhere."""
    if own is None:
        return fields
    changed = {
        key: value
        for key, value in msgspec.structs.asdict(own).items()
        if value != getattr(Fields(), key)
    }
    return msgspec.structs.replace(fields, **changed)


def _asked(kind: Kind, body: Body) -> Kind:
    """Returns the kind of an event, given what it is about.

    A permission asked for a question or a plan is that question, nothing is to be run; and a result
    that says why the call failed is a failure.
    """
    if kind == "tool.permission" and isinstance(body, ToolCall) and body.tool.cls in _FOR_A_PERSON:
        return "question"
    if kind == "tool.post" and isinstance(body, ToolResult) and not body.ok:
        return "tool.error"
    return kind


def _runs_unasked(modes: Modes, mode: str | None) -> bool:
    """Returns whether nobody may be asked about a call that is handed back; true without a mode."""
    return modes.always_unasked or mode is None or mode in modes.unasked


def _asks_for_words(event: Event) -> bool:
    """Returns whether an allow would mean nothing, because the agent wants an answer."""
    return event.kind == "question" and event.tool is not None and event.tool.cls == "question"


def _kinds(table: Table) -> set[str]:
    kinds: set[str] = {"notice", *(rule.kind for rule in table.events.values())}
    if "tool.permission" in kinds and set(_FOR_A_PERSON) & set(table.classes.values()):
        kinds.add("question")
    return kinds
