"""The functions that a statement calls: only those that are known to read leave it a read.

- Functions of databases that only compute or tell something, and some that do more. Only the first
  list makes a statement harmless; the second says more of what is not in the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from watchgate.core.policy.code.sql.sql_acts import Act, Statement
from watchgate.core.policy.code.sql.sql_tokens import Dialect, SqlToken
from watchgate.core.policy.shell.commands import names

READERS: Final = names(
    """
    abs ceil ceiling floor round trunc truncate sign mod power pow sqrt cbrt exp ln log log2 log10
    pi sin cos tan asin acos atan atan2 degrees radians greatest least random rand width_bucket div
    gcd count sum avg min max total group_concat string_agg array_agg json_agg jsonb_agg
    json_object_agg jsonb_object_agg json_group_array json_group_object listagg bool_and bool_or
    every bit_and bit_or stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop
    covar_samp regr_slope mode median quantile quantile_cont quantile_disc percentile_cont
    percentile_disc approx_count_distinct approx_quantile any_value arg_max arg_min first last
    countif count_if sumif avgif uniq uniqexact quantiles quantileexact topk grouparray histogram
    grouping approx_quantiles count_big row_number rank dense_rank percent_rank cume_dist ntile lag
    lead first_value last_value nth_value length char_length character_length octet_length
    bit_length lower upper lcase ucase initcap trim ltrim rtrim btrim lpad rpad left right substr
    substring substring_index mid replace translate overlay position strpos instr locate charindex
    patindex concat concat_ws format printf repeat reverse split_part split string_split
    string_to_array array_to_string string_to_table ascii chr char nchar unicode quote quote_ident
    quote_literal quote_nullable quotename md5 sha1 sha2 sha256 sha512 digest crc32 hex unhex encode
    decode to_hex to_base64 from_base64 soundex levenshtein similarity match matchall starts_with
    startswith ends_with endswith contains regexp_replace regexp_match regexp_matches regexp_like
    regexp_count regexp_substr regexp_instr regexp_extract regexp_extract_all regexp_contains
    regexp_full_match regexp_split_to_array regexp_split_to_table like glob_match stuff len
    datalength space elt field find_in_set strcmp normalize unaccent cast try_cast safe_cast convert
    try_convert coalesce nullif ifnull isnull nvl nvl2 iif if decode typeof pg_typeof to_char
    to_number to_date to_timestamp str_to_date parse_date parse_timestamp format_date
    format_timestamp toint32 toint64 touint32 touint64 tofloat64 tostring todate todatetime to_json
    to_jsonb to_varchar now current_timestamp current_date current_time localtime localtimestamp
    clock_timestamp statement_timestamp transaction_timestamp timeofday sysdate sysdatetime getdate
    getutcdate utc_timestamp utc_date curdate curtime today yesterday age extract date_part
    date_trunc date_add date_sub date_diff datediff dateadd datename datepart date_format date_bin
    datetrunc timestampdiff timestampadd timestamp_add timestamp_sub timestamp_diff timestamp_trunc
    time_bucket from_unixtime unix_timestamp unixepoch julianday strftime date time datetime
    timestamp year quarter month week day dayofweek dayofmonth dayofyear weekday hour minute second
    microsecond last_day makedate make_date make_time make_interval make_timestamp isfinite
    justify_days epoch epoch_ms monthname dayname eomonth adddate subdate addtime timediff to_days
    from_days tostartofmonth tostartofday tostartofweek tostartofhour tostartofminute toyyyymm
    toyyyymmdd json_extract json_extract_string json_extract_scalar json_extract_path
    json_extract_path_text jsonb_extract_path jsonb_extract_path_text json_value json_query
    json_valid json_type json_length json_array_length jsonb_array_length json_array json_object
    json_build_object json_build_array jsonb_build_object jsonb_build_array json_keys json_contains
    json_unquote json_quote json_each json_each_text json_tree jsonb_each jsonb_each_text
    json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text
    json_object_keys jsonb_object_keys json_typeof jsonb_typeof jsonb_pretty jsonb_set
    jsonb_strip_nulls json_set json_insert json_replace json_remove json_search json_table openjson
    row_to_json array_to_json jsonb_path_query jsonb_path_exists json_pretty parse_json flatten
    json_serialize jsonextractstring unnest array_length array_upper array_lower cardinality
    array_append array_prepend array_cat array_remove array_position array_contains array_concat
    array_size list_aggregate list list_sort list_distinct list_contains list_value struct_pack
    struct_extract map map_keys map_values array row generate_series generate_subscripts
    generate_array generate_date_array range numbers arrayjoin has haskey element_at to_tsvector
    to_tsquery plainto_tsquery websearch_to_tsquery ts_rank ts_headline setweight bm25 highlight
    snippet st_distance st_astext st_asgeojson st_x st_y st_within st_contains st_intersects
    st_makepoint st_setsrid st_area st_length st_geomfromtext st_dwithin gen_random_uuid uuid
    uuid_generate_v4 newid newsequentialid generate_uuid uuid_to_bin bin_to_uuid generateuuidv4
    last_insert_rowid last_insert_id row_count found_rows changes total_changes scope_identity
    version sqlite_version current_database current_schema current_schemas current_user session_user
    user database schema db_name object_id object_name schema_name col_name serverproperty
    current_catalog current_role current_setting pg_backend_pid pg_is_in_recovery
    pg_postmaster_start_time inet_server_addr inet_server_port inet_client_addr txid_current
    pg_current_wal_lsn pg_last_wal_replay_lsn pg_wal_lsn_diff pg_last_xact_replay_timestamp
    pg_size_pretty pg_database_size pg_table_size pg_indexes_size pg_relation_size
    pg_total_relation_size pg_column_size pg_tablespace_size pg_get_viewdef pg_get_functiondef
    pg_get_constraintdef pg_get_indexdef pg_get_triggerdef pg_get_expr pg_get_serial_sequence
    pg_get_userbyid pg_get_function_arguments pg_get_function_result pg_get_keywords
    pg_relation_filenode pg_blocking_pids pg_stat_get_numscans pg_encoding_to_char format_type
    obj_description col_description shobj_description to_regclass to_regtype to_regproc
    has_table_privilege has_schema_privilege has_database_privilege has_column_privilege
    connection_id table_info duckdb_tables duckdb_columns duckdb_settings duckdb_extensions
    pragma_table_info pragma_table_list pragma_index_list pragma_index_info pragma_foreign_key_list
    pragma_database_list formatreadablesize formatreadablequantity stats_date bigint int integer
    smallint tinyint numeric decimal real float double varchar nvarchar text character bit varbit
    binary varbinary bpchar char2 vector datetime2 timestamptz timetz enum fixedstring
    lowcardinality nullable datetime64 decimal32 decimal64 decimal128
    """
)

ACTING: Final = re.compile(
    r"(?P<program>(?:xp_|sp_oa|sp_execute|sp_configure|sys_e|dblink|pg_terminate|pg_cancel|pg_reload"
    r"|pg_promote|pg_rotate|pg_create_|pg_drop_|pg_replication|pg_logical|pg_stat_reset|query_to_"
    r"|cursor_to_|table_to_xml|schema_to_|database_to_|load_extension|fts3_tokenizer|openrowset"
    r"|opendatasource|openquery|postgres_|mysql_|http_)\w*"
    r"|set_config|edit|executable|remote|remotesecure|cluster|mysql|postgresql|mongodb|redis|s3|hdfs"
    r"|url|query|query_table|external_query|pg_notify|pg_switch_wal|zeroblob)"
    r"|(?P<file>(?:lo_|pg_read_|pg_ls_|pg_stat_file|pg_file_|pg_write_|utl_)\w*|read_text|read_blob"
    r"|getenv|load_file|readfile|writefile|lsdir|fsdir|zipfile|glob|sniff_csv|file|sqlite_scan)"
    r"|(?P<change>nextval|setval|pg_(?:try_)?advisory_\w+|pg_sleep\w*|benchmark|sleep|get_lock)"
)
"""Functions that run something, touch files or change a state, by the group of their name."""

FILE_READERS: Final = names(
    "read_csv read_csv_auto read_parquet parquet_scan read_json read_json_auto read_ndjson"
    " read_ndjson_auto read_json_objects read_ndjson_objects parquet_schema parquet_metadata"
    " parquet_file_metadata parquet_kv_metadata"
)
"""Functions of DuckDB that read the files which their texts name."""

DATA_FILE: Final = re.compile(
    r"(?:\./)?(?:[\w*-][\w.*-]*/)*[\w*-][\w.*-]*\.(?:csv|tsv|parquet|json|jsonl|ndjson)(?:\.gz|\.zst)?"
)
"""The path of a file of data in the folder where the client runs."""


Tokens = Sequence[SqlToken]

# Words before a bracket that is no call.
_SYNTAX: Final = names(
    """SELECT FROM WHERE IN AND OR NOT ON AS BY USING OVER EXISTS ANY ALL SOME UNION EXCEPT
    INTERSECT WHEN THEN ELSE CASE LIKE ILIKE HAVING LIMIT OFFSET INTERVAL DISTINCT BETWEEN IS ARRAY
    ROW ROWS LATERAL SETS ROLLUP CUBE RETURNING MATERIALIZED FILTER GROUP JOIN VALUES VALUE TABLE
    KEY UNIQUE CHECK CONFLICT DEFAULT INCLUDE SET WITH INTO TOP FETCH THAN PRIMARY IDENTITY INDEX
    EXPLAIN MINUS RETURN PARTITION STRUCT PIVOT UNPIVOT EXCLUDE QUALIFY ORDINALITY WITHIN ANALYZE
    PRAGMA ADD COLUMN GENERATED ALWAYS COPY SETTINGS END INSERT"""
)
# A name behind these is that of a table, an index or an alias.
_NAMING: Final = names(
    "INTO TABLE REFERENCES VIEW AS WITH RECURSIVE KEY INDEX UNIQUE CONSTRAINT INSERT COPY"
)
# More than the columns of a query that has a name take.
_MAX_COLUMNS_TOKENS: Final = 60
_PATH_SIGNS: Final = frozenset("/:*.")
_QUERIES: Final = names("SELECT WITH VALUES INSERT UPDATE DELETE TABLE")


def calls(tokens: Tokens, dialect: Dialect) -> Iterator[Act]:
    """Returns the acts of the functions that a statement calls, mere reading left out."""
    if tokens[0].is_word("PRAGMA"):
        return
    creates = tokens[0].is_word("CREATE")
    for index, token in enumerate(tokens):
        behind = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.kind == "string" and dialect == "duckdb" and _follows_from(tokens, index):
            yield from _file(token)
        if token.kind == "name" and dialect == "duckdb" and _PATH_SIGNS.intersection(token.text):
            yield Act("file", "file", token.text)
        if token.kind not in ("word", "name"):
            continue
        projected = index > 1 and tokens[index - 1].is_sign(".") and tokens[index - 2].is_sign(")")
        if projected or (behind is not None and behind.is_sign("(")):
            yield from _call(tokens, index, creates=creates)
        elif ACTING.fullmatch(token.text.lower()) and _is_telling(token.text.lower()):
            yield Act("unread", "function", token.text.lower())


def _call(tokens: Tokens, index: int, *, creates: bool) -> Iterator[Act]:
    token = tokens[index]
    start = index
    while start > 1 and tokens[start - 1].is_sign("."):
        start -= 2
    before = tokens[start - 1] if start else None
    names_something = before is not None and (
        before.is_word(*_NAMING)
        or before.is_sign(")")
        or (creates and before.is_word("ON", "USING", "EXISTS"))
    )
    if (token.kind == "word" and start == index and token.text in _SYNTAX) or names_something:
        return
    if start == index and _heads_query(tokens, index):
        return
    qualifier = tokens[start].text.lower() if start < index else ""
    name = token.text.lower() if token.kind == "word" else token.text
    known = qualifier in ("", "pg_catalog", "safe") and start >= index - 2
    if known and name in READERS:
        return
    if known and name in FILE_READERS:
        yield from _files_of(tokens, index)
        return
    match = ACTING.fullmatch(name.lower())
    kind: Statement = "hidden"
    if match is not None:
        kind = "program" if match["program"] else "file" if match["file"] else "change"
    yield Act(kind, "function", name)


def _is_telling(name: str) -> bool:
    """Tells whether a name is hardly that of a column."""
    return name.startswith(("pg_read_", "pg_ls_", "lo_", "xp_", "dblink", "pg_terminate"))


def _heads_query(tokens: Tokens, index: int) -> bool:
    """Tells whether these are the columns of a named query: `b(x) AS (SELECT`."""
    depth = 0
    for place in range(index + 1, min(len(tokens), index + _MAX_COLUMNS_TOKENS)):
        depth += tokens[place].is_sign("(") - tokens[place].is_sign(")")
        if depth == 0:
            rest = [
                t for t in tokens[place + 1 : place + 6] if not t.is_word("NOT", "MATERIALIZED")
            ]
            return (
                len(rest) > 2
                and rest[0].is_word("AS")
                and rest[1].is_sign("(")
                and rest[2].is_word(*_QUERIES)
            )
    return False


def _follows_from(tokens: Tokens, index: int) -> bool:
    return index > 0 and tokens[index - 1].is_word("FROM", "JOIN", ",")


def _files_of(tokens: Tokens, index: int) -> Iterator[Act]:
    """Returns the files that a call reads whose brackets hold only files and options."""
    depth, some = 0, False
    for token in tokens[index + 1 :]:
        depth += token.is_sign("(") - token.is_sign(")")
        if depth == 0:
            break
        if token.kind == "string" and len(token.text) > 1:
            some = True
            yield from _file(token)
    if not some:
        yield Act("hidden")


def _file(token: SqlToken) -> Iterator[Act]:
    if not DATA_FILE.fullmatch(token.text):
        yield Act("file", "file", token.text)
