"""The git repositories of a workspace: looked at without running anything of theirs, and watched."""
