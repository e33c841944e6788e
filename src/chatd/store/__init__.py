"""Postgres and all that speaks SQL. Nothing is imported here: the keeper must start fast."""
