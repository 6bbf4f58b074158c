"""`policy import`: permission rules of Claude Code, Codex or Gemini CLI as rules of ours."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Exit, Stop, complain, json_line

if TYPE_CHECKING:
    from watchgate.core.policy.importing.imported_rule import Imported

_IN_FOLDER = {"claude": "settings*.json", "codex": "*.rules", "gemini": "*.toml"}


def add_parsers(verbs: Any) -> None:
    """Adds the command."""
    taken = verbs.add_parser(
        "import",
        help="read the permission rules of an agent, and print them as a policy.toml",
        epilog="example: watchgate policy import claude ~/.claude/settings.json > policy.toml "
        "(nothing is changed; exit code 1 when a rule was refused)",
    )
    taken.add_argument("agent", choices=tuple(_IN_FOLDER))
    taken.add_argument("path", metavar="PATH", help="a file, or a folder of them")
    taken.add_argument("--append", action="store_true", help="no `version`: to add to a file")
    taken.add_argument(
        "--only-agent", action="store_true", help="rules for that agent's calls only"
    )
    taken.add_argument("--json", action="store_true", help="one JSON object for each rule there")
    taken.set_defaults(run=_import)


def _import(args: argparse.Namespace) -> int:
    from watchgate.core.policy.importing.imported_rule import with_ids
    from watchgate.core.policy.importing.rule_proof import (
        VERSION,
        check_import,
        fragment,
        limit_to_agent,
        note_conflict,
    )
    from watchgate.service.policies.policy_files import shipped

    files = _files(Path(args.path).expanduser(), _IN_FOLDER[args.agent])
    rules = [each for file in files for each in _read(args.agent, file)]
    if args.only_agent:
        rules = [limit_to_agent(each, args.agent) for each in rules]
    rules = [note_conflict(check_import(each), shipped()) for each in with_ids(args.agent, rules)]
    if args.json:
        for each in rules:
            json_line(_row(each))
    else:
        print(fragment(rules) if args.append else f"{VERSION}\n{fragment(rules)}", end="")
    counts = dict.fromkeys(("understood", "approximated", "refused"), 0)
    for each in rules:
        counts[each.outcome] += 1
    complain(", ".join(f"{count} {word}" for word, count in counts.items()))
    return Exit.REFUSED if counts["refused"] else Exit.DONE


def _files(path: Path, pattern: str) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob(pattern))
    if not files:
        raise Stop(f"{path} holds no {pattern}: name the file")
    return files


def _read(agent: str, file: Path) -> tuple[Imported, ...]:
    from watchgate.core.policy.importing import claude_rules, codex_rules, gemini_rules
    from watchgate.core.policy.importing.imported_rule import ImportFault

    try:
        text = file.read_text(encoding="utf-8")
        match agent:
            case "claude":
                return claude_rules.read(text, _base(file))
            case "codex":
                return codex_rules.read(text)
            case _:
                return gemini_rules.read(text)
    except OSError as fault:
        raise Stop(f"{file} cannot be read: {fault.strerror}") from None
    except UnicodeDecodeError as fault:
        raise Stop(f"{file} is no UTF-8 text: {fault.reason}") from None
    except ImportFault as fault:
        raise Stop(f"{file}: {fault}") from None


def _base(file: Path) -> str:
    """Returns the base of `/x` in Claude Code's settings: a project's folder, or `~/.claude`."""
    folder = file.absolute().parent
    if folder.name != ".claude":
        return str(folder)
    return "~/.claude" if folder.parent == Path.home() else str(folder.parent)


def _row(each: Imported) -> dict[str, Any]:
    from watchgate.core.policy.importing.rule_proof import rule_text

    return {
        "source": each.source,
        "decision": each.decision,
        "outcome": each.outcome,
        "note": each.note,
        "id": each.rule.id if each.rule else None,
        "toml": rule_text(each.rule) if each.rule else None,
    }
