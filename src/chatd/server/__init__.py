"""HTTP, settings and the composition root. Nothing is imported here, so that `chatd.server.settings` loads alone."""
