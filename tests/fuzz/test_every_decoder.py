"""No decoder is forgotten: a module that decodes is entered by a seed of some target."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Final

import watchgate
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

PACKAGE: Final = Path(watchgate.__file__).parent
DECODES: Final = re.compile(
    r"(?:json|msgpack)\.(?:decode|loads|Decoder)\b|(?:tomllib|plistlib)\.loads"
    r"|config_toml\.parse|\bdecoding\.(?:convert|decode|decoder|ready)\(|ast\.parse\("
)

OF_A_CORE = "takes apart what link/control_lines.py has read of a core"
OF_RECORDS = "takes apart records that the targets export and journal-rows read"
OF_OURS = "reads what a program that we have just started says"
OF_THE_PERSON = "reads what the person at this command has typed or named"
NOT_FUZZED: Final = {
    **dict.fromkeys(
        (
            "cli/base/ask.py",
            "cli/decide/requests_command.py",
            "cli/decide/grants_command.py",
            "cli/policy/policy_look.py",
            "cli/presence/unlock_command.py",
            "cli/decide/request_page.py",
            "cli/history/search_command.py",
            "link/control_client.py",
            "link/omitted_values.py",
            "service/doctor/machine_checks.py",
            "ui/console/agent_states_poll.py",
            "ui/fleet/fleet_calls.py",
            "ui/fleet/host_names.py",
            "ui/fleet/foreign_records.py",
            "ui/source/recorded_calls.py",
            "ui/console/unlocking.py",
            "ui/source/replay_source.py",
            "ui/screens/payload_screen.py",
            "ui/widgets/prompts/edit_prompt.py",
            "ui/widgets/prompts/grant_prompt.py",
            "ui/widgets/base/remaining_input.py",
        ),
        OF_A_CORE,
    ),
    **dict.fromkeys(
        (
            "core/gate/what_if.py",
            "service/control/decision_verbs.py",
            "service/replaying/recording_player.py",
            "service/replaying/recorded_run.py",
            "service/search/index_file.py",
        ),
        OF_RECORDS,
    ),
    **dict.fromkeys(
        (
            "service/crashtest/agent_driver.py",
            "service/crashtest/model/model_server.py",
            "service/system/detached_core.py",
            "service/setup/backup.py",
            "service/doctor/agent_checks.py",
            "service/doctor/probe_call.py",
            "service/setup/hook_client.py",
        ),
        OF_OURS,
    ),
    **dict.fromkeys(
        (
            "agents/samples.py",
            "cli/setup/config_set.py",
            "cli/policy/policy_case.py",
            "service/setup/forms/toml_edit.py",
        ),
        OF_THE_PERSON,
    ),
    "core/policy/code/python/harmless.py": "lists names, and decodes nothing",
    "cli/setup/setup_report.py": "reads the strings of a diff that it has made itself",
    "client_uninstall.py": "runs alone, at a person's word; names what it cannot read",
    "service/bridges/opencode_client.py": "hands what server-events has read to opencode-bus",
    "service/prices/prices.py": "hands what prices-fetched has read to a table that checks it",
    "service/prices/price_updates.py": "as above, within one way out for all faults",
    "service/usage/message_database.py": "hands the rows of a database to usage-opencode",
}
"""Modules that decode and that no target enters, with the reason."""


def decoding() -> set[str]:
    """The modules of the package that decode anything."""
    return {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if DECODES.search(path.read_text("utf-8"))
    }


def entered(targets: Iterable[Target]) -> set[str]:
    """The modules of which some function runs while these targets take their seeds."""
    files: set[str] = set()

    def called(frame: FrameType, _event: str, _arg: object) -> None:
        if frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        for target in targets:
            for seed in target.seeds:
                target.takes(seed)
    finally:
        sys.setprofile(before)
    return {str(Path(f).relative_to(PACKAGE)) for f in files if f.startswith(f"{PACKAGE}/")}


def test_every_module_that_decodes_is_fuzzed_or_says_why_not() -> None:
    assert decoding() - entered(TARGETS.values()) - NOT_FUZZED.keys() == set()


def test_what_is_said_not_to_be_fuzzed_is_a_decoder() -> None:
    assert NOT_FUZZED.keys() - decoding() == set()


def test_a_module_that_no_target_enters_would_be_missed() -> None:
    assert "core/config/config.py" not in entered([TARGETS["splitter"]])
    assert "service/system/line_cutting.py" in entered([TARGETS["splitter"]])
