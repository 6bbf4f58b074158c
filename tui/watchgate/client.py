"""The hook client: one agent event from stdin to the core, the core's answer back out.

    python -I -S client.py INGEST_SOCKET AGENT LANE EVENT DEADLINE_S
        CLOSED_STDOUT [CLOSED_EXIT [OFF_STDOUT [PASSED_EXIT]]]

LANE is gate, gate-read, relay or observe; EVENT is the agent's own name for it, or "-". Whatever
goes wrong ends in the closed answer: CLOSED_STDOUT with its first "@" replaced by the reason, the
reason on stderr, exit CLOSED_EXIT (2). An empty CLOSED_STDOUT means nothing and exit 0, but on
the gate lane no stdout, the reason and the exit code. OFF_STDOUT is said while the gate is
switched off, to agents that take silence for a failure. PASSED_EXIT stands in the place of every
exit 0, for a caller to translate: an interpreter that was given no client ends with 0, too. Needs
Python 3.8 and no package: it is copied out of this one and run by path, and a process start is most
of its cost, so it imports no more.
"""

import sys
import time

try:
    import _socket
    import posix
except ImportError:
    import os as posix  # type: ignore[no-redef]  # has every call of posix used here
    import socket as _socket  # type: ignore[no-redef]  # has every name of _socket used here

PAYLOAD_LIMIT_BYTES, ANSWER_LIMIT_BYTES = 4 << 20, 8 << 20
OBSERVER_BUDGET_S, LOOK_S, NAP_S = 0.15, 0.25, 0.002
ENVIRONMENT = b"""TMUX_PANE ZELLIJ_PANE_ID KITTY_WINDOW_ID WEZTERM_PANE SSH_TTY TERM_PROGRAM
CLAUDECODE CLAUDE_PID CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ATTENDED COPILOT_CLI
GEMINI_SESSION_ID QWEN_CODE_SESSION_ID CURSOR_VERSION"""
# What is not given: a gate that lost its words is one all the same.
WORDS = ["", "", "gate", "-", "", "", "2", "", "0"]
AS_GIVEN = "utf-8", "surrogateescape"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
# The first kind that fits is told, and unescaped in an agent's JSON: plain ASCII, no quotes.
REASONS = {
    FileNotFoundError: "core is not running. Start it with watchgate serve, or use watchgate off.",
    ConnectionRefusedError: "core has died. Start it with watchgate serve, or use watchgate off.",
    PermissionError: "socket has a wrong owner, mode or type. Mend it with watchgate doctor --fix.",
    BlockingIOError: "core takes no more connections. Look at watchgate status and restart it.",
    TimeoutError: "gave no answer before the deadline. Look at watchgate status and watchgate ls.",
    ConnectionError: "core went away before it answered. Start it again with watchgate serve.",
    ValueError: "core gave an answer of another form. Run watchgate install, then doctor.",
    OverflowError: "judges no payload over 4 MiB. Have the work done in smaller calls.",
    OSError: "hook cannot use its stdin, stdout or socket. Try it with watchgate doctor.",
}
GONE = "core does not run, and its program is gone. Take its hooks out: python3 '{}/uninstall.py'."
STOP = "This is not a refusal by a person. Do not try another way; stop and report."
# Time asleep counts towards the deadline, as it does in the core.
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
STARTED, PARENT = time.clock_gettime(CLOCK), posix.getppid()


def step_s(until: float) -> float:
    """Seconds to wait before looking again; leaves with the parent, ends at the deadline."""
    if posix.getppid() != PARENT:
        posix._exit(2)
    left_s = until - time.clock_gettime(CLOCK)
    if left_s <= 0:
        raise TimeoutError
    return min(left_s, LOOK_S)


def demand_own(path: str, mask: int, mode: int) -> None:
    """Raises unless this is ours, has this type and mode, and only we can enter its directory."""
    place, file, uid = posix.lstat(path.rpartition("/")[0]), posix.lstat(path), posix.geteuid()
    kinds = place.st_mode & 0o170077, file.st_mode & mask
    if kinds != (0o040000, mode) or not place.st_uid == file.st_uid == uid:
        raise PermissionError


def is_off(switch: str) -> bool:
    """Returns whether this off switch can only come from us and is in force."""
    try:
        demand_own(switch, -1, 0o100600)
        word = posix.read(posix.open(switch, posix.O_RDONLY), 99).strip()
        if word.isdigit():
            return time.time() < int(word)
        return word == b"boot " + posix.read(posix.open(BOOT_ID, posix.O_RDONLY), 99).strip()
    except OSError:
        return False


def read_stdin(until: float) -> bytearray:
    """Stdin to its end."""
    payload, chunk = bytearray(), b"-"
    posix.set_blocking(0, False)
    while chunk and step_s(until):
        try:
            chunk = posix.read(0, 65536)
            payload += chunk
        except BlockingIOError:
            time.sleep(NAP_S)
    posix.set_blocking(0, True)  # a terminal shares this with the shell
    return payload


