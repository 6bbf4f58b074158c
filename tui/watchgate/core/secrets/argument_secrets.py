"""Secrets among the arguments of programs: `curl -u user:password`, `echo password | sudo -S`.

A row says which word of a program's is secret: the value of an option (`-p`), what is attached to
it (`-p*`), what follows a sign in either (`-u:`, `-U%`), what a word is set to (`token=`), the word
behind one that ends so (`*_authToken`), or the last word (`...`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from watchgate.core.base.patterns.allowance import check

Span = tuple[int, int]
_WORDS_A_CHECK = 100


class ArgumentRule(msgspec.Struct, frozen=True):
    """One way in which programs are given a secret.

    `words` must all stand among the program's (`login`); `announcers` are the options as above.
    `example` is a command as it is written, its secrets in the form of `token_shapes.py`.
    """

    programs: tuple[str, ...]
    words: frozenset[str]
    announcers: tuple[str, ...]
    example: str


def _row(programs: str, announcers: str, example: str, *, words: str = "") -> ArgumentRule:
    return ArgumentRule(
        tuple(programs.split()), frozenset(words.split()), tuple(announcers.split()), example
    )


ROWS = (
    _row(
        "curl",
        "-u: --user: -U: --proxy-user: --pass --proxy-pass --oauth2-bearer --tlspassword"
        " -b= --cookie=",
        "curl -s -u admin:<8> https://h/",
    ),
    _row("http https xh", "-a: --auth:", "http -a admin:<8> h/x"),
    _row("wget", "--http-password --ftp-password --proxy-password", "wget --http-password=<8> h/x"),
    _row("sshpass", "-p -p*", "sshpass -p <8> ssh h"),
    _row(
        "docker podman nerdctl buildah",
        "-p --password",
        "docker login -u me -p <12>",
        words="login",
    ),
    _row("helm oras crane", "-p --password", "helm registry login -u me -p <12> h", words="login"),
    _row("skopeo", "--creds: --src-creds: --dest-creds:", "skopeo copy --src-creds me:<12> a b"),
    _row("redis-cli valkey-cli", "-a --pass", "redis-cli -h h -a <12> ping"),
    _row(
        "mysql mysqldump mysqladmin mariadb mariadb-dump mycli", "-p*", "mysql -u root -p<8> shop"
    ),
    _row("mongo mongosh mongodump mongorestore", "-p -p*", "mongosh -u me -p <8> shop"),
    _row("sqlcmd bcp", "-P -P*", "sqlcmd -S h -U sa -P <12>"),
    _row("sqlplus", "/", "sqlplus scott/<8>@db"),
    _row("cqlsh", "-p", "cqlsh -u me -p <8> h"),
    _row("influx", "-t -p", "influx query -t <32> x"),
    _row("etcdctl", "--user:", "etcdctl --user root:<8> get x"),
    _row("gpg gpg2", "--passphrase", "gpg --batch --passphrase <8> -d x.gpg"),
    _row("openssl", "-passin: -passout: -pass: -k -K", "openssl enc -pass pass:<8> -in a"),
    _row("keytool jarsigner", "-storepass -keypass", "keytool -list -storepass <8>"),
    _row("ssh-keygen", "-N -P", "ssh-keygen -t ed25519 -N <8> -f k"),
    _row("htpasswd", "...", "htpasswd -nb me <8>"),
    _row("ansible-vault", "encrypt_string", "ansible-vault encrypt_string <12> --name x"),
    _row("snmpget snmpset snmpwalk", "-A -X", "snmpwalk -v3 -u me -X <12> h x"),
    _row("zip unzip", "-P --password", "unzip -P <8> a.zip"),
    _row("7z 7za 7zz rar unrar", "-p* -hp*", "7z x -p<8> a.7z"),
    _row("ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami", "-w", "ldapsearch -D cn=me -w <8>"),
    _row("ldappasswd", "-w -s -a", "ldappasswd -s <8> cn=me"),
    _row("smbclient smbget rpcclient", "-U% --user%", "smbclient -U me%<8> //h/s"),
    _row("lftp ncftp", "-u, -p", "lftp -u me,<8> h"),
    _row("xfreerdp", "/p:*", "xfreerdp /u:me /p:<8> /v:h"),
    _row("rdesktop", "-p", "rdesktop -u me -p <8> h"),
    _row("az", "-p", "az login --service-principal -u me -p <32> --tenant t", words="login"),
    _row("gh", "-b --body", "gh secret set NAME -b <24>", words="secret set"),
    _row(
        "vault bao",
        "token= password= secret= value= key= passwd=",
        "vault kv put secret/x password=<12>",
    ),
    _row("vault bao", "...", "vault login <24>", words="login"),
    _row("rabbitmqctl", "...", "rabbitmqctl add_user me <12>", words="add_user"),
    _row("rabbitmqctl", "...", "rabbitmqctl change_password me <12>", words="change_password"),
    _row("bw", "...", "bw unlock <12>", words="unlock"),
    _row("kubectl oc", "--from-literal=", "kubectl create secret generic x --from-literal=k=<12>"),
    _row("vercel netlify", "-t --auth", "vercel deploy -t <24>"),
    _row("twine", "-p", "twine upload -u me -p <24> dist/x"),
    _row("cargo", "...", "cargo login <36>", words="login"),
    _row("nmcli", "password wifi-sec.psk", "nmcli dev wifi connect net password <12>"),
    _row("wpa_passphrase", "...", "wpa_passphrase net <12>"),
    _row("mosquitto_pub mosquitto_sub", "-P", "mosquitto_pub -u me -P <8> -t t -m m"),
    _row(
        "aws",
        "aws_secret_access_key aws_session_token --secret-string --master-user-password",
        "aws configure set aws_secret_access_key <40>",
    ),
    _row("npm pnpm yarn", "*_authToken", "npm config set //registry.example/:_authToken <36>"),
    _row("git", "*extraheader", "git config http.https://h/.extraheader X:<24>"),
    _row("wp", "--user_pass --dbpass --admin_password", "wp user create me m@x --user_pass=<12>"),
    _row("op bw", "password= credential=", "op item create password=<12>"),
    _row("net", "...", "net user me <12> /add", words="user"),
)

OPTIONS: dict[str, tuple[ArgumentRule, ...]] = {
    program: tuple(row for row in ROWS if program in row.programs)
    for program in {program for row in ROWS for program in row.programs}
}

_STDIN_READERS = {
    "sudo": ("-S", "--stdin"),
    "su": (),
    "passwd": ("--stdin",),
    "chpasswd": (),
    "docker": ("--password-stdin",),
    "podman": ("--password-stdin",),
    "helm": ("--password-stdin",),
    "gh": ("--with-token",),
    "cryptsetup": (),
    "vncpasswd": ("-f",),
    "smbpasswd": ("-s",),
    "kinit": (),
    "gpg": ("--passphrase-fd",),
    "openssl": ("stdin",),
    "npm": ("login",),
    "mysql_config_editor": (),
    "wrangler": ("secret",),
    "vercel": ("env",),
    "kubeseal": (),
    "watchgate": ("pin", "unlock"),
}
"""Programs that read a secret from their input, with a word that says so; none: they always do."""

PROGRAMS = frozenset((*OPTIONS, *_STDIN_READERS))

_PIECE = re.compile(r"[^\n;&|]+")
_WORD = re.compile(r"\"[^\"]{0,512}\"|'[^']{0,512}'|[^\s\"']+")
_PLAIN = re.compile(r"[^\s\"'`$<>()|;&]+")
_CONNECT = re.compile(r"\w{1,64}/([^/@\s]{1,128})@[\w.:/-]{1,256}")
_WRITERS = frozenset(("echo", "printf"))
_LONGEST_WORDS = 4_096


def may_announce(program: str, text: str) -> bool:
    """Returns whether anything in a text, or in its JSON, looks like an announcement of them."""
    rows = OPTIONS.get(program, ())
    options = [each.strip("*:%,=").strip(".") for row in rows for each in row.announcers]
    return "|" in text or any(option in text for option in options)


def arguments(text: str) -> Iterator[Span]:
    """Returns the spans of secrets among the words of the programs in a text, in order."""
    written: list[Span] = []
    end = 0
    for piece in _PIECE.finditer(text):
        words = _words(text, piece.span())
        program, place = _program(text, words)
        piped = text[end : piece.start()].strip() == "|"
        end = piece.end()
        if piped and written and _reads_secret(text, words, program):
            yield from written
        yield from _here(text, words, program)
        first = text[slice(*words[0])] if words else ""
        written = _values(text, words[1:]) if first in _WRITERS else []
        if program in OPTIONS:
            yield from _among(text, words[place + 1 :], OPTIONS[program])


def _reads_secret(text: str, words: list[Span], program: str) -> bool:
    marks = _STDIN_READERS.get(program)
    return marks is not None and (not marks or any(text[slice(*span)] in marks for span in words))


def _here(text: str, words: list[Span], program: str) -> Iterator[Span]:
    """Returns the secret that a here-string gives to a program: `sudo -S id <<< hunter2`."""
    if _reads_secret(text, words, program):
        for (start, stop), behind in pairwise(words):
            if text[start:stop] == "<<<" and _is_plain(text, behind):
                yield behind


def _words(text: str, span: Span) -> list[Span]:
    """The words between these places, without their quotes."""
    words: list[Span] = []
    for match in _WORD.finditer(text, *span):
        start, stop = match.span()
        quoted = text[start] in "\"'"
        words.append((start + 1, stop - 1) if quoted else (start, stop))
        if len(words) == _LONGEST_WORDS:
            break
    return words


def _program(text: str, words: list[Span]) -> tuple[str, int]:
    """The first word that is such a program, and which it is."""
    for place, (start, stop) in enumerate(words):
        name = text[start:stop].rpartition("/")[2]
        if name in PROGRAMS:
            return name, place
    return "", 0


def _values(text: str, words: list[Span]) -> list[Span]:
    return [span for span in words if not text[slice(*span)].startswith("-")]


def _among(text: str, words: list[Span], rows: tuple[ArgumentRule, ...]) -> Iterator[Span]:
    """The secrets of one program's words."""
    written = {text[start:stop] for start, stop in words}
    announcers = [a for row in rows if row.words <= written for a in row.announcers]
    if "..." in announcers and len(words) > 1 and _is_plain(text, last := _last(text, words)):
        yield last
    heads = _heads(announcers)
    for place, (start, stop) in enumerate(words):
        if place % _WORDS_A_CHECK == 0:
            check()
        if heads and text[start : start + 1] not in heads:
            continue
        behind = words[place + 1] if place + 1 < len(words) else None
        for announcer in announcers:
            span = _secret(text, (start, stop), behind, announcer)
            if span is not None and _is_plain(text, span):
                yield span
                break


