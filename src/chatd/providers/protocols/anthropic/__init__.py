"""The JSON of Anthropic Messages."""
