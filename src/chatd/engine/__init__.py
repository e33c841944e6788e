"""What makes chats run: acquisition, runners, leases."""
