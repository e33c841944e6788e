"""What workspaces tell models: read from their agents, kept for chats."""
