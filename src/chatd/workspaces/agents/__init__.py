"""How the server talks to the agent of a workspace."""
