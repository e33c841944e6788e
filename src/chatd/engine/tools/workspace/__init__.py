"""The tools that work in a chat's workspace: commands and files."""
