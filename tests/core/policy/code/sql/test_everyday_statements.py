"""Everyday statements are ordinary work: they read, or change a file in the session's folder."""

from __future__ import annotations

import shlex

import pytest

from tests.core.policy.calls import judge_command, rules
from watchgate.core.model.assessment import Assessment
from watchgate.core.policy.rules.profiles import gate_action

READS = {
    "psql -c": [
        "SELECT 1",
        "select count(*) from users;",
        "SELECT id, email FROM users WHERE created_at > now() - interval '7 days' LIMIT 20",
        "select u.name, count(o.id) from users u left join orders o on o.user_id = u.id group by 1",
        "SELECT payload->>'kind' AS kind, count(*) FROM events GROUP BY kind ORDER BY 2 DESC",
        "select tags[1], data #>> '{a,b}' from items where tags && array['x', 'y']",
        "WITH recent AS (SELECT * FROM jobs ORDER BY id DESC LIMIT 5) SELECT status FROM recent",
        "with a(x) as (select 1), b(y, z) as (select 2, 3) select * from a, b",
        "with recursive t(n) as (values (1) union all select n + 1 from t) select sum(n) from t",
        "select row_number() over (partition by team order by score desc) from players",
        "select percentile_cont(0.5) within group (order by ms) from timings",
        "select count(*) filter (where ok) from runs",
        "EXPLAIN SELECT * FROM orders WHERE user_id = 4",
        "explain (analyze, buffers) select * from orders where user_id = 4",
        "EXPLAIN DELETE FROM orders WHERE id = 4",
        "SHOW search_path",
        "show all",
        "select version(), current_database(), current_user",
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
        "select column_name, data_type from information_schema.columns where table_name = 'users'",
        "select pg_size_pretty(pg_total_relation_size('users'))",
        "select pid, state, query from pg_stat_activity where state <> 'idle'",
        "select pg_get_viewdef('active_users'::regclass, true)",
        "select * from users where name ilike '%drop table%'",
        "select 'delete from t' as text, \"update\" from words",
        "select extract(epoch from created_at)::bigint from t where id in (1, 2)",
        "select cast(price as numeric(10,2)), coalesce(note, '') from items for update",
        "values (1), (2)",
        "table users",
        "select x from t -- the last one\n where x = 1",
        "begin; select 1; rollback",
        "set statement_timeout = '5s'; select count(*) from big",
        "copy (select * from t) to stdout with csv header",
        "select distinct on (a) a, b from t order by a, b desc",
        "select * from generate_series(1, 3) g(n)",
        "select exists (select 1 from t), not exists (select 2 from t)",
        "select string_agg(name, ', ' order by name) from tags",
        "select * from jsonb_to_x where jsonb_path_exists(x, '$.a')",
        "\\dt",
        "\\d+ users",
        "\\l",
        "\\x auto",
        "\\conninfo",
        "(select 1) union all (select 2)",
    ],
    "mysql -uroot app -e": [
        "SHOW TABLES",
        "show create table users\\G",
        "DESCRIBE users; SHOW INDEX FROM users",
        "select `id`, \"a\" from `users` where name = 'it''s' limit 5",
        "SELECT DATE_FORMAT(created_at, '%Y-%m') m, COUNT(*) FROM orders GROUP BY m",
        "select if(a > 1, 'x', 'y'), ifnull(b, 0), group_concat(c separator ',') from t",
        "show processlist",
        "show variables like 'max_connections'",
        "use app; select count(*) from t",
        "select * from t # all of it",
    ],
    "sqlite3 -header -column data/app.db": [
        ".tables",
        ".schema users",
        "select * from users limit 3",
        "PRAGMA table_info(users)",
        "pragma foreign_key_list('orders'); pragma user_version",
        "SELECT name FROM sqlite_master WHERE type = 'table'",
        "select [odd name], json_extract(data, '$.a') from t",
        "select strftime('%Y', at), group_concat(x, '|') from t group by 1",
        "explain query plan select * from users where id = 1",
    ],
    "duckdb -c": [
        "select * from 'data/sales.csv' limit 5",
        "select count(*) from read_parquet('out/*.parquet')",
        "describe select * from read_csv('a.csv', header = true)",
        "from 'a.parquet' select x",
        "summarize t",
        "select unnest([1, 2]) as n",
    ],
    "bq query --use_legacy_sql=false": [
        "SELECT name FROM `project.data.people` WHERE safe.parse_date('%F', d) is null LIMIT 10",
        "select array_agg(struct(a, b)) from unnest([1, 2]) a",
        "select * from d.INFORMATION_SCHEMA.TABLES",
    ],
    "clickhouse-client --query": [
        "SELECT toStartOfHour(ts), count() FROM hits GROUP BY 1 FORMAT Pretty",
        "show databases",
        "select uniq(user), quantile(0.9)(ms) from hits where match(url, 'x')",
    ],
    "snowsql -q": ["select current_database(); show tables"],
    "sqlcmd -S localhost -Q": [
        "SELECT TOP (5) [name] FROM sys.tables",
        "SELECT TOP 5 name FROM sys.databases\nGO\nSELECT 1\nGO",
    ],
}

