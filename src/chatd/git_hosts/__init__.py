"""What GitHub and GitLab know of a branch: its pull request."""
