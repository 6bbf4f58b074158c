"""The native hook client, where there is a C compiler, beside the least that C can do."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.client import SMALL, client_command, cpu_s, echo_core, installation
from bench.client_peers import PEERS, plain_server
from bench.figures import Beside, Figure, interleaved_medians, left_out, report
from hatch_build import compile_client
from watchgate.service.setup.forms.guarded_command import PASSED
from watchgate.service.setup.hook_client import base_interpreter, sealed_native

ROOT = Path(__file__).parent.parent
LIMIT = 1.2
BLOCK = 20
"""Calls that are timed together: one is over before the kernel's clock has moved on much."""


def each_s(command: list[str], count: int) -> float:
    """CPU seconds of one call, of so many one after another."""
    return sum(cpu_s(command, SMALL) for _ in range(count)) / count


def figures(runs: int) -> Iterator[Figure]:
    """CPU of the native client; nothing where it cannot be compiled."""
    compiler = shutil.which("cc")
    if compiler is None or not (ROOT / "native").exists():
        left_out("native hook client", "there was no cc, or no native/")
        return
    with (
        tempfile.TemporaryDirectory(prefix="wg-") as place,
        installation(base_interpreter()) as python,
        echo_core() as core,
        plain_server() as plain,
    ):
        native, least = Path(place) / "native", Path(place) / "least"
        compile_client(ROOT, native)
        subprocess.run([compiler, "-O2", "-o", least, PEERS / "client.c"], check=True)
        native.write_bytes(sealed_native(native.read_bytes()))
        # With the word of installed commands, for which it proves to be whole.
        ours = [str(native), *client_command(native, native, core)[4:], "2", "", str(PASSED)]
        commands = [([str(least), str(plain)], BLOCK), (ours, BLOCK), (python.installed, 1)]
        least_s, ours_s, python_s = interleaved_medians(
            [partial(each_s, command, block) for command, block in commands], runs
        )
    told = f"medians of {runs}"
    floor = Beside("a plain C client", least_s * 1e3)
    yield Figure("native hook client, CPU", ours_s * 1e3, "ms", floor, LIMIT, told)
    beside = Beside("the hook client in Python", python_s * 1e3)
    yield Figure("native hook client, CPU", ours_s * 1e3, "ms", beside, None, told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    return report(figures(parser.parse_args().runs))


if __name__ == "__main__":
    sys.exit(main())
