"""The names of JavaScript and its runtimes that are harmless, and the commands others stand for."""

from __future__ import annotations

import re

from watchgate.core.policy.shell.commands import names

# All that stands below these names computes, prints or tells something of the machine.
_HARMLESS = names(
    """console JSON Math Intl Number String Boolean BigInt Symbol Date RegExp Map Set WeakMap
    WeakSet Error TypeError RangeError SyntaxError EvalError URIError AggregateError Array Buffer
    URL URLSearchParams TextEncoder TextDecoder Uint8Array Int8Array Uint16Array Int16Array
    Uint32Array Int32Array Float32Array Float64Array BigInt64Array BigUint64Array ArrayBuffer
    DataView performance structuredClone parseInt parseFloat isNaN isFinite encodeURIComponent
    decodeURIComponent encodeURI decodeURI atob btoa setTimeout setInterval setImmediate
    clearTimeout clearInterval clearImmediate queueMicrotask Promise AbortController AbortSignal
    Event EventTarget NaN Infinity undefined path util url querystring assert buffer string_decoder
    punycode crypto os zlib readline events perf_hooks timers stream fs.constants net.isIP
    net.isIPv4 net.isIPv6 module.builtinModules require.resolve process.version process.versions
    process.argv
    process.argv0 process.platform process.arch process.cwd process.pid process.ppid
    process.memoryUsage process.uptime process.hrtime process.stdout process.stderr process.stdin
    process.exit process.exitCode process.on process.once process.nextTick process.release
    process.title process.execPath process.execArgv process.features process.config
    process.emitWarning process.getuid process.geteuid process.getgid process.cpuUsage
    process.resourceUsage process.abort process.removeAllListeners process.off Object.keys
    Object.values Object.entries Object.assign Object.fromEntries Object.freeze Object.seal
    Object.is Object.isFrozen Object.hasOwn Object.groupBy Object.getOwnPropertyNames Bun.version
    Bun.revision Bun.argv Bun.main Bun.nanoseconds Bun.hash Bun.sleep Bun.inspect Deno.version
    Deno.args Deno.build Deno.cwd Deno.pid Deno.exit Deno.inspect Deno.stdout Deno.stderr Deno.stdin
    Deno.memoryUsage fs.close fs.read fs.write fs.writev fs.readv fs.fstat fs.fsync"""
)
# These stand below such a name and are not harmless.
_HARMFUL = names(
    "crypto.setEngine os.setPriority path.constructor readline.promises stream.compose"
)
# They show what they are given, and never hand it on.
SHOWS = re.compile(r"console\.\w+|Object\.(?:keys|getOwnPropertyNames)|util\.inspect")
COPIES = names("Object.entries Object.values JSON.stringify structuredClone")
"""They make something new of what they are given."""


ACTING_MODULES = names(
    """vm worker_threads inspector repl cluster v8 dgram tls http2 dns tty domain sys async_hooks
    wasi diagnostics_channel trace_events rimraf del shelljs execa zx cross-spawn node-pty fs-extra
    trash npm-run-all mkdirp ncp cpx axios got node-fetch request superagent undici ky ws nodemailer
    test sqlite sea"""
)
"""Modules that are there to act."""

MODULES = names(
    """fs path util url querystring assert buffer string_decoder punycode crypto os zlib readline
    events perf_hooks timers stream child_process http https process module net console"""
)
"""Modules of Node that some table here knows."""

UNREADABLE_GLOBALS = names(
    """eval Function require module exports global globalThis process fetch fs child_process http
    https http2 net tls dgram dns vm cluster worker_threads inspector repl v8 Bun Deno WebAssembly
    Reflect Proxy Worker WebSocket EventSource XMLHttpRequest arguments async_hooks
    diagnostics_channel trace_events wasi tty Object console JSON Math Promise Array String Number
    Buffer setTimeout setInterval setImmediate queueMicrotask Symbol Date RegExp Map Set"""
)
"""Names of the runtime that code may not give to something else."""

HIDDEN = names(
    """constructor __proto__ prototype callee caller __defineGetter__ __defineSetter__
    __lookupGetter__ __lookupSetter__ mainModule binding _load _compile _extensions"""
)
"""Properties through which any value leads to more than itself."""

METHODS = names(
    """at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat
    flatMap forEach includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse
    shift slice some sort splice toReversed toSorted toSpliced unshift values with charAt charCodeAt
    codePointAt endsWith localeCompare match matchAll normalize padEnd padStart repeat replace
    replaceAll search split startsWith substring substr toLowerCase toUpperCase toLocaleLowerCase
    toLocaleUpperCase trim trimEnd trimStart toString toLocaleString valueOf toFixed toPrecision
    toExponential toISOString toJSON toUTCString toDateString toTimeString toLocaleDateString
    toLocaleTimeString getTime getFullYear getMonth getDate getDay getHours getMinutes getSeconds
    getMilliseconds getTimezoneOffset getUTCFullYear getUTCMonth getUTCDate getUTCHours
    getUTCMinutes setDate setMonth setFullYear setHours setMinutes setSeconds setTime setUTCDate get
    set has add delete clear exec test then catch finally hasOwnProperty digest update hex equals
    compare readUInt8 readUInt16BE readUInt16LE readUInt32BE readUInt32LE readInt8 readInt32LE
    readBigUInt64LE on once off emit setEncoding resume pause end write read close question prompt
    text json blob arrayBuffer bytes isFile isDirectory isSymbolicLink forEachAsync next return
    setPrecision searchParams append getAll format formatToParts resolvedOptions encode decode final
    sign verify copy subarray union intersection difference isSubsetOf unref ref aborted getReader
    pipe toArray isWellFormed setRawMode"""
)
"""Methods of texts, lists, dates, tables, streams and answers, none of which acts by itself."""

