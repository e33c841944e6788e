"""Model vendors: protocols, framings, hosts and the guarded stream."""
