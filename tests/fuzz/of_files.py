"""Files that people and other programs write: configuration, policy, agents, rules, grants."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from tests.fuzz.target import Target, demand
from watchgate.agents.table import table_file as agent_file
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.base.clock import Instant
from watchgate.core.base.config_text import ConfigError
from watchgate.core.config import config
from watchgate.core.policy.importing import claude_rules, codex_rules, gemini_rules
from watchgate.core.policy.importing.imported_rule import Imported, ImportFault
from watchgate.core.policy.inputs.rule_file import Tier
from watchgate.core.policy.judging import rule_examples
from watchgate.core.policy.judging.rule_examples import check_examples
from watchgate.core.policy.rules import load
from watchgate.core.policy.rules.compiled_rule import Rule
from watchgate.core.policy.rules.load import PolicyError
from watchgate.core.policy.rules.policy import Policy
from watchgate.service.hub import grant_sync
from watchgate.service.hub.grant_sync import GrantsError
from watchgate.service.prices.price_files import read_fetched, read_resolved
from watchgate.service.setup import manifest, opencode_plugin, synaps_plugin
from watchgate.service.setup.codex_trust import codex_trusts
from watchgate.service.setup.forms import json_edit, toml_edit
from watchgate.service.setup.forms.form_editor import FormError
from watchgate.service.setup.manifest import ManifestError
from watchgate.service.system import off_switch
from watchgate.service.usage.usage_cache import UsageCache


@cache
def folder() -> Path:
    """A folder of this process alone, gone with it."""
    made = tempfile.TemporaryDirectory(prefix="wg-fuzz-")
    _KEPT.append(made)
    return Path(made.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def written(name: str, data: bytes) -> Path:
    """These bytes as a file of ours alone."""
    path = folder() / name
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def configuration(data: bytes) -> None:
    """`config.toml`: what passes has a value and a place for every key."""
    text = _text(data)
    found = config.load(text, "config.toml")
    given = config.origins(text, "config.toml")
    demand(config.effective(found, given), "every key has a value")


def policy(tier: Tier, data: bytes) -> None:
    """A policy file of a tier, compiled and held against its own examples."""
    loaded = load.load(_text(data), "policy.toml", tier)
    made = Policy.of((loaded,))
    check_examples(made, loaded)
    if tier == "project":
        demand(not any(map(_allows, made.rules)), "a project's file only adds ask and deny")


def _allows(rule: Rule) -> bool:
    return rule.decision == "allow"


def agent_table(data: bytes) -> None:
    """A file of `agents.d`: an agent that passes can be asked and told like any other."""
    table = agent_file.load_table(_text(data), "agent.toml")
    made = TableAdapter(table)
    for entry in made.entries("guard"):
        closed = made.closed(entry.event, entry.lane, "no")
        denies = entry.lane != "gate" or closed.stdout or closed.exit_code
        demand(denies, "a hook on the gate lane denies where nobody can be asked")


def imported(read: Callable[[str], tuple[Imported, ...]], data: bytes) -> None:
    """Rules of another agent: none of them allows more than it was written to."""
    for each in read(_text(data)):
        allows = each.rule is not None and each.rule.decision == "allow"
        demand(not allows or each.decision == "allow", "nothing is allowed that was not")


def grants(data: bytes) -> None:
    """`grants.json`; what is read is written and read again the same."""
    found = grant_sync.load_grants(written("grants.json", data))
    path = folder() / "grants-again.json"
    grant_sync.save_grants(path, found)
    demand(grant_sync.load_grants(path) == found, "the same when read again")


def off(data: bytes) -> None:
    """The off switch: only a later second, or this boot, keeps the gate off."""
    now = Instant(1_795_000_000_000_000, 5.0)
    found = off_switch.read_switch(written("off", data), now)
    if found is not None:
        found.words()
        word = data[:99].decode("ascii", "replace").strip()
        still = word.isdecimal() and int(word) * 1_000_000 > now.wall_us
        demand(still or word == f"boot {off_switch.boot_id()}", "in force only while it says so")


def integrity(data: bytes) -> None:
    """What was installed, and what the core before knew of it."""
    found, why = manifest.load_snapshot(written("integrity.json", data))
    demand(not why or found == manifest.IntegritySnapshot(), "what cannot be read says nothing")


def installed(data: bytes) -> None:
    """The list of what was installed."""
    manifest.load_manifest(written("manifest.json", data))


def prices(data: bytes) -> None:
    """What was resolved by a table of prices: nothing where it is not sound."""
    read_resolved(written("tariffs.json", data), "t")


def fetched(data: bytes) -> None:
    """A table of prices that was fetched."""
    read_fetched(written("prices.json", data))


def usage_cache(data: bytes) -> None:
    """What is remembered of files of usage: read only where it is whole and of this version."""
    home = folder() / "cache"
    cached = UsageCache(home)
    cached.save(("a", "/w"), ())
    path = next(home.iterdir())
    path.write_bytes(data)
    demand(cached.entry(("a", "/w"), b"n") is None, "nothing is believed that was not kept")


def json_settings(data: bytes) -> None:
    """JSON of an agent's settings, with the place of every value."""
    text = _text(data)
    for lenient in (False, True):
        try:
            node = json_edit.scan(text, comments=lenient)
        except FormError:
            continue
        node.load(text) if not lenient else None


