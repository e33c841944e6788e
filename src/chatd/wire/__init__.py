"""What a client sees: request, response and frame types."""
