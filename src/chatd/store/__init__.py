"""Postgres: SQL, migrations, layers, hints, the embedded server. Nothing is imported here: the keeper must start fast."""
