"""Every form of hook file, with texts that users have, for tests of all forms alike."""

from __future__ import annotations

import json
from typing import Final

from watchgate.agents.base import Setup
from watchgate.service.setup.forms.form_editor import FormHook

OURS: Final = "/bin/sh -c 'exit 0' watchgate-hook {}"

SETUPS: Final = {
    "groups": Setup(form="groups", user="~/.a/settings.json", closing={"onFailure": "block"}),
    "groups with comments": Setup(form="groups", user="~/.a/s.json", comments=True, unit="ms"),
    "flat": Setup(form="flat", user="~/.a/h.json", extra={"version": 1}, closing={"shut": True}),
    "flat with a type": Setup(form="flat", user="~/.a/h.json", each={"type": "command"}),
    "copilot": Setup(
        form="copilot", user="~/.a/h.json", timeout_key="timeoutSec", extra={"version": 1}
    ),
    "crush": Setup(form="crush", user="~/.a/crush.json", comments=True),
    "kiro": Setup(form="kiro", user="~/.a/k.json", timeout_key="timeout_ms", unit="ms"),
    "kimi": Setup(form="kimi", user="~/.a/config.toml"),
}

THEIRS: Final = {
    "groups": '{"hooks": [{"type": "command", "command": "their-tool"}]}',
    "flat": '{"command": "their-tool"}',
    "copilot": '{"type": "command", "bash": "their-tool"}',
    "crush": '{"matcher": "bash", "command": "their-tool"}',
    "kiro": '{"command": "their-tool", "timeout_ms": 5}',
}


def hooks(*words: str) -> list[FormHook]:
    """Two entries before a tool and one at the end, with these words in their commands."""
    gate, read, stop = words or ("gate", "read", "stop")
    return [
        FormHook(
            event="Pre",
            command=OURS.format(gate),
            timeout_s=600,
            matcher="Bash|Write",
            status="waits",
            closes=True,
        ),
        FormHook(event="Pre", command=OURS.format(read), timeout_s=600, matcher="Read"),
        FormHook(event="Stop", command=OURS.format(stop), timeout_s=5),
    ]


def texts(setup: Setup) -> dict[str, str]:
    """Files of this form, by what is special about each; all have everything `beside`."""
    if setup.form == "kimi":
        return _toml()
    top = "".join(f'"{key}": {json.dumps(value)},\n  ' for key, value in setup.extra.items())
    flat = top.replace("\n  ", " ")
    theirs = THEIRS[setup.form]
    block = (
        f'{{\n  {top}"hooks": {{\n    "Stop": [\n      {theirs}\n    ]\n  }},\n  "z": [1, 2]\n}}\n'
    )
    found = {
        "hooks of others": block,
        "no final newline": block.removesuffix("\n"),
        "CRLF": block.replace("\n", "\r\n"),
        "tabs": block.replace("  ", "\t"),
        "four spaces": block.replace("  ", "    "),
        "one line": f'{{{flat}"hooks": {{"Stop": [{theirs}]}}, "env": {{"A": "é"}}}}',
        "no hooks yet": f'{{\n  {top}"model": "x"\n}}\n',
        "an empty event": f'{{\n  {top}"hooks": {{\n    "Stop": []\n  }}\n}}\n',
        "own spacing": (
            f'{{ {flat}"hooks" : {{\n\n   "Stop" :\n   [ {theirs} ]\n\n }}\n ,"x":1 }}\n\n'
        ),
    }
    if setup.comments:
        found |= _commented(theirs)
    return found


def _commented(theirs: str) -> dict[str, str]:
    return {
        "comments": (
            '// mine\n{\n  /* first */\n  "hooks": {\n    // before\n    "Stop": [\n'
            f"      {theirs} // theirs\n      // the end\n    ] // stop\n    // none more\n  }},\n"
            '  "url": "http://x" // not a // comment\n}\n// bye\n'
        ),
        "commas at the end": (
            f'{{\n  "hooks": {{\n    "Stop": [\n      {theirs},\n    ],\n  }},\n}}\n'
        ),
        "a comment in an empty table": '{\n  "hooks": {\n    // none yet\n  }\n}\n',
        "comments and CRLF": (
            f'{{\r\n  // a\r\n  "hooks": {{ "Stop": [ {theirs} ] }} // b\r\n}}\r\n'
        ),
    }


def _toml() -> dict[str, str]:
    theirs = '[[hooks]]\nevent = "Stop"\ncommand = "their-tool" # theirs\n'
    block = f'# mine\nmodel = "x" # the model\n\n{theirs}\n# about b\n[b]\nlist = [\n  [1],\n]\n'
    return {
        "hooks of others": block,
        "no final newline": block.removesuffix("\n"),
        "CRLF": block.replace("\n", "\r\n"),
        "no hooks yet": 'a = 1\n\n[b]\nc = "[[hooks]]"\n',
        "hooks at the end": f"a = 1\n{theirs}",
        "hooks apart": f"{theirs}\n[b]\nc = 1\n\n{theirs}# the end\n",
        "text of several lines": f'a = """\n[[hooks]]\n"""\n\n{theirs}',
        "an empty list": "hooks = [] # none\nb = 2\n\n[c]\nd = 1\n",
        "only a comment": "# nothing yet\n",
    }
