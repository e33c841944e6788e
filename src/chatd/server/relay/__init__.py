"""Live parts from the replica that runs a chat to those that show it. ARCHITECTURE.md of the server, "Replicas"."""
