"""The process that keeps the embedded Postgres. Standard library only, and nothing imported here: it starts at once."""