def toml_settings(data: bytes) -> None:
    """TOML of an agent's settings; what is ours can be taken out."""
    text = _text(data)
    blocks, _ = toml_edit._blocks(text)
    toml_edit._cut(text, blocks)


def trusted(data: bytes) -> None:
    """What Codex keeps of the hooks that it trusts; doubt is no trust."""
    hooks = written("hooks.json", data.partition(b"\0")[0])
    written("config.toml", data.partition(b"\0")[2])
    codex_trusts(hooks)


def _cases(data: bytes) -> None:
    for _, case in rule_examples.read_cases(data):
        case.subject(cwd="/w", home="/home/me", own=())


def _plugin(data: bytes) -> None:
    list(opencode_plugin.commands(_text(data)))
    opencode_plugin.lanes(_text(data))
    synaps_plugin.synaps_lanes(_text(data))


def _text(data: bytes) -> str:
    """A file as it is opened: what is no UTF-8 was refused before."""
    return data.decode("utf-8", "replace")


BROKEN = (b'{"version":"\xff"}', b'{"a":' + b"[" * 5_000)
"""What a decoder of JSON raises something else over than that it is none."""

_RULE = b"""
version = 1
[[rule]]
id = "team.no-deploy"
decision = "ask"
reason = "It goes live."
risk = "high"
command = { program = ["make", "git*"], sub = "deploy", flags = ["-f"] }
paths = { any = ["/srv/**"] }
match = ["make deploy -f /srv/a"]
"""