def _heads(announcers: list[str]) -> str:
    """The characters that a word with one of these announcers begins with; empty where any may."""
    if any(announcer[0] in "*/" for announcer in announcers):
        return ""
    return "".join({char for each in announcers for char in (each[0], each[0].upper())})


def _last(text: str, words: list[Span]) -> Span:
    """The last word that is no option."""
    plain = [span for span in words if text[span[0]] not in "-/"]
    return plain[-1] if plain else words[-1]


def _secret(text: str, span: Span, behind: Span | None, announcer: str) -> Span | None:
    """The secret that this word announces: within itself, or the word behind it."""
    start, stop = span
    word = text[start:stop]
    if announcer.startswith("*"):
        return behind if word.endswith(announcer[1:]) else None
    if announcer == "/":
        # `name/password@place`, and no path.
        given = _CONNECT.fullmatch(word)
        return (start + given.start(1), start + given.end(1)) if given else None
    option, suffix = (
        (announcer[:-1], announcer[-1]) if announcer[-1] in "*:%,=" else (announcer, "")
    )
    if suffix == "*":
        return (start + len(option), stop) if word.startswith(option) and word != option else None
    if suffix == "=" and not option.startswith("-"):
        return (start + len(announcer), stop) if word.lower().startswith(announcer) else None
    if option.startswith("-") and word.startswith(f"{option}="):
        value: Span | None = (start + len(option) + 1, stop)
    elif word == option:
        value = behind
    elif suffix and len(option) == 2 and word.startswith(option) and not word.startswith("--"):
        value = (start + 2, stop)
    else:
        return None
    if value is None or not suffix:
        return None if value is None or text[slice(*value)].startswith("-") else value
    head, mark, _ = text[slice(*value)].partition(suffix)
    return (value[0] + len(head) + 1, value[1]) if mark else None


def _is_plain(text: str, span: Span) -> bool:
    """Tells whether a shell acts on nothing in it."""
    return bool(_PLAIN.fullmatch(text, *span))
