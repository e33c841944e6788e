"""From bytes to framed events, pure."""
