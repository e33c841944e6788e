"""Model vendors for tests: servers that speak the real protocols, refuse what vendors refuse, and follow a script."""
