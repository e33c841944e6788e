"""What people do with chats: services between the routes, the engine and the store."""
