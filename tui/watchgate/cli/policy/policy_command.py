"""`policy init|check|table|explain|test|import|what-if|reload`: what the rules say, and why."""

from __future__ import annotations

import argparse
from typing import Any

from watchgate.cli.base.printing import Exit
from watchgate.cli.policy import policy_case, policy_import, policy_look, policy_what_if

_EPILOG = """\
example: watchgate policy check 'git push --force origin main'

more:
  watchgate policy explain git.force-push
  watchgate policy import claude ~/.claude/settings.json > policy.toml
  watchgate policy what-if --profile strict --since 7d
docs/policy.md tells how to write rules.
"""


def add_parser(commands: Any) -> None:
    """Adds the command and what it does."""
    policy = commands.add_parser(
        "policy",
        help="what the rules say and why; begin, try, import and reload them",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = policy.add_subparsers(title="commands", metavar="COMMAND", required=True)
    init = verbs.add_parser(
        "init",
        help="write a policy.toml with two examples, where there is none",
        epilog="example: watchgate policy init",
    )
    init.set_defaults(run=_init)
    for group in (policy_case, policy_look, policy_import, policy_what_if):
        group.add_parsers(verbs)


def _init(_args: argparse.Namespace) -> int:
    from watchgate.cli.base.command_environment import here
    from watchgate.cli.base.starting import start_with

    start_with("policy.toml", here().policy, "edit it, then watchgate policy reload")
    return Exit.DONE