FILES = {
    "config": Target(
        feed=configuration,
        refusals=(ConfigError,),
        seeds=(
            b'profile = "guard"\n[approval]\ntimeout_s = 30\n[ui]\nkeys = { quit = "q" }\n',
            (
                b'[[handler]]\nid = "h"\non = ["tool.pre"]\ncommand = ["true"]\ntimeout_s = 2\n'
                b'[[sink]]\ntype = "jsonl"\npath = "/tmp/x"\n'
            ),
            b'[journal]\nmax_age_days = 9\n[[price]]\nmodel = "m"\ninput = 1.5\noutput = 2\n',
        ),
    ),
    "policy-user": Target(
        feed=partial(policy, "user"),
        refusals=(PolicyError,),
        seeds=(
            _RULE,
            (
                b'version = 1\n[sets]\nhosts = ["a.example"]\n[[rule]]\nid = "a.b"\n'
                b'decision = "deny"\nreason = "No."\nraw = ["rm +-rf"]\n'
                b"until = 2030-01-01T00:00:00Z\n"
            ),
        ),
    ),
    "policy-project": Target(
        feed=partial(policy, "project"), refusals=(PolicyError,), seeds=(_RULE,)
    ),
    "agents-d": Target(
        feed=agent_table,
        refusals=(ConfigError,),
        seeds=(
            (
                b'name = "mine"\ntitle = "Mine"\nexperimental = true\n[fields]\nevent = "event"\n'
                b'[events.before]\nkind = "tool.pre"\n[events.before.answers]\n'
                b'deny = { stdout = { ok = false, why = "@" } }\n'
                b'[[hooks]]\nevent = "before"\nlane = "gate"\n[classes]\nsh = "shell"\n'
            ),
        ),
    ),
    "import-claude": Target(
        feed=partial(imported, partial(claude_rules.read, base="/w")),
        found=(b"{" + b'"a":{' * 5_000,),
        refusals=(ImportFault,),
        seeds=(
            b'{"permissions":{"allow":["Bash(npm run *)","Read(//a/**)"],"deny":["WebFetch"]}}',
        ),
    ),
    "import-codex": Target(
        feed=partial(imported, codex_rules.read),
        refusals=(ImportFault,),
        seeds=(
            b'prefix_rule(pattern=["git", ["a", "b"]], decision="allow", match=[["git", "a"]])',
        ),
    ),
    "import-gemini": Target(
        feed=partial(imported, gemini_rules.read),
        found=(b"a = " + b"9" * 5_000, b"a = " + b"[" * 5_000),
        refusals=(ImportFault,),
        seeds=(
            (
                b'[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "git"\n'
                b'decision = "allow"\npriority = 10\n'
            ),
        ),
    ),
    "cases": Target(
        feed=_cases,
        found=BROKEN,
        refusals=(rule_examples.CaseError,),
        seeds=(b'{"command":"ls","expected":"allow"}\n{"tool":"Read","input":{},"risk":"low"}\n',),
    ),
    "grants": Target(
        feed=grants,
        found=BROKEN,
        refusals=(GrantsError,),
        seeds=(
            (
                b'{"version":1,"grants":[{"id":"r1","scope":"always","agent":"claude","session":"s",'
                b'"folder":"/w","tool":"Bash","summary":"ls","by":"ann","given_at":1,'
                b'"rules":[{"words":["ls"],"more":true,"tool":"Bash"}],"answers":["a"],"until_at":2}]}'
            ),
        ),
    ),
    "off-switch": Target(feed=off, seeds=(b"1795000060\n", b"1\n", b"boot 0-1\n")),
    "integrity": Target(
        feed=integrity,
        found=BROKEN,
        seeds=(b'{"version":1,"entries":[]}', b'{"version":1,"policy":{"/a":"d"},"told":[]}'),
    ),
    "installed": Target(
        feed=installed,
        found=BROKEN,
        refusals=(ManifestError,),
        seeds=(b'{"version":1,"entries":[]}',),
    ),
    "prices": Target(
        feed=prices,
        seeds=(b'{"format":1,"table":"t","date":"d","found":[[["p","m",""],null]]}',),
    ),
    "prices-fetched": Target(
        feed=fetched,
        refusals=(ValueError,),
        seeds=(b'{"fetched_us":1,"url":"https://a.example","providers":[]}',),
    ),
    "usage-cache": Target(feed=usage_cache, seeds=(b"\x94\xa1v\xa1a\xa2/w\x90",)),
    "json-settings": Target(
        feed=json_settings,
        found=(b'{"a":' + b"9" * 5_000 + b"}",),
        seeds=(b'{"hooks":{"a":[{"command":"x"}]},"b":1.5e3,"c":null}',),
    ),
    "toml-settings": Target(
        feed=toml_settings,
        found=(b"a = " + b"9" * 5_000, b"a = " + b"[" * 5_000),
        refusals=(FormError,),
        seeds=(b'a = 1\n[[hooks]]\nevent = "x"\ncommand = "y"\n\n[b]\nc = """\nd"""\n',),
    ),
    "codex-trust": Target(
        feed=trusted,
        found=(b"{}\0a = " + b"[" * 5_000, b'{"hooks":' + b"[" * 5_000 + b"\0[hooks.state]\n"),
        seeds=(
            (
                b'{"hooks":{"PreToolUse":[{"hooks":[{"command":"ls"}]}]}}\0'
                b'[hooks.state."x"]\ntrusted_hash = "h"\n'
            ),
        ),
    ),
    "opencode-plugin": Target(
        feed=_plugin,
        found=(opencode_plugin._WRITTEN.encode() + b'{"x":' + b"[" * 5_000,),
        seeds=(
            opencode_plugin._WRITTEN.encode()
            + b'{"python":"/p","client":"/c","socket":"/s","deadline_s":9,'
            b'"lanes":{"tool.execute.before":"gate"},"strict":true,"closed":"x"}\n',
            b'{"name":"watchgate","extension":{"args":["/s","gate"]}}',
        ),
    ),
}
