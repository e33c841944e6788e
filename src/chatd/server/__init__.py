"""HTTP, settings and the composition root. Nothing is imported here, so that settings load alone."""
