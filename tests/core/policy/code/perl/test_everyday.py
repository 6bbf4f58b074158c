"""Perl that agents write all day is read, and is no graver than what it does."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.policy.code.code_reading import CodeReading, read

COMPUTES = [
    "s/foo/bar/g",
    "print if /x/",
    "print unless /^\\s*#/",
    'print "$F[0] $F[-1]\\n"',
    "s/(\\d+)/$1 + 1/e",
    "s/(\\w+)/\\u$1/g",
    "s{a/b}{c/d}g",
    "s#/usr#/opt#",
    "s/\\r$//",
    "s/^(\\s*)version: .*/${1}version: 2/",
    's/\\$version = "[^"]*"/\\$version = "1.2"/',
    "s/'/\"/g",
    "s/user\\@host/x/",
    "s/(?<=a)b/c/; s/\\bfoo\\b/bar/gi",
    "BEGIN { undef $/ } s/<x>.*?<\\/x>//gs",
    "tr/a-z/A-Z/; print",
    "print if 5..10",
    "print if /start/ .. /end/",
    "$_ = '' if $. == 3",
    "print unless $seen{$_}++",
    'chomp; print "$_,"',
    "$s += $F[2]; END { print $s }",
    '$h{$_}++; END { print "$_ $h{$_}\\n" for sort { $h{$b} <=> $h{$a} } keys %h }',
    "print join(',', map { $_ * 2 } 1..5), \"\\n\"",
    "print sprintf('%.2f', 10 / 3)",
    'printf "%s\\n", $_ for 1..3',
    "print scalar localtime",
    "print time",
    'print "$^V\\n"',
    "print ucfirst lc $_",
    'if (/^(\\w+)\\s*=\\s*(.*)$/) { print "$1: $2\\n" }',
    'print "$1\\n" while /(\\w+)@/g',
    "@a = split /,/, $_; print $a[-1]",
    "my ($a, $b) = @ARGV; print $a",
    "while (<>) { print if $. > 5 }",
    "undef $/; $_ = <STDIN>; s/a\\nb/c/s; print",
    "print length($_) > 80 ? 'long' : 'short'",
    "print -s 'f'",
    "print 'yes' if -e 'f' && !-d 'f'",
    "say for grep { !/^#/ } @lines",
    "my $x = { a => [1, 2] }; print $x->{a}->[0], $$x{a}[1]",
    "use List::Util 'sum'; print sum(@F)",
    "use POSIX qw(strftime); print strftime('%Y', localtime)",
    "use JSON::PP; print JSON::PP->new->pretty->encode(decode_json(join '', <>))",
    "}{ print $.",
    "print STDERR 'x'",
    "print 'a' . 'b' x 3",
    '$n = () = /x/g; print "$n\\n"',
    "s/^/sprintf('%4d ', $.)/e",
    "print \"$x->{a}[0] @F $h{key} $h{'key'}\\n\"",
]

ACTS = {
    "open(my $fh, '<', 'a.txt') or die; while (<$fh>) { print }": ("cat", "a.txt"),
    "open my $o, '>', 'out.txt' or die \"x: $!\"; print $o 'x'; close $o": ("tee", "out.txt"),
    "open(my $o, '>>', 'log'); print $o 'x'": ("tee", "-a", "log"),
    "open(F, 'a.txt'); print <F>": ("cat", "a.txt"),
    "unlink 'a', 'b'": ("rm", "a", "b"),
    "mkdir 'out'": ("mkdir", "out"),
    "rename 'a', 'b'": ("mv", "a", "b"),
    "print `git status --short`": ("sh", "-c", "git status --short"),
    "system('git', 'log', '-1')": ("git", "log", "-1"),
    "system 'ls -l'": ("sh", "-c", "ls -l"),
    "print $ENV{HOME}": ("printenv", "HOME"),
    'print "$ENV{USER}\\n"': ("printenv", "USER"),
    "opendir(my $d, 'src'); print readdir $d": ("ls", "src"),
}

RUNS = [
    "perl -pe 's/a/b/' f",
    "perl -i -pe 's/a/b/g' src/a.py src/b.py",
    "perl -pi -e 's/a/b/' f.txt",
    "perl -i.bak -pe 's/a/b/' f.txt",
    "perl -0777 -i -pe 's/a\\nb/c/s' f",
    "perl -lane 'print $F[1]' f",
    "perl -F: -lane 'print $F[0]' users.txt",
    "perl -MList::Util=sum -lane 'print sum(@F)' f",
    "git diff | perl -ne 'print if /^[+]/'",
    "perl -Mstrict -we 'print 1'",
    "perl <<'E'\nprint 1;\nE",
]


@pytest.mark.parametrize("code", COMPUTES)
def test_what_only_computes_stands_for_no_command(code: str) -> None:
    assert read("perl", code) == CodeReading()


@pytest.mark.parametrize(("code", "command"), ACTS.items())
def test_what_acts_stands_for_the_command_that_does_the_same(
    code: str, command: tuple[str, ...]
) -> None:
    assert read("perl", code) == CodeReading((command,))


@pytest.mark.parametrize("command", RUNS)
def test_it_is_read_however_it_is_given(command: str) -> None:
    found = judge_command(command)

    assert (found.risk, found.opaque) == ("medium", False)
