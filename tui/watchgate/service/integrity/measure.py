"""Looks at a file that the gate rests on, and digests what is ours in it."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path, PurePath

import msgspec

from watchgate.agents.base import Setup
from watchgate.link.paths import UNINSTALLER
from watchgate.service.setup.forms import json_top
from watchgate.service.setup.forms.editor import Editor, FormError
from watchgate.service.setup.forms.json_table import JsonTable
from watchgate.service.setup.forms.known import editor
from watchgate.service.setup.forms.whole_file import WholeFile

BOM = b"\xef\xbb\xbf"


class Measured(msgspec.Struct, frozen=True):
    """The digest, the events that have an entry of ours, and why none could be read."""

    digest: str
    events: tuple[str, ...] = ()
    fault: str = ""


def of_client(content: bytes) -> Measured:
    """Measures a file of the hook client, whole."""
    return Measured(sha256(content).hexdigest())


def is_bytecode(path: str) -> bool:
    """Returns whether this is the compiled client, which hooks can do without."""
    return path.endswith(".pyc")


def is_uninstaller(path: str) -> bool:
    """Returns whether this is the script that a person runs once the program is gone."""
    return path.endswith(f"/{UNINSTALLER}")


def of_hooks(setup: Setup, path: str, content: bytes) -> Measured:
    """Measures our entries in an agent's file, with the switches that its hooks need."""
    edits = _editor(setup, path)
    try:
        text = content.removeprefix(BOM).decode()
        table = edits.ours_alone(text) if isinstance(edits, JsonTable) else edits.ours(text)
        unset = json_top.unset(text, setup) if table and isinstance(edits, JsonTable) else ()
    except UnicodeDecodeError as fault:
        return Measured(sha256(content).hexdigest(), fault=f"it is not UTF-8 ({fault.reason})")
    except (FormError, ValueError) as fault:
        return Measured(sha256(content).hexdigest(), fault=str(fault))
    # Whatever a file may hold: half a character, endless numbers, the dates of TOML.
    view = json.dumps([table, unset], sort_keys=True, default=str)
    return Measured(sha256(view.encode()).hexdigest(), tuple(table))


def _editor(setup: Setup, path: str) -> Editor:
    """Returns the editor by which this file was written; a script's name is its event."""
    name = PurePath(path).name
    if setup.form == "plugin" or name in {Path(each).name for each in setup.manifests}:
        return WholeFile("")
    return editor(setup, event=name)
