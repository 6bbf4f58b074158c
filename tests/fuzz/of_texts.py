"""Texts: commands that are judged, filters, targets, and what goes to a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC

from rich.text import Text

from tests.fuzz.target import Target, demand, text_of
from watchgate.core.base.text import safe_lines, safe_text, visible
from watchgate.core.filters.filter_parser import FilterError, parse
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Tool
from watchgate.core.policy.code import code_reading
from watchgate.core.policy.code.code_reading import MAX_COMMANDS
from watchgate.core.policy.code.python import python_reader
from watchgate.core.policy.code.sql.sql_clients import acts_in
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.judging.command_finder import commands
from watchgate.core.secrets.redact import redact
from watchgate.core.tools.edit_blocks import difference
from watchgate.core.tools.edited_text import edited
from watchgate.core.tools.tool_input import input_hash
from watchgate.link.ssh import BadTarget, parse_target, ssh_argv
from watchgate.service.policies.policy_files import shipped
from watchgate.service.system.off_switch import LONGEST_S, off_seconds
from watchgate.ui.notifications.terminal_sequences import TEXT_CELLS, plain, sequence

_NOW_US = 1_795_000_000_000_000
_GRAVE = "rm -rf /\n"
_UNSEEN = ("Cc", "Cs", "Zl", "Zp")
_MOST_COMMANDS = MAX_COMMANDS + 1
_MOST_FINDINGS = 2_000


def command(data: bytes) -> None:
    """Any command line is judged; what runs behind a grave one does not make it harmless."""
    # A command comes in JSON, which cannot hold half a surrogate pair.
    text = data.decode("utf-8", "replace")
    found = commands(text)
    for each in found.commands:
        for word in each.words:
            demand(isinstance(word.text, str), "words are texts")
    said = _judged(text)
    demand(said.decision in ("allow", "ask", "deny", "none"), "a decision there is")
    demand(len(said.findings) <= _MOST_FINDINGS, "what is found is bounded")
    demand(not found.opaque or said.decision != "allow", "what cannot be read is not allowed")
    grave = _judged(_GRAVE + text)
    demand(grave.decision in ("ask", "deny"), "what begins gravely is asked about")


def _judged(text: str) -> Assessment:
    given = {"command": text}
    tool = Tool(
        name="Bash",
        native_name="Bash",
        cls="shell",
        input=given,
        input_hash=input_hash(given, "shell"),
    )
    return assess(Subject(tool=tool, cwd="/home/me/w", home="/home/me"), shipped(), _NOW_US)


def sql(data: bytes) -> None:
    """Any text as SQL: a statement behind a grave one does not make it harmless."""
    text = text_of(data)
    acts_in(text, "postgres")
    kinds = {act.kind for act in acts_in(f"drop table t;\n{text}", "postgres")}
    demand(bool(kinds & {"drop", "unread"}), "what begins gravely is grave")


def python(data: bytes) -> None:
    """Any text as Python: what it does, in commands that have words."""
    found = python_reader.read(text_of(data))
    for argv in found.commands:
        demand(bool(argv) and isinstance(argv[0], str), "a program, by its name")
    demand(len(found.commands) <= _MOST_COMMANDS, "what it does is bounded")


def code_of(program: str) -> Callable[[bytes], None]:
    """Any text as the code of a program: what it does, in commands that have words."""

    def take(data: bytes) -> None:
        found = code_reading.read(program, text_of(data))
        demand(all(found.commands), "every command has a word")
        demand(len(found.commands) <= _MOST_COMMANDS, "what it does is bounded")
        demand(found.unread or not any(map(_has_no_program, found.commands)), "a program, by name")

    return take


def _has_no_program(argv: code_reading.Argv) -> bool:
    return not isinstance(argv[0], str)


def filters(data: bytes) -> None:
    """A filter, or a fault that points into its text."""
    text = text_of(data)
    try:
        parse(text, now_us=_NOW_US, zone=UTC)
    except FilterError as fault:
        demand(0 <= fault.position <= len(text), "the fault lies within")
        raise


def targets(data: bytes) -> None:
    """A machine, which ssh takes for nothing else."""
    target = parse_target(text_of(data))
    demand(parse_target(str(target)) == target, "the same when written and read")
    argv = ssh_argv(target)
    demand(all(each and "\0" not in each for each in argv), "words of a command")
    demand(not target.host.startswith("-") and not (target.user or "").startswith("-"), "no option")


def shown(data: bytes) -> None:
    """What is shown obeys nothing, hides nothing and stays on its lines."""
    text = text_of(data)
    safe = safe_text(text)
    for char in safe:
        demand(unicodedata.category(char) not in _UNSEEN, "no control character is left")
    demand(safe_text(safe) == safe, "safe is safe already")
    demand(visible(text).text == safe, "marked and unmarked alike")
    demand(all(safe_text(line) == line for line in safe_lines(text)), "so is each line")
    demand(len(safe) <= 10 * len(text), "an escape is short")
    for cut in (0, len(text) // 2, len(text)):
        visible(text).map((0, cut))
    redact(text)
    difference(text, text[::2])


def notices(data: bytes) -> None:
    """What tells of a request cannot end its sequence, begin another, or be markup."""
    text = text_of(data)
    words = plain(text)
    demand(len(words) <= TEXT_CELLS + 3 and ";" not in words, "one field, short")
    for way in ("osc9", "osc777"):
        told = sequence(text, way=way, title=text)
        demand(told.count("\x1b") == 1 and told.count("\x07") == 1, "one sequence")
        inner = sequence(text, way=way, wrap="tmux")
        demand(inner.count("\x1b") == 4 and inner.count("\x07") == 1, "one within tmux")
    demand(Text(safe_text(text)).plain == safe_text(text), "never read as markup")


def spans(data: bytes) -> None:
    """How long the gate is to be off."""
    demand(0 <= off_seconds(text_of(data)) <= LONGEST_S, "for no longer than may be")


def edits(data: bytes) -> None:
    """The text that an operator made of a call."""
    text = text_of(data)
    tool = Tool(name="t", native_name="t", cls="other", input={"a": 1}, input_hash="h")
    demand(isinstance(edited(tool, text), dict), "an input is an object")


TEXTS = {
    "command": Target(
        feed=command,
        seeds=(
            b"git status && ls -la | head -3",
            b'for f in *.py; do echo "$f" $(cat <<EOF\nx\nEOF\n); done',
            b"sudo env A=1 bash -c 'rm -rf ~/x' > /tmp/out 2>&1",
            b"find . -name '*.o' -exec rm {} \\; ; echo ${x:-`id`} <(ls)",
            b"case $x in a) ls;; esac; if [[ -f a ]]; then :; fi; f() { ls; }; f",
        ),
    ),
    "sql": Target(
        feed=sql,
        seeds=(
            b"with a(b) as (select c->>'d' from e where f in (1, 2)) select g(h) from a -- i",
            b"update t set a = 'b' where c = 1 or d like '%'; \\d t",
            b"copy (select 1) to program 'x'; alter table t drop column u; /* v */ do $$ w $$",
        ),
    ),
    "python": Target(
        feed=python,
        seeds=(
            b"import os\nfor p in open('a'):\n    os.remove(f'x/{p}')\nprint(*[1], sep='')",
            b"from subprocess import run as r\nclass A:\n  def f(self, *a): r(['ls', *a])\nA().f()",
            b"with open('a', 'w') as f: f.write(__import__('json').dumps({**{'a': [2]}}))",
        ),
    ),
    "javascript": Target(
        feed=code_of("node"),
        seeds=(
            b"const {exec: x} = require('child_process'); for (const a of ['b', 'c']) x(`d ${a}`)",
            b"class A extends Error { m() { return this.x ?? fs.readFileSync('a') } } new A().m()",
            b"import f from 'fs/promises'; let {a = 1, ...r} = {}; f.rm('x', {recursive: !0})",
        ),
    ),
    "perl": Target(
        feed=code_of("perl"),
        seeds=(
            b"s{a}{`id $1`}e; print qq(b $h{c}[1] @d), <STDIN> if /e/ && -f 'g'",
            b"open(my $f, '<', 'a') or die; $h{$_}++ while <$f>; system(qw(b c)); tr/a/b/",
        ),
    ),
    "ruby": Target(
        feed=code_of("ruby"),
        seeds=(
            b'puts "a #{`id`} b" if x =~ /c/; %w[d e].each { |f| File.delete(f) }; h = {g: 1}',
            b"def f(x) x ? :a : 4 / 2 end; File.open('b', 'w') { |o| o.puts f(1) }; system 'c'",
        ),
    ),
    "awk": Target(
        feed=code_of("awk"),
        seeds=(
            b'/a[/]b/ && $1 > 5 {print $2, "c" | "sort"} END {while (("d" | getline e) > 0) n++}',
            b'{printf("%s\\n", $1 / 2) > "f"; system("g"); getline h < "i"} # j',
        ),
    ),
    "filter": Target(
        feed=filters,
        refusals=(FilterError,),
        seeds=(
            b'agent:codex risk>=high -tool:Read since:7d "git push"',
            b"took>5s *x until:2026-11-20",
        ),
    ),
    "ssh-target": Target(
        feed=targets, refusals=(BadTarget,), seeds=(b"ssh://ana@lab2:2222", b"ssh://[::1]/")
    ),
    "shown-text": Target(
        feed=shown, seeds=("ls \u202e\x1b[2Jx\r\n\u200b".encode(), b"[red]a[/] AWS_SECRET_KEY=abc")
    ),
    "notices": Target(feed=notices, seeds=(b"make; \x1b]0;x\x07 [b]x[/b]", "日本 🦀".encode())),
    "off-span": Target(feed=spans, refusals=(ValueError,), seeds=(b"30m", b"until-reboot")),
    "edited-text": Target(
        feed=edits,
        found=(b'{"a":"\xed\xa0\x80"}', b'{"a":' + b"[" * 5_000),
        refusals=(ValueError,),
        seeds=(b'{"a":[1,null]}',),
    ),
}
