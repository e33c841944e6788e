"""The workspace agent: a small daemon beside the files, which runs commands and edits files for chats.

Nothing is imported here: `python -m chatd.agent` must be ready in a few hundred milliseconds.
"""
