"""`ls`, `show`, `allow`, `deny`, `handback`: what waits, and deciding it from a script.

- `allow --command`: another command in the place of the one that an agent asks about.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Literal

from watchgate.cli.base.ask import ask, needs_core_at_terminal
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say, table
from watchgate.cli.base.typed_input import needs_terminal
from watchgate.cli.decide.grants_command import proposal_lines, rules_from
from watchgate.cli.decide.request_page import decided_words, print_request
from watchgate.cli.decide.typed_consent import ask_consent, show_to_end
from watchgate.cli.presence.program_token import UNREGISTERED, add_token_option, given_token
from watchgate.core.base import decoding
from watchgate.core.model.sessions import SessionState, unknown_state_words
from watchgate.core.secrets.redact import redact
from watchgate.link.protocol import Request
from watchgate.service.system.system_clock import SystemClock

if TYPE_CHECKING:
    from watchgate.core.model.standing_grant import GrantRule


def edited_input(request: str, command: str) -> dict[str, Any]:
    """The input of a request with another command; ends the command where it has none."""
    from watchgate.core.model.events import Tool
    from watchgate.core.tools.edited_text import edited

    shown = ask(Request(id=1, verb="show", request=request))["request"]
    tool = decoding.convert(shown["tool"], Tool)
    if tool.cls != "shell":
        raise Stop(f"{tool.name} runs no command; edit it in the console", Exit.USAGE)
    try:
        return edited(tool, command)
    except ValueError as fault:
        raise Stop(f"--command: {fault}", Exit.USAGE) from None


def becomes(shown: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The request that `show` answered with, as it would be with this input."""
    edited = ask(Request(id=1, verb="preview", request=shown["id"], input=given))
    return {**shown, **edited, "tool": {**shown["tool"], "input": edited["input"]}}


Commands = Any
LINE_CHARS = 1_000
TOOL_CHARS = 60
_CALL_FIELDS = frozenset({"summary", "asked", "reason"})
SCOPES = ("once", "turn", "session", "15m", "always")
WIDTHS = ("exact", "program", "folder")


def add_parser(commands: Commands) -> None:
    """Adds the five commands."""
    ls = commands.add_parser(
        "ls", help="pending requests, or sessions", epilog="example: watchgate ls --json | jq .id"
    )
    ls.add_argument("--sessions", action="store_true", help="list sessions instead")
    ls.add_argument("--json", action="store_true", help="one JSON object a line")
    ls.set_defaults(run=_ls)
    show = commands.add_parser(
        "show", help="one request in full", epilog="example: watchgate show a41f"
    )
    show.add_argument("id", metavar="ID", help="request id or a unique prefix of 4 or more")
    show.add_argument("--json", action="store_true", help="one JSON object, nothing covered")
    show.add_argument("--secrets", action="store_true", help="tell the secrets that are covered")
    show.set_defaults(run=_show)
    allow = _decider(
        commands,
        "allow",
        "let the call run",
        "example: watchgate allow a41f --digest 3f0c...   (without --digest it shows and asks)",
    )
    allow.add_argument("--digest", metavar="D", help="digest of what you were shown")
    allow.add_argument("--scope", choices=SCOPES, default="once", help="how far the allow reaches")
    allow.add_argument(
        "--width",
        choices=WIDTHS,
        help="how much beside this call: exactly it, its program with the subcommand, or its "
        "folder; without, the program for always and else exactly this call",
    )
    allow.add_argument(
        "--rule",
        metavar="WORDS",
        action="append",
        default=[],
        help="with the width program: what it lets run, such as 'npm run build *', in place of "
        "what is proposed; may be given for each command of the call",
    )
    allow.add_argument(
        "--command",
        metavar="TEXT",
        help="run this command instead; it is judged again, and the agent is told it",
    )
    add_token_option(allow)
    deny = _decider(commands, "deny", "stop the call", 'example: watchgate deny a41f --reason "no"')
    deny.add_argument("--reason", metavar="TEXT", help="what the model reads")
    deny.add_argument("--stop", action="store_true", help="end the agent's turn too, where it can")
    handback = _decider(
        commands,
        "handback",
        "let the agent's own prompt decide",
        "example: watchgate handback a41f",
    )
    add_token_option(handback)


