"""The functions and methods of Python that do something, with the command that does the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from watchgate.core.policy.code.code_reading import Argv, Piece, UnknownWord
from watchgate.core.policy.code.python.python_values import joined

_TABLE = """
os.remove path: rm {path}
os.unlink path: rm {path}
os.rmdir path: rmdir {path}
os.removedirs name: rmdir -p {name}
os.mkdir path: mkdir {path}
os.makedirs name: mkdir -p {name}
os.rename src dst: mv {src} {dst}
os.renames src dst: mv {src} {dst}
os.replace src dst: mv {src} {dst}
os.symlink src dst: ln -s {src} {dst}
os.link src dst: ln {src} {dst}
os.chmod path mode: chmod {mode:o} {path}
os.lchmod path mode: chmod {mode:o} {path}
os.chown path uid gid: chown {uid}:{gid} {path}
os.lchown path uid gid: chown -h {uid}:{gid} {path}
os.utime path: touch {path}
os.truncate path: truncate -s 0 {path}
os.mkfifo path: mkfifo {path}
os.mknod path: mknod {path} p
os.chdir path: cd {path}
os.chroot path: chroot {path}
os.listdir path=.: ls {path}
os.scandir path=.: ls {path}
os.walk top: find {top}
os.fwalk top=.: find {top}
os.kill pid sig: kill -{sig} {pid}
os.killpg pgid sig: kill -{sig} -- -{pgid}
os.abort: kill -ABRT 0
os.setuid uid: setpriv --reuid {uid}
os.setgid gid: setpriv --regid {gid}
os.getenv key: printenv {key}
os.getenvb key: printenv {key}
os.putenv key value: export {key}={value}
os.unsetenv key: unset {key}
shutil.rmtree path: rm -r {path}
shutil.move src dst: mv {src} {dst}
shutil.copy src dst: cp {src} {dst}
shutil.copy2 src dst: cp -p {src} {dst}
shutil.copyfile src dst: cp {src} {dst}
shutil.copymode src dst: chmod --reference {src} {dst}
shutil.copystat src dst: touch -r {src} {dst}
shutil.copytree src dst: cp -r {src} {dst}
shutil.chown path user group: chown {user}:{group} {path}
shutil.make_archive base_name format root_dir=.: tar -cf {base_name} {root_dir}
shutil.unpack_archive filename extract_dir=.: tar -xf {filename} -C {extract_dir}
glob.iglob pathname: ls {pathname}
tempfile.mktemp: true
filecmp.cmp f1 f2: cmp {f1} {f2}
filecmp.dircmp a b: diff -r {a} {b}
linecache.getline filename: cat {filename}
linecache.getlines filename: cat {filename}
configparser.ConfigParser.read filenames: cat {filenames}
xml.etree.ElementTree.parse source: cat {source}
xml.etree.ElementTree.iterparse source: cat {source}
xml.dom.minidom.parse file: cat {file}
runpy.run_path path_name: python3 {path_name}
runpy.run_module mod_name: python3 -m {mod_name}
compileall.compile_dir dir: python3 -m compileall {dir}
compileall.compile_file fullname: python3 -m py_compile {fullname}
venv.create env_dir: python3 -m venv {env_dir}
webbrowser.open url: xdg-open {url}
urllib.request.urlretrieve url filename: curl -o {filename} {url}
netrc.netrc file=~/.netrc: cat {file}
getpass.getpass: true
os.system command: sh -c {command}
os.popen cmd: sh -c {cmd}
subprocess.getoutput cmd: sh -c {cmd}
subprocess.getstatusoutput cmd: sh -c {cmd}
commands.getoutput cmd: sh -c {cmd}
asyncio.create_subprocess_shell cmd: sh -c {cmd}
pathlib.Path.read_text: cat {self}
pathlib.Path.read_bytes: cat {self}
pathlib.Path.write_text: tee {self}
pathlib.Path.write_bytes: tee {self}
pathlib.Path.unlink: rm {self}
pathlib.Path.rmdir: rmdir {self}
pathlib.Path.mkdir: mkdir -p {self}
pathlib.Path.touch: touch {self}
pathlib.Path.chmod mode: chmod {mode:o} {self}
pathlib.Path.lchmod mode: chmod {mode:o} {self}
pathlib.Path.rename target: mv {self} {target}
pathlib.Path.replace target: mv {self} {target}
pathlib.Path.symlink_to target: ln -s {target} {self}
pathlib.Path.hardlink_to target: ln {target} {self}
pathlib.Path.link_to target: ln {self} {target}
zipfile.ZipFile.extract member path=.: unzip {self} -d {path}
zipfile.ZipFile.extractall path=.: unzip -o {self} -d {path}
zipfile.ZipFile.write filename: cat {filename}
zipfile.ZipFile.writestr: tee {self}
tarfile.TarFile.extract member path=.: tar -xf {self} -C {path}
tarfile.TarFile.extractall path=.: tar -xf {self} -C {path}
tarfile.TarFile.add name: tar -cf {self} {name}
sqlite3.Connection.execute sql: sqlite3 {self} {sql}
sqlite3.Connection.executemany sql: sqlite3 {self} {sql}
sqlite3.Connection.executescript sql_script: sqlite3 {self} {sql_script}
sqlite3.Connection.backup: true
socket.socket.connect address: nc -z {address}
socket.socket.connect_ex address: nc -z {address}
socket.create_connection address: nc -z {address}
subprocess.Popen.kill: true
subprocess.Popen.terminate: true
subprocess.Popen.send_signal: true
subprocess.Popen.wait: true
tempfile.TemporaryDirectory.cleanup: true
xml.etree.ElementTree.ElementTree.write file_or_filename: tee {file_or_filename}
"""


class Effect(msgspec.Struct, frozen=True):
    """A function's parameters, with what they are where they are not given, and its command."""

    params: tuple[tuple[str, str | None], ...]
    words: tuple[str, ...]


