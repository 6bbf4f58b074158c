"""`schema record|ingest|control`: JSON Schemas of what other programs rely on."""

from __future__ import annotations

import argparse
from typing import Any

from watchgate.cli.base.printing import Exit, json_line


def add_parser(commands: Any) -> None:
    """Adds the command."""
    schema = commands.add_parser(
        "schema",
        help="JSON Schemas of records, ingest lines and the control protocol",
        epilog="example: watchgate schema record > record.schema.json",
    )
    schema.add_argument("what", choices=("record", "ingest", "control"))
    schema.add_argument("--json", action="store_true", help="accepted for uniformity: it is JSON")
    schema.set_defaults(run=_schema)


def _schema(args: argparse.Namespace) -> int:
    import msgspec

    from watchgate.core.model import records
    from watchgate.core.model.usage_records import CountedData
    from watchgate.core.presence.attempts import AttemptData
    from watchgate.link import protocol
    from watchgate.service.wire.ingest_schema import ingest_schema

    if args.what == "ingest":
        json_line(ingest_schema())
        return Exit.DONE
    types: dict[str, tuple[Any, ...]] = {
        "record": (
            records.Record,
            records.CallData,
            records.ResultData,
            records.NoteData,
            records.UsageData,
            CountedData,
            records.BudgetData,
            AttemptData,
            records.RequestData,
            records.DecisionData,
            records.DeadlineData,
            records.EffectData,
            records.TraceData,
            records.CoreData,
        ),
        "control": (
            protocol.Request,
            protocol.Hello,
            protocol.Result,
            protocol.Refusal,
            protocol.Push,
            protocol.Snapshot,
            protocol.Presence,
            protocol.Code,
            protocol.Challenge,
            protocol.Unlocked,
            protocol.TokenRow,
        ),
    }
    chosen = types[args.what]
    references, definitions = msgspec.json.schema_components(chosen, ref_template="#/$defs/{name}")
    top = references[0] if args.what != "control" else {"anyOf": list(references)}
    json_line(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": definitions}
    )
    return Exit.DONE
