"""Reading and changing the files of a workspace."""
