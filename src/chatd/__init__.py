"""chatd: a self-hosted server for AI agent chats.

Nothing is imported here: `python -m chatd.store.keeper` must start in milliseconds.
"""

__version__ = "0.1.0"
