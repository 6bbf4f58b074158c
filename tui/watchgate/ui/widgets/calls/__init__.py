"""The live calls as a table: its columns, its rows from the ring, and the table itself."""
