"""The standing of this terminal, and its unlocking by the PIN, a security key or a code.

Unlocking decides nothing: a refused request still waits, and is allowed by its own key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.text import safe_text
from watchgate.core.presence.proof import Proof
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Challenge, Code, Presence, Refusal, Unlocked
from watchgate.link.touching import NotTouched, touched
from watchgate.ui.base.formats import short_id
from watchgate.ui.keys.shown_keys import key_for

if TYPE_CHECKING:
    from textual.worker import Worker

    from watchgate.ui.commands.console import Console
    from watchgate.ui.widgets.prompts.unlock_prompts import CodePrompt, ProofPrompt, TouchPrompt

_T = TypeVar("_T")

LOOK_EVERY_S = 5.0
"""Seconds between two questions for this terminal's standing while a request is open."""

LOOK_AGAIN_S = 0.5
"""Seconds at least between two questions, however often something changes."""

_ANOTHER = "It shows them when something is refused there, and after `watchgate unlock`."


class Unlocking:
    """The standing of this terminal with its core, and the prompt that unlocks it."""

    def __init__(self, console: Console, now_s: Callable[[], float]) -> None:
        self._console = console
        self._now_s = now_s
        self._presence: Presence | None = None
        self._looked_at: object = None
        self._asked_s = float("-inf")
        self._about: str | None = None
        self._prompt: ProofPrompt | None = None
        self._code: CodePrompt | None = None
        self._touch: TouchPrompt | None = None
        self._touching: Worker[None] | None = None

    def look(self) -> None:
        """Asks the core for this terminal's standing, where that may have changed.

        It does with every process that asks for the first time, which may be a new one of a known
        session: so at each change of the open requests, and now and then while there are any.
        """
        self._stop_left_touch()
        bridge = self._console.stage.live
        if bridge is None or bridge.link.state != "attached":
            self._stand(None)
            self._looked_at = None
            return
        sessions = bridge.state.sessions.values()
        # An agent's process is known once it asks, which may be long after its session began.
        asking = sum(bool(each.gated) for each in sessions)
        pending = frozenset(bridge.state.pending)
        at = (id(bridge), bridge.link.since_us, len(sessions), asking, pending)
        waits = pending or (self._code is not None and self._console.prompts.has(self._code))
        passed_s = self._now_s() - self._asked_s
        changed = at != self._looked_at and (passed_s >= LOOK_AGAIN_S or self._looked_at is None)
        if changed or (waits and passed_s >= LOOK_EVERY_S):
            self._looked_at, self._asked_s = at, self._now_s()
            self._console.start(self._look)

    def refused(self, request: str) -> None:
        """Opens the unlock prompt after a decision that the core refused as locked."""
        self._about = request
        self._console.start(self._open)

    def unlock(self) -> None:
        """Opens what unlocks this terminal."""
        self._about = self._console.desk.docked
        self._console.start(self._open)

    def unlock_other(self) -> None:
        """Asks for the code that another terminal shows."""
        self._about = self._console.desk.docked
        self._open_prompt("unlock another terminal, its six digits", _ANOTHER, masked=False)

    def typed(self, text: str, *, masked: bool) -> None:
        """Sends a typed PIN or another terminal's code; an empty PIN asks the security key."""
        if masked and not text:
            self._stop_touching()
            self._touching = self._console.start(self._ask_touch)
            return
        work = self._send_pin if masked else self._send_code
        self._console.start(lambda: work(text))

    def _stop_left_touch(self) -> None:
        """Stops asking the security key once its prompt was left: a touch then unlocks nothing."""
        if self._touch is not None and not self._console.prompts.has(self._touch):
            self._stop_touching()

    def _stop_touching(self) -> None:
        self._touch = None
        if self._touching is not None:
            self._touching.cancel()
            self._touching = None

    def _shows_request(self) -> bool:
        """Returns whether a request is docked."""
        return self._console.desk.docked is not None

    async def _look(self) -> None:
        self._asked_s = self._now_s()
        answer = await self._call("presence", Presence)
        if answer is None:
            return
        # A core from before there were PINs knows no such question.
        self._stand(None if isinstance(answer, Refusal) else answer)
        if self._code is not None and self._presence is not None and self._presence.proven:
            self._done(self._code)

    def _stand(self, presence: Presence | None) -> None:
        self._presence = presence
        locked = presence is not None and not presence.proven
        # The core's own rule: what is refused there must not be promised here, nor the reverse.
        proof = (
            Proof(standing=presence.standing, pin=presence.pin, key=presence.key)
            if presence
            else Proof()
        )
        self._console.desk.modest = locked and proof.bar_to_allow("medium") is None
        if self._console.desk.locked != locked:
            self._console.desk.locked = locked
            self._console.wake()

    async def _open(self) -> None:
        await self._look()
        stands = self._presence
        if stands is None or stands.proven:
            self._console.say("this terminal may allow: nothing has to be unlocked")
        elif stands.standing == "below":
            self._console.say(f"this terminal cannot be unlocked: {safe_text(stands.why)}", 10)
        elif stands.pin:
            label = "unlock this terminal, PIN"
            self._open_prompt(label, stands.why, masked=True, key=stands.key)
        elif stands.key:
            self.typed("", masked=True)
        else:
            await self._show_code(stands)

    def _open_prompt(self, label: str, why: str, *, masked: bool, key: bool = False) -> None:
        from watchgate.ui.widgets.prompts.unlock_prompts import ProofPrompt

        self._prompt = ProofPrompt(
            label, safe_text(why), self._shows_request, masked=masked, key=key
        )
        self._console.prompts.open(self._prompt)

    async def _show_code(self, stands: Presence) -> None:
        from watchgate.ui.widgets.prompts.unlock_prompts import CodePrompt

        code = await self._call("unlock", Code)
        if code is None:
            return
        if isinstance(code, Refusal):
            self._console.say(safe_text(code.message))
            return
        until_s = self._now_s() + code.seconds
        self._code = CodePrompt(
            safe_text(code.code), stands.why, until_s, self._now_s, self._shows_request
        )
        self._console.prompts.open(self._code)

    async def _send_pin(self, pin: str) -> None:
        answer = await self._call("unlock", Presence, pin=pin)
        if answer is not None and self._prompt is not None:
            if isinstance(answer, Refusal):
                self._prompt.refused(safe_text(answer.message))
            else:
                await self._look()
                self._done(self._prompt)

    async def _ask_touch(self) -> None:
        from watchgate.ui.widgets.prompts.unlock_prompts import TouchPrompt

        challenge = await self._call("unlock", Challenge, challenge=True)
        if challenge is None:
            return
        if isinstance(challenge, Refusal):
            self._console.say(safe_text(challenge.message), 10)
            return
        why = safe_text(self._presence.why if self._presence else "")
        self._touch = prompt = TouchPrompt(self._shows_request, why)
        self._console.prompts.open(prompt)
        try:
            signature = await touched(challenge, at_terminal=False)
        except NotTouched as fault:
            self._console.leave_prompt(prompt)
            self._console.say(str(fault), 10)
            return
        # Another prompt in its place means that the operator went on to something else.
        if not self._console.prompts.has(prompt):
            return
        answer = await self._call("unlock", Presence, signature=signature)
        if answer is None or isinstance(answer, Refusal):
            self._console.leave_prompt(prompt)
            if answer is not None:
                self._console.say(safe_text(answer.message), 10)
            return
        await self._look()
        self._done(prompt)

    async def _send_code(self, code: str) -> None:
        other = await self._call("unlock", Unlocked, code="".join(code.split()))
        if other is None or self._prompt is None:
            return
        if isinstance(other, Refusal):
            self._prompt.refused(safe_text(other.message))
            return
        self._console.leave_prompt(self._prompt)
        self._console.say(safe_text(f"unlocked: {other.unlocked} ({other.leader}) may allow"), 10)

    def _done(self, prompt: ProofPrompt | CodePrompt | TouchPrompt) -> None:
        """Closes the prompt of a terminal that is unlocked now; it decides nothing by itself."""
        self._prompt = self._code = None
        self._console.leave_prompt(prompt)
        pending = self._console.bridge.state.pending
        waits = pending.get(self._about or "")
        then = f", {key_for('allow')} allows {short_id(waits.id)} now" if waits else ""
        self._console.say(f"unlocked: this terminal may allow{then}", 10)

    async def _call(
        self,
        verb: Literal["presence", "unlock"],
        kind: type[_T],
        *,
        pin: str | None = None,
        code: str | None = None,
        challenge: bool = False,
        signature: str | None = None,
    ) -> _T | Refusal | None:
        """Asks the core in question; None where it does not answer.

        The operator is shown why an unlock was not answered.

        Args:
            verb: The question.
            kind: The type of its answer.
            pin: The PIN that was typed.
            code: The code that another terminal shows.
            challenge: True to ask for a challenge that a security key can sign.
            signature: The key's signature of the challenge.
        """
        bridge = self._console.stage.live
        if bridge is None:
            return None
        try:
            # Where several cores are watched, the one that refused is the one that is meant.
            about = self._about if bridge.state.hosts else None
            answer = await bridge.call(
                verb, request=about, pin=pin, code=code, challenge=challenge, signature=signature
            )
            return answer if isinstance(answer, Refusal) else decoding.convert(answer.ok, kind)
        except CoreLost as lost:
            fault = str(lost)
        except msgspec.ValidationError as odd:
            fault = safe_text(f"the core's answer cannot be read ({odd}): nothing was unlocked")
        if verb == "unlock":
            self._console.say(fault)
        return None
