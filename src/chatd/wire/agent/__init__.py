"""What the server and a workspace's agent say to each other."""