_FIRST = names(
    """every filter find findIndex findLast findLastIndex flatMap forEach map reduce reduceRight
    some sort toSorted catch finally Promise setTimeout setInterval setImmediate queueMicrotask
    nextTick"""
)
CALLED_ARGUMENTS = {
    **dict.fromkeys(_FIRST, (0,)),
    **dict.fromkeys("on once from parse stringify groupBy".split(), (1,)),
    "then": (0, 1),
}
"""The arguments that a function calls, by its name: they must be known."""

PACKAGE = re.compile(r"(?:@[\w-][\w.-]*/)?[\w-][\w.-]*(?:/[\w-][\w.-]*)*")

READABLE_PACKAGES = names(
    """lodash lodash-es semver js-yaml yaml chalk typescript acorn espree esprima @babel/parser
    @babel/types zod dayjs date-fns moment luxon uuid nanoid minimatch picomatch micromatch ajv
    json5 toml @iarna/toml smol-toml ini immer ramda ms bytes slugify marked
    markdown-it cheerio fast-xml-parser xml2js csv-parse/sync papaparse jsonc-parser strip-ansi
    ansi-colors picocolors string-width mime mime-types qs color-convert bignumber.js
    decimal.js big.js fast-glob globby glob"""
)
"""Packages whose functions compute, or look for names of files."""

ACTING_WORDS = re.compile(
    r"(?i)delete|remove|destroy|drop|unlink|exec|spawn|kill|trunc|purge|wipe|clear|reset|deploy|publish"
    r"|push|send|post|upload|migrat|seed|install|write|save|updat|insert|revoke|transfer|charge|refund"
    r"|template|evaluat|(?:^|\.)(?:rm|sh|sys|eval|call|apply|bind)\b"
)
"""Words in the name of a module's function that say that it may not only compute."""

Template = tuple[str | int, ...]


def _acts(table: dict[str, str], *operands: int) -> dict[str, Template]:
    return {
        name: (*command.split(), *operands)
        for command, listed in table.items()
        for name in listed.split()
    }


ACTS: dict[str, Template] = {
    **_acts(
        {
            "cat": """fs.readFile fs.createReadStream fs.openAsBlob Deno.readTextFile Deno.readFile
                Bun.file""",
            "ls": "fs.readdir fs.opendir fs.watch fs.glob Deno.readDir",
            "stat": """fs.exists fs.stat fs.lstat fs.access fs.realpath fs.realpath.native
                fs.readlink fs.statfs Deno.stat Deno.lstat Deno.realPath""",
            "tee": """fs.writeFile fs.createWriteStream fs.truncate Deno.writeTextFile
                Deno.writeFile Deno.create Bun.write""",
            "tee -a": "fs.appendFile",
            "rm": "fs.unlink",
            "mkdir -p": "fs.mkdir fs.mkdtemp Deno.mkdir",
            "touch": "fs.utimes",
            "printenv": "Deno.env.get",
            "curl -X POST -d body": "http.request https.request",
            "kill": "process.kill Deno.kill",
            "cd": "process.chdir Deno.chdir",
        },
        0,
    ),
    **_acts(
        {
            "mv": "fs.rename Deno.rename",
            "cp -r": "fs.copyFile fs.cp Deno.copyFile",
            "ln -s": "fs.symlink Deno.symlink",
            "ln": "fs.link Deno.link",
        },
        0,
        1,
    ),
    **_acts({"chmod": "fs.chmod Deno.chmod"}, 1, 0),
    **_acts({"printenv": "Deno.env.toObject"}),
}
"""The command that a call stands for, with the numbers of its arguments."""


def is_harmless(path: str) -> bool:
    """Tells whether what a dotted name stands for only computes, prints or tells something."""
    parts = path.split(".")
    above = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return not _HARMFUL.intersection(above) and not _HARMLESS.isdisjoint(above)


def canonical(path: str) -> str:
    """The one name of what has several: with promises, at once, or as the default of a module."""
    path = path.replace("fs.promises.", "fs.").replace(".default", "")
    head, _, last = path.rpartition(".")
    if head in ("fs", "child_process", "Deno", "Bun") and last.endswith("Sync"):
        path = f"{head}.{last.removesuffix('Sync')}"
    return path
