"""Replacing pieces of texts as models ask for it: exactly where that is clear, and never where it is not."""
