"""SQL: the statements that a client of a database is given, and what each of them does."""
