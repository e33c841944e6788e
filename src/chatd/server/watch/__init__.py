"""The feed of a user's chats, for lists of them."""
