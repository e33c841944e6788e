"""What tests share: Postgres per test, a fake clock, the behaviour marker."""
