"""Web push: browsers are told when a turn has ended, also those that are closed."""
