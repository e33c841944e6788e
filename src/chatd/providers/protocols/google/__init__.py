"""The JSON of Google Gemini."""
