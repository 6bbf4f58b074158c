"""Takes every hook of watchgate out, and then itself: for when the program is gone.

    python3 uninstall.py [--dry-run]

Lies beside the hook client, whose denials name it, and needs Python 3.8 and no package. What it
knows is the list of what was installed and the backups. A file that is still what was written gets
its old bytes back; from another one exactly our entries are cut, where it is plain JSON or TOML.
What only a person can edit is named with its lines, and stays, and so does the client. It does
nothing while the program is there: `watchgate uninstall --all` knows more forms.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHELL, HOOK, NAME = "/bin/sh -c ", " watchgate-hook ", "watchgate"
READ = json.JSONDecoder().raw_decode
CALLS = ("watchgate-hook", f"{HERE.name}/client.py", f"{HERE.name}/hook-client")
"""The texts by which a line is known that runs the client, however somebody changed it."""
CHANGED = "take out by hand what still runs the hook client, as somebody changed it"
SCRIPT = f"#!/bin/sh\nexec {SHELL}"
CODE = (".js", ".py")
BOM = b"\xef\xbb\xbf"
LIST = "installed.json"
OWN = "client.py watchgate_client.py hook-client program installed.lock uninstall.py"
BACKUP = re.compile(r"[0-9a-f]{16}\.(json|before)")
BYTECODE = re.compile(r"watchgate_client\.[0-9a-f]+\.pyc")
PAIR = r'[ \t]*[\w-]+[ \t]*=[ \t]*(?:"(?:\\.|[^"\\\r\n])*"|\w+)[ \t]*(?:\r?\n|\Z)'
BEHIND = r"(?=\s*(?:#.*(?:\n\s*|\Z))*(?:\[|\Z))"
TABLE = re.compile(rf"(?m)^(?:\r?\n)?\[\[hooks\]\]\r?\n(?:{PAIR})+{BEHIND}")
"""A table of plain pairs, each in its line, behind which no pair of the same table follows."""
COMMAND = re.compile(rf'(?m)^[ \t]*command[ \t]*=[ \t]*"{SHELL}.*{HOOK}')
SEVERAL_LINES = ('"""', "'''")


class Unclear(Exception):
    """Only a person can edit this file; the message says why."""


def loaded(path: Path) -> dict[str, Any]:
    """Returns the JSON object in a file of ours; an empty one where it cannot be read."""
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def note_of(path: Path) -> dict[str, Any]:
    """Returns the note about an edited file, empty without one.

    The old bytes are in it only while their copy can be read.
    """
    name = hashlib.sha256(bytes(path)).hexdigest()[:16]
    note = loaded(HERE / "backups" / f"{name}.json")
    if note.get("existed"):
        with suppress(OSError):
            note["before"] = (HERE / "backups" / f"{name}.before").read_bytes()
    return note


def made_for(path: Path) -> list[str]:
    """The folders that were made for a file of ours."""
    made = note_of(path).get("made")
    return list(map(str, made)) if isinstance(made, list) else []


def edited_files() -> list[Path]:
    """Every file that the list or a backup names, behind all links."""
    listed = loaded(HERE / LIST).get("entries")
    entries = [each for each in listed if isinstance(each, dict)] if type(listed) is list else []
    notes = [loaded(each) for each in (HERE / "backups").glob("*.json")]
    hook_files = [each.get("path") for each in entries if each.get("part") == "hooks"]
    hook_files += [note.get("path") for note in notes]
    named = [each for each in hook_files if isinstance(each, str) and "\0" not in each]
    # No `resolve`, which fails where links lead in a circle.
    paths = {Path(os.path.realpath(each)) for each in named}
    return sorted(paths - {HERE / "client.py"})


def without_hooks(path: Path, content: bytes) -> bytes | None:
    """The file as it is to be; None where it is to be gone. Raises `Unclear`."""
    note = note_of(path)
    before: bytes | None = note.get("before")
    is_known = before is not None or not note.get("existed")
    if is_known and note.get("written_sha256") == hashlib.sha256(content).hexdigest():
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
    left = tables_of_others(text) if path.suffix == ".toml" else json_of_others(text)
    if left.strip() == "{}" and not note.get("existed"):
        return None
    return (BOM if content.startswith(BOM) else b"") + left.encode()


def lines_that_call(text: str) -> str:
    """Returns the numbers of the lines that name the client, for a person who has to look there."""
    lines = enumerate(text.replace("\\/", "/").split("\n"), 1)
    return ", ".join(str(at) for at, line in lines if any(each in line for each in CALLS))


def tables_of_others(text: str) -> str:
    """A TOML text without our `[[hooks]]`, each with the empty line before it."""

    def left(match: re.Match[str]) -> str:
        in_text = any(text.count(each, 0, match.start()) % 2 for each in SEVERAL_LINES)
        return match.group() if in_text or not COMMAND.search(match.group()) else ""

    return TABLE.sub(left, text)


