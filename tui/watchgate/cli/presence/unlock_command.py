"""`unlock`: this terminal by PIN, key or code, or another by the code it shows; and `lock`."""

from __future__ import annotations

import argparse
import time
from typing import Any

from watchgate.cli.base.printing import Exit, Stop, say
from watchgate.cli.base.typed_input import needs_terminal
from watchgate.core.base import decoding
from watchgate.core.base.text import safe_text
from watchgate.link.protocol import Code, Presence, Request, Unlocked

_LOOK_EVERY_S = 1.0


def add_parser(commands: Any) -> None:
    """Adds the two commands."""
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
    from watchgate.cli.base.ask import ask, presence, unlocked_by_key, unlocked_by_pin

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
    from watchgate.cli.base.ask import ask

    needs_terminal("lock needs a terminal: it is the terminal that is locked")
    stands = decoding.convert(ask(Request(id=1, verb="unlock", action="off")), Presence)
    if stands.proven:
        say("This terminal is clear: no agent can have opened it, so there is nothing to lock.")
    else:
        say("Locked: this terminal may only deny, until `watchgate unlock`.")
    return Exit.DONE


def _confirm(code: str) -> None:
    from watchgate.cli.base.ask import ask

    done = decoding.convert(ask(Request(id=1, verb="unlock", code=code)), Unlocked)
    say(f"Unlocked: {done.unlocked} ({done.leader}) may allow until it is closed.")


def _wait_for_code(answer: dict[str, Any]) -> None:
    from watchgate.cli.base.ask import presence

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
    """Returns the words for a terminal's standing, and why it is locked."""
    words = {
        "clear": "clear",
        "pin": "unlocked by the PIN",
        "code": "unlocked by a code",
        "key": "unlocked by a security key",
    }
    if stands.standing in words:
        return words[stands.standing]
    return f"locked for allowing: {stands.why}"
