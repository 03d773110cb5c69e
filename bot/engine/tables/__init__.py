"""The tables of an engine in the SQL that SQLite and PostgreSQL share; see `transaction` for where they differ."""
