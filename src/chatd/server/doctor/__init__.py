"""What `chatd doctor` looks at. Nothing is started, migrated or written."""
