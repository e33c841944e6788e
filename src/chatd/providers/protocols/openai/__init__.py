"""The JSON of OpenAI Responses, and OpenAI Chat with everything that imitates it."""
