"""`unlock`: this terminal by PIN, key or code, or another by the code it shows; and `lock`."""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain, say
from watchgate.cli.typed import needs_terminal, typed_secret
from watchgate.core import decoding
from watchgate.core.text import safe_text
from watchgate.link.protocol import Challenge, Code, Presence, Refusal, Request, Unlocked

PIN_ASKED = "PIN (not shown; nothing leaves it locked): "
_LOOK_EVERY_S = 1.0


def add_parser(commands: Any) -> None:
    """Add the two commands."""
    unlock = commands.add_parser(
        "unlock",
        help="let this terminal allow, by the PIN; or another one, by the code that it shows",
        description="A terminal that an agent could have opened may deny, and lets nothing of high "
        "risk run, until it was unlocked once: by the PIN, by the touch of a security key, or "
        "where neither is set by a six-digit code that is typed at a clear terminal.",
        epilog="example: watchgate unlock   (at the other terminal: watchgate unlock 418 207)",
    )
    unlock.add_argument("code", metavar="CODE", nargs="*", help="the code another terminal shows")
    unlock.add_argument(
        "--code",
        dest="show_code",
        action="store_true",
        help="show a code to confirm in a clear terminal, although a PIN is set",
    )
    unlock.add_argument(
        "--key",
        action="store_true",
        help="by the touch of your security key, although a PIN is set",
    )
    unlock.set_defaults(run=_unlock)
    lock = commands.add_parser(
        "lock",
        help="lock this terminal again: from now on it may only deny",
        epilog="example: watchgate lock",
    )
    lock.set_defaults(run=_lock)


def _unlock(args: argparse.Namespace) -> int:
    from watchgate.cli.ask import ask, presence

    needs_terminal("unlock needs a terminal: it is the terminal that is unlocked")
    if args.code:
        _confirm("".join(args.code))
        return Exit.DONE
    stands = presence()
    if stands.proven:
        say(f"This terminal is {standing_words(stands)}: it may allow.")
        return Exit.DONE
    if stands.standing == "below":
        raise Stop(f"this terminal cannot be unlocked: {stands.why}")
    if args.key or (stands.key and not stands.pin and not args.show_code):
        unlocked_by_key(stands.why)
    elif stands.pin and not args.show_code:
        if not unlocked_by_pin(stands.why):
            raise Stop("the terminal is locked as before: it may deny")
    else:
        _wait_for_code(ask(Request(id=1, verb="unlock")))
    say("Unlocked: this terminal may allow until it is closed.")
    return Exit.DONE


def _lock(_args: argparse.Namespace) -> int:
    from watchgate.cli.ask import ask

    needs_terminal("lock needs a terminal: it is the terminal that is locked")
    stands = decoding.convert(ask(Request(id=1, verb="unlock", action="off")), Presence)
    if stands.proven:
        say("This terminal is clear: no agent can have opened it, so there is nothing to lock.")
    else:
        say("Locked: this terminal may only deny, until `watchgate unlock`.")
    return Exit.DONE


def unlocked_by_pin(why: str) -> bool:
    """Ask for the PIN until it is right; False where none was typed. Raises `Stop` at a pause."""
    from watchgate.cli.ask import told

    complain(f"this terminal is locked: {why}")
    while pin := typed_secret(PIN_ASKED):
        answer = told(Request(id=1, verb="unlock", pin=pin))
        if not isinstance(answer, Refusal):
            return True
        if answer.refused != "wrong_pin" or answer.wait_s:
            raise Stop(f"{answer.refused}: {answer.message}")
        complain(answer.message)
    return False


def unlocked_by_key(why: str) -> bool:
    """Have the security key touched. Raises `Stop` where it was not, or is not the one."""
    import anyio

    from watchgate.cli.ask import told
    from watchgate.link.touching import TOUCH, NotTouched, touched

    answer = told(Request(id=1, verb="unlock", challenge=True))
    if not isinstance(answer, Refusal):
        challenge = decoding.convert(answer.ok, Challenge)
        complain(f"this terminal is locked: {why}")
        complain(f"{TOUCH}; Ctrl+C leaves it locked")
        try:
            signature = anyio.run(partial(touched, challenge, at_terminal=True))
        except NotTouched as fault:
            raise Stop(f"{fault}: the terminal is locked as before, it may deny") from None
        answer = told(Request(id=1, verb="unlock", signature=signature))
    if isinstance(answer, Refusal):
        raise Stop(f"{answer.refused}: {answer.message}", Exit.REFUSED)
    return True


def _confirm(code: str) -> None:
    from watchgate.cli.ask import ask

    done = decoding.convert(ask(Request(id=1, verb="unlock", code=code)), Unlocked)
    say(f"Unlocked: {done.unlocked} ({done.leader}) may allow until it is closed.")


def _wait_for_code(answer: dict[str, Any]) -> None:
    from watchgate.cli.ask import presence

    code = decoding.convert(answer, Code)
    digits = f"{code.code[:3]} {code.code[3:]}"
    say(f"A clear terminal has to vouch for this one: type there within {code.seconds} seconds")
    print(f"\n    watchgate unlock {safe_text(digits)}\n")
    say("A clear terminal is one that you opened before any agent was started. With a PIN")
    say("(`watchgate pin set` there) you need none of this. Ctrl+C leaves this one locked.")
    end_s = time.monotonic() + code.seconds
    while time.monotonic() < end_s:
        if presence().proven:
            return
        time.sleep(_LOOK_EVERY_S)
    raise Stop("nobody confirmed the code in time: this terminal is locked as before")


def standing_words(stands: Presence) -> str:
    """Return how a terminal stands, in a word or two and why."""
    words = {
        "clear": "clear",
        "pin": "unlocked by the PIN",
        "code": "unlocked by a code",
        "key": "unlocked by a security key",
    }
    if stands.standing in words:
        return words[stands.standing]
    return f"locked for allowing: {stands.why}"
