"""What all tests share: a Postgres database of their own, from chatd.testing."""

pytest_plugins = ["chatd.testing.postgres"]
