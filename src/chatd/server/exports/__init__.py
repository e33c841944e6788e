"""A whole chat as a file: what is written of it in each format."""
