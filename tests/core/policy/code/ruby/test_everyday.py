"""Ruby that agents write all day is read, and is no graver than what it does."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.policy.code.code_reading import CodeReading, read

COMPUTES = [
    "puts 1 + 1",
    "puts RUBY_VERSION",
    "puts [1, 2, 3].map { |x| x * 2 }.sum",
    "puts %w[a b c].map(&:upcase).join(', ')",
    "puts $_.upcase if /x/",
    "$_.gsub!(/foo/, 'bar')",
    'puts $_.sub(/a(\\d)/) { "b#{$1}" }',
    "print $_ unless $_ =~ /^\\s*#/",
    "puts $_.split(',')[1]",
    "x = 5; puts x / 2",
    "puts 10 / 3.0",
    "puts \"a\" =~ /b/ ? 'y' : 'n'",
    "def f(x) x * 2 end; puts f(3)",
    "puts Time.now.strftime('%Y-%m-%d')",
    "require 'date'; puts Date.today - 3",
    "puts (1..10).select(&:even?).inspect",
    "puts [3, 1].sort.reverse.first",
    "puts [1, 2].inject(:+)",
    "puts (1..5).reduce(1) { |a, b| a * b }",
    "h = Hash.new(0); $stdin.each_line { |l| h[l.chomp] += 1 }",
    'h = {}; h.sort_by { |k, v| -v }.each { |k, v| puts "#{k} #{v}" }',
    "begin; Integer('x'); rescue ArgumentError => e; puts e.message; end",
    "puts '%05.2f' % 3.14159",
    "puts 'abc'[0..1]",
    "p $stdin.read.scan(/\\w+/).tally",
    "require 'json'; puts JSON.pretty_generate(JSON.parse($stdin.read))",
    "puts Gem::Version.new('1.2') > Gem::Version.new('1.1')",
    "puts({a: 1, 'b': 2}.to_json)",
    "require 'securerandom'; puts SecureRandom.hex(16)",
    "require 'digest'; puts Digest::SHA256.hexdigest('x')",
    "require 'base64'; puts Base64.strict_encode64('x')",
    "p ''.class",
    "puts ARGV[0]",
    "puts ARGV.join(' ')",
    "if 1 > 0 then puts 'y' else puts 'n' end",
    "3.times { |i| puts i }",
    "loop do break end",
    "->(x) { x + 1 }.call(2)",
    "case 1 when Integer then puts 'i' end",
    "puts [1, nil].compact.each_with_index.map { |x, i| x + i }.inspect",
]

ACTS = {
    "puts File.read('a.txt').lines.count": ("cat", "a.txt"),
    "require 'json'; puts JSON.parse(File.read('a.json'))['name']": ("cat", "a.json"),
    "require 'yaml'; YAML.load_file('.github/ci.yml'); puts 'ok'": ("cat", ".github/ci.yml"),
    "File.foreach('a.txt').with_index { |l, i| puts l if i < 3 }": ("cat", "a.txt"),
    "Dir['*.rb'].each { |f| puts f }": ("ls", "*.rb"),
    "puts Dir.glob('src/**/*.rb').size": ("ls", "src/**/*.rb"),
    "puts File.exist?('a')": ("stat", "a"),
    "File.write('out.txt', 'x')": ("tee", "out.txt"),
    "File.open('a', 'w') { |f| f.puts 'x' }": ("tee", "a"),
    "File.delete('a')": ("rm", "a"),
    "require 'fileutils'; FileUtils.mkdir_p('a/b')": ("mkdir", "-p", "a/b"),
    "puts `git status --short`": ("sh", "-c", "git status --short"),
    "system('git', 'log', '-1')": ("git", "log", "-1"),
    "puts ENV['HOME']": ("printenv", "HOME"),
    "puts ENV.fetch('USER')": ("printenv", "USER"),
    "require 'net/http'; puts Net::HTTP.get(URI('http://localhost:3000/'))": (
        "curl", "http://localhost:3000/",
    ),
}  # fmt: skip

RUNS = [
    "ruby -e 'puts 1'",
    "ruby -ryaml -e 'YAML.load_file(\"a.yml\")'",
    "ruby -rjson -e 'puts JSON.parse($stdin.read)[\"a\"]' < a.json",
    "ruby -ne 'puts $_ if /x/' f",
    "ruby -pi -e '$_.gsub!(/a/, \"b\")' f.txt",
    "ruby <<'E'\nputs 1\nE",
    "ruby -c a.rb",
]


@pytest.mark.parametrize("code", COMPUTES)
def test_what_only_computes_stands_for_no_command(code: str) -> None:
    assert read("ruby", code) == CodeReading()


@pytest.mark.parametrize(("code", "command"), ACTS.items())
def test_what_acts_stands_for_the_command_that_does_the_same(
    code: str, command: tuple[str, ...]
) -> None:
    assert read("ruby", code) == CodeReading((command,))


@pytest.mark.parametrize("command", RUNS)
def test_it_is_read_however_it_is_given(command: str) -> None:
    found = judge_command(command)

    assert (found.risk, found.opaque) == ("medium", False)
