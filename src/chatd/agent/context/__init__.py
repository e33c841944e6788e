"""What a workspace tells models about itself, found in few known places, within bounds."""
