"""The repositories of a chat's workspace, live."""
