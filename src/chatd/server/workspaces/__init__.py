"""What people do with templates and workspaces, for the routes."""
