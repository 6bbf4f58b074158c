"""JavaScript that agents write all day is read, and is no graver than what it does."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.policy.code.code_reading import CodeReading, read

COMPUTES = [
    "console.log(1 + 2)",
    "console.log('a'.repeat(3).toUpperCase())",
    "process.version",
    "process.versions.node + ' ' + process.platform",
    "console.log(process.versions)",
    "console.log(process.argv.slice(2))",
    "console.log(JSON.stringify({a: [1, 2]}, null, 2))",
    "JSON.stringify(JSON.parse('[1, 2]').map(n => n * 2))",
    "console.log([3, 1, 2].sort((a, b) => a - b).join(', '))",
    "const s = new Set('hello'); console.log([...s].length, Math.max(...[1, 2]))",
    "let sum = 0; for (let i = 0; i < 10; i++) { sum += i } console.log(sum)",
    "for (const [k, v] of Object.entries({a: 1})) console.log(k, v)",
    "console.log(new Date().toISOString().slice(0, 10))",
    "console.log(require('crypto').randomBytes(16).toString('hex'))",
    "crypto.randomUUID()",
    "require('crypto').createHash('sha256').update('x').digest('hex')",
    "const os = require('os'); console.log(os.cpus().length, os.totalmem())",
    "const path = require('path'); console.log(path.join('a', '..', 'b'))",
    "console.log(new URL('https://x.example/a?b=1').searchParams.get('b'))",
    "console.log(Buffer.from('aGk=', 'base64').toString())",
    "const f = n => n < 2 ? n : f(n - 1) + f(n - 2); console.log(f(10))",
    "function add(a, b) { return a + b } console.log(add(1, 2))",
    "class P { constructor(x) { this.x = x } get() { return this.x * 2 } } new P(2).get()",
    "(async () => { await new Promise(r => setTimeout(r, 10)); console.log('done') })()",
    "Promise.all([1, 2].map(async n => n * 2)).then(all => console.log(all))",
    "try { JSON.parse('{') } catch (error) { console.error(error.message); process.exit(1) }",
    "const m = /v(\\d+)\\.(\\d+)/.exec('v1.2'); if (m) console.log(m[1], m[2])",
    "console.log('a,b\\nc,d'.split('\\n').map(l => l.split(',')).filter(r => r.length > 1))",
    "const c = {}; for (const w of 'a b a'.split(' ')) c[w] = (c[w] || 0) + 1; console.log(c)",
    "const seen = new Map(); seen.set('a', 1); console.log(seen.get('a') ?? 0, seen.size)",
    "console.log(typeof fetch, typeof structuredClone)",
    "console.log(Object.keys(require('fs')).length)",
    "console.log(Intl.DateTimeFormat().resolvedOptions().timeZone)",
    "console.log([1, [2, [3]]].flat(Infinity), 'x'.padStart(3, '0'))",
    "switch (process.platform) { case 'a': console.log(1); break; default: console.log(2) }",
    "const util = require('util'); console.log(util.inspect({a: {b: {c: 1}}}, {depth: 5}))",
    "let d = ''; process.stdin.on('data', c => d += c).on('end', () => console.log(d.length))",
    "let s=''; process.stdin.on('end',()=>{const j=JSON.parse(s); console.log(j.a.map(x=>x.b))})",
    "const {performance} = require('perf_hooks'); const t = performance.now(); console.log(t)",
    "try { require.resolve('react'); console.log('yes') } catch { console.log('no') }",
    "console.log(require('react/package.json').version)",
    "console.log(require('semver').satisfies('1.2.3', '>=1'))",
    "const _ = require('lodash'); console.log(_.chunk([1, 2, 3], 2))",
    "import { basename } from 'node:path'; console.log(basename('/a/b.txt'))",
    "const { createHash } = await import('node:crypto'); console.log(createHash('md5'))",
    "process.stdout.write('no line end')",
    "console.table([{a: 1}, {a: 2}]); console.time('x'); console.timeEnd('x')",
    "console.log(`${1 + 1} and ${'a'.length}`)",
]

ACTS = {
    "console.log(require('./package.json').version)": ("cat", "./package.json"),
    "const p = require('./package.json'); for (const k of Object.keys(p.dependencies))"
    " console.log(k, p.dependencies[k])": ("cat", "./package.json"),
    "JSON.parse(require('fs').readFileSync('a.json', 'utf8')).name": ("cat", "a.json"),
    "JSON.parse(fs.readFileSync(0, 'utf8')).length": None,
    "const fs = require('node:fs'); console.log(fs.existsSync('dist'))": ("stat", "dist"),
    "fs.readdirSync('src').filter(f => f.endsWith('.ts')).map(f => f)": ("ls", "src"),
    "import fs from 'fs'; console.log(fs.statSync('a').size)": ("stat", "a"),
    "import { readFile as r } from 'fs/promises'; console.log(await r('a'))": ("cat", "a"),
    "const {promises: fs} = require('fs'); fs.readFile('a').then(console.log)": ("cat", "a"),
    "fs.createReadStream('a.log').on('data', c => console.log(c.length))": ("cat", "a.log"),
    "const f = 'a.ts'; const fs = require('fs'); fs.writeFileSync(f, fs.readFileSync(f, 'utf8')"
    ".replace(/old/g, 'new'))": ("tee", "a.ts"),
    "for (const f of ['a.ts', 'b.ts']) fs.appendFileSync(f, '\\n')": ("tee", "-a", "b.ts"),
    "['a', 'b'].forEach(name => fs.mkdirSync(`out/${name}`, {recursive: true}))": (
        "mkdir", "-p", "out/b",
    ),
    "fs.copyFileSync('a', 'b')": ("cp", "-r", "a", "b"),
    "require('fs').renameSync('a.js', 'a.mjs')": ("mv", "a.js", "a.mjs"),
    "fs.unlinkSync('a.tmp')": ("rm", "a.tmp"),
    "const path = require('path'); fs.readFileSync(path.join(__dirname, 'a', 'b.txt'))": (
        "cat", "a/b.txt",
    ),
    "require('child_process').execSync('git status --short', {encoding: 'utf8'}).trim()": (
        "sh", "-c", "git status --short",
    ),
    "const { spawnSync } = require('child_process');"
    " console.log(spawnSync('git', ['log', '-1']).stdout.toString())": ("git", "log", "-1"),
    "fetch('http://localhost:3000/health').then(r => r.json()).then(console.log)": (
        "curl", "http://localhost:3000/health",
    ),
    "fetch('https://x.example/a', {headers: {accept: 'text/html'}})": (
        "curl", "https://x.example/a",
    ),
    "require('http').get('http://localhost:3000/a', r => r.resume())": (
        "curl", "http://localhost:3000/a",
    ),
    "const {add} = require('./dist'); console.log(add(1, 2))": ("node", "./dist/index.js"),
    "require('express'); console.log('ok')": ("node", "node_modules/express/index.js"),
    "console.log(require('@scope/pkg').version)": ("node", "node_modules/@scope/pkg/index.js"),
    "import('./dist/index.js').then(m => console.log(Object.keys(m), m.add(1, 2)))": (
        "node", "./dist/index.js",
    ),
    "fetch('http://localhost:3000/a', {method: 'POST', body: JSON.stringify({a: 1})})": (
        "curl", "-X", "POST", "-d", "body", "http://localhost:3000/a",
    ),
    "process.env.NODE_ENV = 'test'; console.log(process.env.NODE_ENV)": ("printenv", "NODE_ENV"),
}  # fmt: skip

RUNS = [
    "node -p process.version",
    "node -pe '1 + 1'",
    "nodejs -e 'console.log(1)'",
    "node --print 'process.platform'",
    "node --input-type=module -e 'console.log(1)'",
    "node --no-warnings -e 'console.log(1)'",
    "node <<'E'\nconsole.log(1)\nE",
    "node - <<'E'\nconst x = 1;\nconsole.log(x)\nE",
    "echo 'console.log(1)' | node",
    "cat a.json | node -e 'console.log(JSON.parse(require(\"fs\").readFileSync(0)).a)'",
    "cat > x.js <<'E'\nconsole.log(1)\nE\nnode x.js",
    "bun -e 'console.log(Bun.version)'",
    "deno eval 'console.log(Deno.version.deno)'",
    "deno eval -p '1 + 1'",
]


@pytest.mark.parametrize("code", COMPUTES)
def test_what_only_computes_stands_for_no_command(code: str) -> None:
    assert read("node", code) == CodeReading()


@pytest.mark.parametrize(("code", "command"), ACTS.items())
def test_what_acts_stands_for_the_command_that_does_the_same(
    code: str, command: tuple[str, ...] | None
) -> None:
    reading = read("node", code)

    assert reading.unread == ""
    assert command in (reading.commands if command else (None,))


@pytest.mark.parametrize("command", RUNS)
def test_it_is_read_however_it_is_given(command: str) -> None:
    found = judge_command(command)

    assert (found.risk, found.opaque) == ("medium", False)