def _decider(commands: Commands, verb: str, what: str, example: str) -> argparse.ArgumentParser:
    each: argparse.ArgumentParser = commands.add_parser(verb, help=what, epilog=example)
    each.add_argument(
        "id",
        metavar="ID",
        nargs="?",
        help="request id or a unique prefix of 4 or more; without one, the only one that waits",
    )
    each.add_argument("--as", dest="name", metavar="NAME", help="the name to sign with")
    each.add_argument("--json", action="store_true", help="print the result as JSON")
    each.set_defaults(
        run=_decide,
        decision=verb,
        digest=None,
        reason=None,
        stop=False,
        scope="once",
        rule=[],
        width=None,
        command=None,
        token_file=None,
    )
    return each


def _ls(args: argparse.Namespace) -> int:
    what: Literal["requests", "sessions"] = "sessions" if args.sessions else "requests"
    entries = ask(Request(id=1, verb="list", what=what))[what]
    if args.json:
        for each in entries:
            json_line(each if args.sessions else _covered(each))
    elif not entries:
        say("no session was seen" if args.sessions else "nothing pending")
        _say_who_asks_there()
    elif args.sessions:
        keys = ("label", "agent", "state", "calls", "session", "cwd", "title")
        rows = [tuple(str(each[key]) for key in keys) for each in map(_doing, entries)]
        table(("SESSION", "AGENT", "STATE", "CALLS", "ID", "FOLDER", "ASKED FOR"), rows)
    else:
        now_us = SystemClock().now().wall_us
        rows = [_row(_asked(each), now_us) for each in entries]
        table(("ID", "LEFT", "AGENT", "SESSION", "RISK", "TOOL", "CALL"), rows)
        _say_who_asks_there()
    return Exit.DONE


def _doing(session: dict[str, Any]) -> dict[str, Any]:
    """A session with words for a state that nothing tells."""
    if session["state"] != SessionState.UNKNOWN:
        return session
    return {**session, "state": unknown_state_words(session["calls"])}


def _say_who_asks_there() -> None:
    """Names the sessions whose agents ask in their own terminals, where no key here answers."""
    for each in ask(Request(id=1, verb="list", what="sessions"))["sessions"]:
        if each["state"] == SessionState.NEEDS_THERE:
            say(f"{each['label']} ({each['agent']}) needs you there: it asks in its own terminal")


def _covered(each: dict[str, Any]) -> dict[str, Any]:
    """A line of `ls --json`, the secrets of the call covered; `show` tells them."""
    return {name: redact(value) if name in _CALL_FIELDS else value for name, value in each.items()}


