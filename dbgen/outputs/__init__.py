"""One module per generated file; each turns the resolved queries into text and writes nothing."""
