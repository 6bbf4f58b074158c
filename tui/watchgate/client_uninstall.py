"""Takes every hook of watchgate out, and then itself: for when the program is gone.

    python3 uninstall.py [--dry-run]

Lies beside the hook client, whose denials name it, and needs Python 3.8 and no package. What it
knows is the list of what was installed and the backups. A file that is still what was written gets
its old bytes back; from another one exactly our entries are taken, where it is plain JSON or TOML.
What only a person can edit is named with its lines, and stays. It does nothing while the program is
there: `watchgate uninstall --all` knows more forms, and leaves comments alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHELL, HOOK, NAME = "/bin/sh -c ", " watchgate-hook ", "watchgate"
SCRIPT = f"#!/bin/sh\nexec {SHELL}"
CODE = (".js", ".py")
BOM = b"\xef\xbb\xbf"
OWN = "client.py watchgate_client.py hook-client program installed.json installed.lock uninstall.py"
BACKUP = re.compile(r"[0-9a-f]{16}\.(json|before)")
BYTECODE = re.compile(r"watchgate_client\.[0-9a-f]+\.pyc")
TABLE = re.compile(r"(?m)^(?:\r?\n)?\[\[hooks\]\]\r?\n(?:[^\[#\r\n].*\n?)*")
OURS = object()
"""Stands in the place of what is to be taken out."""


class Unclear(Exception):
    """Only a person can edit this file; the message says why."""


def loaded(path: Path) -> dict[str, Any]:
    """Return what a file of ours says; nothing where it cannot be read."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def note_of(path: Path) -> dict[str, Any]:
    """Return what was noted of an edited file, empty without a note."""
    name = hashlib.sha256(bytes(path)).hexdigest()[:16]
    note = loaded(HERE / "backups" / f"{name}.json")
    if note.get("existed"):
        note["before"] = (HERE / "backups" / f"{name}.before").read_bytes()
    return note


def made_for(path: Path) -> list[str]:
    """The folders that were made for a file of ours."""
    made: list[str] = note_of(path).get("made", [])
    return made


def edited_files() -> list[Path]:
    """Every file that the list or a backup names, behind all links."""
    entries = loaded(HERE / "installed.json").get("entries", [])
    found = {str(each["path"]) for each in entries if each["part"] == "hooks"}
    notes = (loaded(each) for each in (HERE / "backups").glob("*.json"))
    found.update(str(note["path"]) for note in notes if "path" in note)
    return sorted({Path(each).resolve() for each in found} - {HERE / "client.py"})


def without_hooks(path: Path, content: bytes) -> bytes | None:
    """The file as it is to be; None where it is to be gone. Raises `Unclear`."""
    note = note_of(path)
    before: bytes | None = note.get("before")
    if note.get("written_sha256") == hashlib.sha256(content).hexdigest():
        return before
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unclear("it is not UTF-8") from None
    is_code = path.suffix in CODE and NAME in text
    if is_code or text.startswith(SCRIPT):
        return before
    if HOOK not in text:
        return content
    if path.suffix == ".toml":
        return tables_of_others(text).encode()
    left = json_of_others(text)
    if left.strip() == "{}" and before is None:
        return None
    return (BOM if content.startswith(BOM) else b"") + left.encode()


def tables_of_others(text: str) -> str:
    """A TOML text without our `[[hooks]]`, each with the empty line before it."""
    return TABLE.sub(lambda found: "" if HOOK in found.group() else found.group(), text)


def json_of_others(text: str) -> str:
    """A JSON text without our entries, written as agents write it. Raises `Unclear`."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise Unclear("it has a key twice")
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=once)
    except ValueError as fault:
        raise Unclear(f"it is no plain JSON ({fault})") from None
    found = re.search(r"\n([ \t]+)\S", text)
    indent = found.group(1) if found else None
    left = json.dumps(without_ours(value, inside=False), indent=indent, ensure_ascii=False)
    left += "\n" if text.endswith("\n") else ""
    return left.replace("\n", "\r\n") if "\r\n" in text else left


def without_ours(value: Any, *, inside: bool = True) -> Any:
    """A value without what is ours, and without what that leaves empty."""
    if isinstance(value, list):
        others = [each for each in map(without_ours, value) if each is not OURS]
        return OURS if value and not others else others
    if not isinstance(value, dict):
        return value
    words = [each for each in value.values() if isinstance(each, str)]
    if any(each.startswith(SHELL) and HOOK in each for each in words):
        return OURS
    found = {key: without_ours(each) for key, each in value.items()}
    left = {key: each for key, each in found.items() if each is not OURS}
    # A group of hooks without hooks is nothing to its agent, whatever else it says.
    emptied = found.get("hooks") is OURS or (bool(found) and not left)
    return OURS if inside and emptied else left


def write(path: Path, content: bytes | None) -> None:
    """Put this into the place of the file, with its mode; None removes it."""
    if content is None:
        path.unlink()
        return
    mode = path.stat().st_mode & 0o7777
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".watchgate.", delete=False) as file:
        file.write(content)
    fresh = Path(file.name)
    fresh.chmod(mode)
    fresh.replace(path)


def one(path: Path, *, dry_run: bool) -> str:
    """Take our hooks out of one file, and say what was done. Raises `Unclear` and `OSError`."""
    content = path.read_bytes() if path.exists() else None
    after = None if content is None else without_hooks(path, content)
    if content == after:
        return "no hooks of watchgate"
    if not dry_run:
        write(path, after)
    return "removed" if after is None else "has no hooks of watchgate any more"


def lines_with_hooks(path: Path) -> str:
    """Return where a person has to look."""
    text = path.read_bytes().decode("utf-8", "replace").splitlines()
    return ", ".join(str(at) for at, line in enumerate(text, 1) if HOOK in line)


def leave(folders: set[Path]) -> None:
    """Remove the client, what lies with it, and the folders that were made for hooks."""
    ours = [HERE / name for name in OWN.split()]
    ours += [each for each in HERE.glob("backups/*") if BACKUP.fullmatch(each.name)]
    ours += [each for each in HERE.glob("__pycache__/*") if BYTECODE.fullmatch(each.name)]
    for path in ours:
        with suppress(FileNotFoundError):
            path.unlink()
    made = sorted(folders, key=lambda each: len(each.parts), reverse=True)
    for folder in (HERE / "backups", HERE / "__pycache__", HERE, *made):
        with suppress(OSError):
            folder.rmdir()


def is_done(path: Path, *, dry_run: bool) -> bool:
    """Take our hooks out of one file, and print what became of it."""
    try:
        print(f"{path}: {one(path, dry_run=dry_run)}")
    except Unclear as fault:
        print(f"{path}: take the hooks out by hand, in line {lines_with_hooks(path)}: {fault}")
        return False
    except OSError as fault:
        print(f"{path}: {fault.strerror}, so nothing was changed")
        return False
    return True


def main() -> int:
    """Go through all files; what cannot be done in one is said, and the others are done."""
    program, dry_run = HERE / "program", "--dry-run" in sys.argv[1:]
    if program.exists():
        print(f"watchgate is installed ({program.resolve()}): run watchgate uninstall --all")
        return 1
    paths = edited_files()
    folders = {each for path in (HERE / "client.py", *paths) for each in made_for(path)}
    failed = [path for path in paths if not is_done(path, dry_run=dry_run)]
    if failed:
        print("The hook client stays until that is done, as hooks without it deny every call.")
    elif not dry_run:
        leave({Path(each) for each in folders})
        print(f"No hooks are left, and what lay in {HERE} for them is gone.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