CHANGES_OF_A_FILE = [
    "insert into users(name) values ('a')",
    "insert into users select * from imported",
    "insert or ignore into t values (1, datetime('now'))",
    "update users set name = 'b' where id = 3",
    "delete from users where id in (4, 5) and name <> 'x'",
    "create table if not exists t (id integer primary key, name text not null default '')",
    "create index t_name on t (name); analyze",
    "alter table t add column note text",
    "insert into t(id) values (1) on conflict (id) do update set id = excluded.id",
    "vacuum",
    "begin; update t set a = a + 1 where id = 1; commit",
    "pragma journal_mode = wal",
]

FED = [
    "psql app <<'E'\nselect 1;\nselect 2;\nE",
    "psql <<< 'select 1'",
    "echo 'select 1' | psql -At app",
    "printf 'select 1;\\n' | psql",
    "cat <<'E' | psql app\nselect 1;\n\\dt\nE",
    "sqlite3 a.db <<'E'\n.headers on\n.mode column\nselect * from t;\nE",
    "echo '.tables' | sqlite3 a.db",
    "mysql app <<'E'\nshow tables;\nE",
    "psql \"$DATABASE_URL\" -c 'select 1'",
    "psql $DATABASE_URL -At -c 'select 1'",
    "psql postgresql://me@localhost:5432/app -c 'select 1'",
    "psql -h localhost -p 5433 -U app -d app -v ON_ERROR_STOP=1 -Atc 'select 1'",
    "docker exec db psql -U app -c 'select 1'",
    "docker compose exec -T db psql -U app -c 'select 1'",
    "kubectl exec pg-0 -- psql -c 'select 1'",
    "PGPASSWORD=x psql -c 'select 1'",
    "timeout 10 psql -c 'select 1' | head -5",
]


def is_held_alone(found: Assessment) -> bool:
    """Tells whether guard holds the call where nobody sits in front of the agent."""
    return gate_action("guard", found, autonomous=True) == "hold"


@pytest.mark.parametrize(
    "command", [f"{client} {shlex.quote(sql)}" for client, each in READS.items() for sql in each]
)
def test_a_read_is_ordinary_work_or_allowed(command: str) -> None:
    found = judge_command(command)

    assert rules(found) in ({"sql.read"}, {"sql.local"}, {"allow.tables"})
    assert not is_held_alone(found)


@pytest.mark.parametrize("sql", CHANGES_OF_A_FILE)
def test_a_change_of_a_database_in_the_folder_is_ordinary_and_of_a_server_lasting(sql: str) -> None:
    of_file = judge_command(f"sqlite3 app.db {shlex.quote(sql)}")

    assert rules(of_file) == {"sql.local"}
    assert not is_held_alone(of_file)
    if not sql.startswith(("vacuum", "pragma", "insert or")):
        of_server = judge_command(f"psql -c {shlex.quote(sql)}")
        assert (of_server.risk, rules(of_server)) == ("medium", {"sql.change"})
        assert is_held_alone(of_server)


@pytest.mark.parametrize("command", FED)
def test_statements_that_are_fed_or_wrapped_are_read_too(command: str) -> None:
    found = judge_command(command)

    assert found.risk in ("low", "medium")
    assert rules(found) & {"sql.read", "sql.local", "allow.tables"}


@pytest.mark.parametrize(
    "command", ["sqlite3 /srv/app.db 'select 1'", 'sqlite3 ../app.db "insert into t values (1)"']
)
def test_a_file_outside_the_folder_is_no_ordinary_work(command: str) -> None:
    assert is_held_alone(judge_command(command))
