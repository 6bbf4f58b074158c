"""What is printed for systemd and launchd runs exactly the command line that was meant."""

from __future__ import annotations

import plistlib
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from watchgate.service.setup.unit_files import LABEL, launchd_plist, systemd_unit

ODD = ["/opt/a b/100%/it's/$HOME/watchgate", "serve", "--profile", "strict"]
ENVIRON = {"WATCHGATE_STATE_DIR": '/srv/a "b"/50%/$x'}


def values(unit: str, key: str) -> list[str]:
    return [line.partition("=")[2] for line in unit.splitlines() if line.startswith(f"{key}=")]


def test_a_unit_runs_the_command_with_its_variables() -> None:
    unit = systemd_unit(["/usr/bin/watchgate", "serve"], {"WATCHGATE_CONFIG": "/etc/w.toml"})
    assert values(unit, "ExecStart") == ['"/usr/bin/watchgate" "serve"']
    assert values(unit, "Environment") == ['"WATCHGATE_CONFIG=/etc/w.toml"']
    assert values(unit, "UMask") == ["0077"]
    assert values(unit, "RestartPreventExitStatus") == ["2"]


def test_odd_characters_of_a_path_stay_one_word_and_mean_nothing_to_systemd() -> None:
    unit = systemd_unit(ODD, ENVIRON)
    (command,), (variable,) = values(unit, "ExecStart"), values(unit, "Environment")
    # Its quotes are those of a shell; `%%` and, in a command line, `$$` stand for one each.
    words = [word.replace("%%", "%").replace("$$", "$") for word in _words(command)]
    assert words == ODD
    assert [word.replace("%%", "%") for word in _words(variable)] == [
        f"WATCHGATE_STATE_DIR={ENVIRON['WATCHGATE_STATE_DIR']}"
    ]


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "watchgate.service"
    unit.write_text(systemd_unit(["/bin/true", "serve"], {}))
    said = subprocess.run(
        ["systemd-analyze", "--user", "verify", unit], capture_output=True, text=True
    )
    assert said.stderr == ""


def test_a_launch_agent_runs_the_command_with_its_variables() -> None:
    agent = plistlib.loads(launchd_plist(ODD, ENVIRON, "/tmp/core.log").encode())
    assert agent["Label"] == LABEL
    assert agent["ProgramArguments"] == ODD
    assert agent["EnvironmentVariables"] == ENVIRON
    assert agent["Umask"] == 0o077
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
