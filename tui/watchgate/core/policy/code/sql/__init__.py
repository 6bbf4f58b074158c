"""SQL: the statements that a client of a database is given, and what each of them does.

A command or a text comes in, acts on a database go out. Only `sql_tokens` knows the tokenizer. It
imports shell and base.
"""
