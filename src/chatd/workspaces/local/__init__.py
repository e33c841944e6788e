"""Workspaces on this machine: a folder, and an agent under bubblewrap. Nothing is imported: keepers start at once."""
