"""The generator: typed Python for the queries in `store/sql`, and the layers around them."""
