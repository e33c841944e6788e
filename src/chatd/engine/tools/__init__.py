"""What the model may do, and how it is done."""
