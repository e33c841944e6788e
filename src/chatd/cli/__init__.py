"""The `chatd` command, one file per subcommand."""
