"""An exported file: records as JSON lines, read back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.large_inputs.reference import has_reference, resolved
from watchgate.core.record_shapes import misshapen
from watchgate.core.records import RECORD_VERSION, Record

_decode = decoding.decoder(Record).decode


class ExportError(ValueError):
    """A file that is no export: the message names the file, the line and what is wrong in it."""


def is_export(word: str) -> bool:
    """Returns whether an argument names a file that can be read, rather than a session."""
    try:
        path = Path(word)
        return path.exists() and not path.is_dir()
    except OSError:  # a name that no file can have
        return False


def read_export(path: Path) -> list[Record]:
    """Returns the records of an exported file, oldest first; raises `ExportError`.

    Inputs that a record refers to are put in their place where the file has them.
    """
    records: dict[int, Record] = {}
    for number, record in enumerate(each_record(path), 1):
        if fault := misshapen(record):
            raise _fault(path, number, f"is not a record: {fault}")
        refers = has_reference(record.data)
        data = resolved(record, records.get) if refers else record.data
        records[record.seq] = msgspec.structs.replace(record, data=data)
    return list(records.values())


def each_record(path: Path) -> Iterator[Record]:
    """Yields the records one at a time; raises `ExportError` when it comes to the fault."""
    last = 0
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                record = _record(path, number, line)
                if record.seq <= last:
                    why = f"holds record {record.seq} after record {last}: the oldest comes first"
                    raise _fault(path, number, why)
                last = record.seq
                yield record
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror or error}") from error
    if not last:
        raise ExportError(f"{path} is empty: an export holds a record in each line")


def _record(path: Path, number: int, line: bytes) -> Record:
    try:
        record = _decode(line)
    except msgspec.ValidationError as error:
        raise _fault(path, number, f"is not a record: {error}") from error
    except JSON_FAULTS as error:
        raise _fault(path, number, f"is not JSON: {error}") from error
    if record.v > RECORD_VERSION:
        why = f"was written by a newer Watchgate (version {record.v}): upgrade to read it"
        raise _fault(path, number, why)
    return record


def _fault(path: Path, number: int, why: str) -> ExportError:
    return ExportError(f"{path}, line {number} {why}")
