"""The JSON of each vendor, pure."""
