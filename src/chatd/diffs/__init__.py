"""What is known of the repositories that chats work on, and of their pull requests."""