def _effect(line: str) -> tuple[str, Effect]:
    head, _, command = line.partition(": ")
    name, *params = head.rstrip(":").split()
    split = [param.partition("=") for param in params]
    return name, Effect(
        tuple((param, default if sign else None) for param, sign, default in split),
        tuple(command.split()),
    )


EFFECTS: Final[Mapping[str, Effect]] = dict(map(_effect, _TABLE.strip().splitlines()))
"""By dotted names; a method's parameters do not count the object, which is `{self}` there."""


def command(effect: Effect, given: dict[str, Piece]) -> Argv:
    """The command of a call with these arguments by the names of parameters."""
    values = {name: UnknownWord() if none is None else none for name, none in effect.params} | given
    return tuple(_filled(word, values) for word in effect.words)


def _filled(word: str, values: Mapping[str, Piece]) -> Piece:
    piece: Piece = ""
    rest = word
    while rest:
        before, mark, behind = rest.partition("{")
        piece = joined(piece, before)
        name, _, rest = behind.partition("}")
        if mark:
            plain, _, form = name.partition(":")
            value = values[plain]
            piece = joined(piece, _octal(value) if form else value)
    return no_option(piece) if word[:1] == "{" else piece


def no_option(value: Piece) -> Piece:
    """A path that no program takes for an option."""
    is_option = isinstance(value, str) and value[:1] == "-" and not value[1:].isdigit()
    return f"./{value}" if is_option and value != "-" else value


def _octal(value: Piece) -> Piece:
    return f"{int(value):o}" if isinstance(value, str) and value.isdigit() else value


def bound(
    effect: Effect, positional: Sequence[Piece], named: Mapping[str, Piece]
) -> dict[str, Piece]:
    """The arguments by the names of parameters."""
    names = [name for name, _ in effect.params]
    given = dict(zip(names, positional, strict=False))
    return given | {name: value for name, value in named.items() if name in names}
