"""`policy check` and `policy test`: what the rules say about calls that nobody makes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say
from watchgate.core.base import decoding

if TYPE_CHECKING:
    from watchgate.core.model.assessment import Assessment
    from watchgate.core.policy.judging.rule_examples import Case

_FILE_HELP = "this policy file in the place of your own"


def add_parsers(verbs: Any) -> None:
    """Adds the two commands."""
    check = verbs.add_parser(
        "check",
        help="what the rules say about a command, before any profile",
        epilog="example: watchgate policy check --json 'rm -rf build' (nothing is run)",
    )
    check.add_argument("command", nargs="?", metavar="COMMAND", help="a shell command, quoted")
    check.add_argument("--stdin", action="store_true", help="commands as JSON strings, one a line")
    check.add_argument("--tool", metavar="NAME", help="another tool than the shell, with --input")
    check.add_argument("--input", metavar="JSON", help="the tool's input, an object")
    check.add_argument("--agent", default="", metavar="AGENT", help="who makes the call")
    check.add_argument("--cwd", metavar="DIR", help="the session's folder; the present one without")
    check.add_argument("--policy", metavar="FILE", help=_FILE_HELP)
    check.add_argument("--json", action="store_true", help="one JSON object a line")
    check.set_defaults(run=_check)
    test = verbs.add_parser(
        "test",
        help="a file of cases against the rules",
        epilog='example: watchgate policy test cases.jsonl, with lines such as {"command": '
        '"git push -f", "expected": "ask", "risk": "high"}',
    )
    test.add_argument("file", metavar="FILE", help="one JSON object a line")
    test.add_argument("--policy", metavar="FILE", help=_FILE_HELP)
    test.add_argument("--json", action="store_true", help="one JSON object for each case")
    test.set_defaults(run=_test)


def _check(args: argparse.Namespace) -> int:
    from watchgate.cli.policy.policy_in_force import Force

    if args.stdin + (args.command is not None) + (args.tool is not None) != 1:
        raise Stop("name one of COMMAND, --stdin, --tool NAME --input JSON", Exit.USAGE)
    force = Force(args.policy)
    if args.stdin:
        for command in _commands():
            _tell(args, force, force.judge(_case(args, command)))
        return Exit.DONE
    _tell(args, force, force.judge(_case(args, args.command)), args.command or "")
    return Exit.DONE


def _case(args: argparse.Namespace, command: str | None) -> Case:
    from watchgate.core.policy.judging.rule_examples import Case

    return Case(
        command=command,
        tool=args.tool,
        input=_input(args.input) if command is None else {},
        cwd=str(Path(args.cwd or ".").absolute()),
        agent=args.agent,
    )


def _input(text: str | None) -> dict[str, Any]:
    import msgspec

    try:
        return decoding.decode(text or "{}", dict[str, Any])
    except msgspec.DecodeError as fault:
        raise Stop(f"--input is not a JSON object: {fault}", Exit.USAGE) from None


def _commands() -> Iterator[str]:
    import json
    import sys

    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            # Not msgspec: recorded texts may hold lone surrogates, and they must be judged too.
            command = json.loads(line)
        except ValueError:
            command = None
        if not isinstance(command, str):
            raise Stop(f"line {number} is not a JSON string", Exit.USAGE)
        yield command


def _tell(args: argparse.Namespace, force: Any, assessment: Assessment, text: str = "") -> None:
    from watchgate.cli.policy.assessment_page import as_json, page
    from watchgate.core.policy.rules.profiles import held_profiles

    if args.json:
        json_line(
            as_json(assessment) | {"held": held_profiles(assessment), "took_us": force.took_us}
        )
    else:
        for line in page(assessment, text, force.does(assessment)):
            say(line)


def _test(args: argparse.Namespace) -> int:
    from watchgate.cli.policy.policy_in_force import Force
    from watchgate.core.policy.judging.rule_examples import CaseError, read_cases

    force = Force(args.policy)
    try:
        given = tuple(read_cases(Path(args.file).read_bytes()))
    except OSError as fault:
        raise Stop(f"{args.file} cannot be read: {fault.strerror}") from None
    except CaseError as fault:
        raise Stop(f"{args.file}:{fault}", Exit.USAGE) from None
    wrong = 0
    for number, case in given:
        assessment = force.judge(case)
        faults = case.faults(assessment)
        wrong += bool(faults)
        if args.json:
            row = {"line": number, "ok": not faults, "faults": faults, "about": case.about}
            json_line(
                row
                | {
                    "decision": assessment.decision,
                    "risk": assessment.risk,
                    "rule": assessment.rule,
                }
            )
        elif faults:
            say(f"{args.file}:{number}: {case.about}: {'; '.join(faults)}")
    complain(f"{len(given) - wrong} of {len(given)} cases are as expected")
    return Exit.REFUSED if wrong else Exit.DONE
