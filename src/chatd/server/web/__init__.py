"""The web app: its files, and where they are served."""