def _left(each: dict[str, Any], now_us: int) -> str:
    """The time that silence still has; a dash where it has no end."""
    deadline_us = each["deadline_at"]
    if deadline_us is None:
        return "-"
    minutes, seconds = divmod(max(0, deadline_us - now_us) // 1_000_000, 60)
    return f"{minutes}:{seconds:02}"


def _row(each: dict[str, Any], now_us: int) -> tuple[str, ...]:
    """A request as its line; the tool and the call do not say the same twice."""
    from watchgate.core.tools.summary import in_columns

    tool, call = in_columns(str(each["tool"]), str(each["summary"]), TOOL_CHARS)
    asked = f"   asked: {each['asked']}" if each.get("asked") else ""
    named = (each["agent"], each["label"], each["risk"], tool)
    line = _line(each, f"{call}{asked}")
    return (each["id"][:8], _left(each, now_us), *(redact(str(word)) for word in named), line)


def _line(each: dict[str, Any], call: str) -> str:
    """The call, its secrets covered; of a long one less than was sent, which may end in one."""
    covered = redact(call)
    if len(covered) <= LINE_CHARS:
        return covered
    return f"{covered[:LINE_CHARS]}… (watchgate show {each['id'][:8]})"


def _show(args: argparse.Namespace) -> int:
    request = ask(Request(id=1, verb="show", request=args.id))["request"]
    if args.json:
        json_line(request)
    else:
        print_request(request, bare=args.secrets)
    return Exit.DONE


def _only_one() -> str:
    """The id of the only request that waits; raises `Stop` where none does, or several."""
    waiting = ask(Request(id=1, verb="list", what="requests"))["requests"]
    if not waiting:
        raise Stop("nothing pending, so there is nothing to decide")
    if len(waiting) > 1:
        for each in waiting:
            complain(f"{each['id'][:8]}  {_line(each, str(each['summary']))}")
        raise Stop(f"{len(waiting)} requests wait, so say which", Exit.USAGE)
    return str(waiting[0]["id"])


def _decide(args: argparse.Namespace) -> int:
    if args.decision == "allow" and args.digest is None:
        needs_core_at_terminal(
            "allow needs --digest (see watchgate show ID) or a terminal to ask on"
        )
    if args.id is None:
        args.id = _only_one()
    decision, digest, rules = (
        args.decision,
        args.digest,
        rules_from(args.rule, args.scope, args.width),
    )
    edited = None if args.command is None else edited_input(args.id, args.command)
    token = given_token(args.token_file)
    if decision != "deny":
        decision, digest = _asked_first(args, rules, edited, token=token is not None)
    denied = decision != args.decision
    done = ask(
        Request(
            id=1,
            verb="decide",
            request=args.id,
            decision=decision,
            digest=digest,
            reason=args.reason,
            scope="once" if denied else args.scope,
            rules=() if denied else rules,
            width=None if denied else args.width,
            input=None if denied else edited,
            stop=args.stop,
            as_=args.name,
            confirmed=True,
            token=token,
        )
    )
    if args.json:
        json_line(done)
    else:
        say(f"#{done['request'][:4]} {decided_words(done)}")
    if "warning" in done:
        complain(done["warning"])
    return Exit.DONE


def _asked_first(
    args: argparse.Namespace,
    rules: tuple[GrantRule, ...],
    edited: dict[str, Any] | None,
    *,
    token: bool,
) -> tuple[str, str | None]:
    """The decision, and the digest of what was shown, once a person was asked where one can be.

    A program with a `token` is asked nothing; whoever can be asked nothing needs one to allow.

    Args:
        args: what the command line says.
        rules: what an allow for good would let run.
        edited: the input that the call shall have instead, if any.
        token: whether a registered program decides.
    """
    digest = args.digest
    if token:
        return args.decision, digest
    request = ask(Request(id=1, verb="show", request=args.id))["request"]
    runs = args.decision == "allow" or request.get("runs_unasked")
    if not runs or request["status"] != "pending":
        return args.decision, digest  # nothing would run: the core says what there is to say
    needs_terminal(UNREGISTERED)
    if args.decision == "allow":
        _only_for_calls(request)
    if edited is not None:
        request = becomes(request, edited)
    by_digest = digest is not None or args.decision == "handback"
    if by_digest and request["risk"] in ("low", "medium"):
        return args.decision, digest
    wide = args.scope == "always" or args.width in ("program", "folder")
    more = proposal_lines(request["id"], rules, args.scope, args.width) if wide else ()
    show_to_end(request, more)
    what = "hand it back, where it runs unasked" if args.decision == "handback" else "let it run"
    answer = ask_consent(request, what=what, asked=by_digest)
    if answer == "deny":
        return "deny", None
    return args.decision, request["digest"] if digest is None else digest


def _asked(each: dict[str, Any]) -> dict[str, Any]:
    """A line of `ls`, with the kind of item where there is no risk to weigh."""
    return each if each["asks"] == "approval" else {**each, "risk": each["asks"]}


def _only_for_calls(request: dict[str, Any]) -> None:
    if "answer" in request.get("offered", ()):
        raise Stop(
            f"not_offered: this is a question: watchgate answer {request['id'][:4]} answers it, "
            f"watchgate deny {request['id'][:4]} declines it"
        )