def move(core: _socket.socket, method: str, data: "bytes | bytearray", until: float) -> int:
    """Sends from these bytes or receive into them; how many, at least one."""
    while True:
        core.settimeout(step_s(until))
        try:
            moved: int = getattr(core, method)(data)
        except _socket.timeout:
            continue
        if not moved:
            raise ConnectionResetError
        return moved


def ask(path: str, who: str, lane: str, lines: str, until: float) -> "tuple[int, bytes, bytes]":
    """Exit code, stdout and stderr from the core; an observer waits for none.

    Args:
        path: The core's socket.
        who: The agent's name.
        lane: How the event may be answered.
        lines: Further header lines of the frame.
        until: The deadline on `CLOCK`, in seconds.
    """
    payload, buffer, observes = read_stdin(until), bytearray(65536), lane == "observe"
    if len(payload) > PAYLOAD_LIMIT_BYTES:
        if not observes:
            raise OverflowError
        lines, payload = f"{lines}dropped: {len(payload)}\n", bytearray()
    now = time.clock_gettime(CLOCK)
    lines += "" if observes else f"deadline_ms: {(until - now) * 1000:.0f}\n"
    frame = f"watchgate/1 {who} {lane}\nlength: {len(payload)}\n{lines}".encode("ascii", "replace")
    for name in ENVIRONMENT.split():
        value = getattr(posix, "environb", posix.environ).get(name, b"\n")
        if len(value) <= 256 and value.isascii() and value.decode().isprintable():
            frame += b"env.%b: %b\n" % (name, value)
    frame += b"\n" + payload
    demand_own(path, 0o170000, 0o140000)
    core = _socket.socket(_socket.AF_UNIX)
    core.settimeout(step_s(until))  # before connect: a full backlog then fails at once
    core.connect(path)
    # From here on, so that it bounds the waiting for the core and not our own slowness before it.
    until = time.clock_gettime(CLOCK) + OBSERVER_BUDGET_S if observes else until
    while frame:
        frame = frame[move(core, "send", frame, until) :]
    data = b"0 0 0\n" if observes else b""
    while b"\n" not in data and len(data) < 32:
        data += buffer[: move(core, "recv_into", buffer, until)]
    line, body = data.split(b"\n", 1)
    if len(line) > 31 or not line.replace(b" ", b"").isdigit():
        raise ValueError
    code, cut, rest = map(int, line.split(b" "))
    while len(body) < cut + rest <= ANSWER_LIMIT_BYTES:
        body += buffer[: move(core, "recv_into", buffer, until)]
    if code > 255 or len(body) != cut + rest:
        raise ValueError
    return code, body[:cut], body[cut:]


def unless_gone(reason: str) -> str:
    """The reason, or the way out where the link to the program that installed this dangles."""
    place = sys.argv[0].rpartition("/")[0]
    try:
        posix.readlink(place + "/program")
        return reason if posix.access(place + "/program", 0) else GONE.format(place)
    except OSError:
        return reason


def main() -> None:
    """Asks, copies the answer out or answers closed, and ends without the interpreter's exit."""
    given = sys.argv[1:10] + WORDS[len(sys.argv) - 1 :]
    path, agent, lane, event, deadline_s, template, closed_exit, off_stdout, passed = given
    lines = "" if event == "-" else f"event: {event}\n"
    off = is_off(path.rpartition("/")[0] + "/off")
    if off:
        lane, lines = "observe", lines + "off: 1\n"
    denies = lane == "gate" or (lane != "observe" and template != "")
    try:
        posix.fstat(1)  # the number of a closed stdout would go to the socket
        until = STARTED + float("" if deadline_s.strip("0123456789.eE+-") else deadline_s)
        code, out, err = ask(path, agent, lane, lines, until)
    except (OSError, ValueError, OverflowError) as fault:
        code, out, err = 0, b"", b""
        if denies:
            reason = next(text for kind, text in REASONS.items() if issubclass(type(fault), kind))
            no_core = isinstance(fault, (FileNotFoundError, ConnectionRefusedError))
            reason = f"watchgate {unless_gone(reason) if no_core else reason} {STOP}"
            out, err = template.replace("@", reason, 1).encode(*AS_GIVEN), f"{reason}\n".encode()
            code = int(closed_exit) if closed_exit in map(str, range(256)) else 2
    out = off_stdout.encode(*AS_GIVEN) if off else out
    for descriptor, data in ((1, out), (2, err)):
        written = 0
        try:
            while written < len(data):
                written += posix.write(descriptor, data[written:])
        except OSError:
            code = 2 if denies or code else 0
    # A status of the core's that happens to be the caller's word does not pass for it.
    posix._exit(2 if code and code == int(passed) else code or int(passed))


if __name__ == "__main__":
    main()
