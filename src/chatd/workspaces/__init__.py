"""The server's side of workspaces: who makes them, and how the agent inside is reached."""