def json_of_others(text: str) -> str:
    """A JSON text without our entries; every other byte is as it was. Raises `Unclear`."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise Unclear("it has a key twice")
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=once)
        start = after_space(text, 0)
        left, end, _value = cut(text, start, inside=False)
    except (ValueError, RecursionError) as fault:
        raise Unclear(f"it is no plain JSON ({fault})") from None
    return text[:start] + (left or "") + text[end:]


def after_space(text: str, at: int) -> int:
    """The place of the next thing that is no space."""
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at


def cut(text: str, start: int, *, inside: bool = True) -> tuple[str | None, int, Any]:
    """Returns the value that begins here without what is ours, its end, and a leaf's meaning.

    There is no text of what is ours, nor of what is empty without it.
    """
    opened = text[start]
    if opened not in "{[":
        leaf, end = READ(text, start)
        return text[start:end], end, leaf
    members: list[tuple[str, Any, str, str | None, str]] = []
    at = start
    while text[at] not in "}]":
        lead, at = at + 1, after_space(text, at + 1)
        if text[at] in "}]":
            return text[start : at + 1], at + 1, None
        first, key = at, ""
        if opened == "{":
            key, at = READ(text, at)
            at = after_space(text, after_space(text, at) + 1)
        left, end, leaf = cut(text, at)
        at, left = after_space(text, end), left and text[first:at] + left
        members.append((key, leaf, text[lead:first], left, text[end:at]))
    remaining = [each for each in members if each[3] is not None]
    # A group of hooks without hooks is nothing to its agent, whatever else it says.
    is_empty = not remaining or any(
        key == "hooks" and left is None for key, _, _, left, _ in members
    )
    if inside and (is_empty or any(key and is_hook(leaf) for key, leaf, _, _, _ in members)):
        return None, at + 1, None
    # The space at both edges stays, whichever entry stands there then.
    leads = [each[2] for each in members[:1] + remaining[1:]]
    tails = [each[4] for each in remaining[:-1] + members[-1:]]
    entries = [lead + str(each[3]) + tail for lead, each, tail in zip(leads, remaining, tails)]
    return opened + ",".join(entries) + text[at], at + 1, None


def is_hook(command: Any) -> bool:
    """Tells whether this is a command of ours, as it was written."""
    return isinstance(command, str) and command.startswith(SHELL) and HOOK in command


def write(path: Path, content: bytes | None) -> None:
    """Puts this into the place of the file, with its mode; None removes it."""
    if content is None:
        path.unlink()
        return
    descriptor, name = tempfile.mkstemp(prefix=".watchgate.", dir=path.parent)
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        fresh.chmod(path.stat().st_mode & 0o7777)
        fresh.replace(path)
    except BaseException:  # Ctrl-C, too
        with suppress(FileNotFoundError):
            fresh.unlink()
        raise


def one(path: Path, *, dry_run: bool) -> tuple[str, bool]:
    """Takes our hooks out of one file: what was done, and whether none is left in it.

    Raises `Unclear` and `OSError`.
    """
    content = path.read_bytes() if path.exists() else None
    after = None if content is None else without_hooks(path, content)
    if content != after and not dry_run:
        write(path, after)
    lines = lines_that_call((after or b"").decode("utf-8", "replace"))
    if lines:
        return f"{CHANGED}, in line {lines}", False
    if content == after:
        return "no hooks of watchgate", True
    if after is None:
        return "would be removed" if dry_run else "removed", True
    return f"{'would have' if dry_run else 'has'} no hooks of watchgate any more", True


def leave(folders: set[Path]) -> None:
    """Removes the client, what lies with it, and the folders that were made for hooks."""
    ours = [HERE / name for name in (*OWN.split(), LIST, f"{LIST}.unread")]
    ours += [each for each in HERE.glob("backups/*") if BACKUP.fullmatch(each.name)]
    ours += [each for each in HERE.glob("__pycache__/*") if BYTECODE.fullmatch(each.name)]
    for path in ours:
        with suppress(FileNotFoundError):
            path.unlink()
    made = sorted(folders, key=lambda each: len(each.parts), reverse=True)
    for folder in (HERE / "backups", HERE / "__pycache__", HERE, *made):
        with suppress(OSError):
            folder.rmdir()


def clean_file(path: Path, *, dry_run: bool) -> bool:
    """Takes our hooks out of one file, and prints what became of it."""
    try:
        message, is_clean = one(path, dry_run=dry_run)
    except Unclear as fault:
        lines = lines_that_call(path.read_bytes().decode("utf-8", "replace"))
        message, is_clean = f"take the hooks out by hand, in line {lines}: {fault}", False
    except OSError as fault:
        message, is_clean = f"{fault.strerror}, so nothing was changed", False
    say(f"{path}: {message}")
    return is_clean


def say(text: str) -> None:
    """Prints a line; whoever read may have left, which keeps nobody from leaving."""
    try:
        code = sys.stdout.encoding or "utf-8"
        print(text.encode(code, "backslashreplace").decode(code), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> int:
    """Goes through all files; what cannot be done in one is said, and the others are done."""
    program, dry_run = HERE / "program", "--dry-run" in sys.argv[1:]
    if program.exists():
        say(f"watchgate is installed ({program.resolve()}): run watchgate uninstall --all")
        return 1
    if (HERE / LIST).exists() and not loaded(HERE / LIST):
        say(f"{HERE / LIST} is damaged: only files with a backup are gone through")
    paths = edited_files()
    folders = {each for path in (HERE / "client.py", *paths) for each in made_for(path)}
    failed = [path for path in paths if not clean_file(path, dry_run=dry_run)]
    if failed:
        say("The hook client stays until that is done, as hooks without it deny every call.")
    elif dry_run:
        say(f"No hooks would be left, and what lies in {HERE} for them would be gone.")
    else:
        leave({Path(each) for each in folders})
        say(f"No hooks are left, and what lay in {HERE} for them is gone.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
