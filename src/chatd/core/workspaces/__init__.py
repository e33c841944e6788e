"""Decisions about workspaces: pure, so that the store, the server and the tools agree on them."""
