"""Starts the installed hook client, which lies beside it as watchgate_client.py.

CPython caches the bytecode of what is imported, never that of the script it is given: without this
file it would compile the whole client at every tool call, at a quarter of what the start costs. An
import believes whatever lies there, so this reads by itself: what was cut or damaged is not run.
The process fails then, and its caller takes that for a denial.
"""

import _frozen_importlib_external as importing  # is loaded before any script
import binascii
import marshal

PLACE = __file__.rpartition("/")[0] + "/"


def whole(name: str) -> bytes:
    """A file's content without the checksum behind it; raises `ValueError` if that is another."""
    with open(PLACE + name, "rb") as file:  # noqa: PTH123 - no pathlib
        content, _, checksum = file.read().rpartition(b"\n# ")
    if checksum != b"%08x" % binascii.crc32(content):
        raise ValueError(name)
    return content


if __name__ == "__main__":
    client = whole("watchgate_client.py")
    try:
        # Bytecode is of use to interpreters with the same magic number alone.
        magic = importing.MAGIC_NUMBER.hex()
        bytecode = whole("__pycache__/watchgate_client." + magic + ".pyc")
        client = marshal.loads(bytecode)  # noqa: S302 - as an import does
    except OSError:
        pass  # the source will do, which takes longer
    exec(client, {"__name__": "__main__"})  # noqa: S102 - the client that this is here for
