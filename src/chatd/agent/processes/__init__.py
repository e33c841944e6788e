"""Commands that run in a workspace: started once by a key, watched, signalled, and ended with everything they left."""
