"""The live stream of a chat, over WebSocket and as server-sent events. ARCHITECTURE.md of the server, "Streams"."""
