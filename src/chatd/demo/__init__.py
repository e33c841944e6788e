"""A model for newcomers: no vendor, no key, no intelligence, but the real loop."""
