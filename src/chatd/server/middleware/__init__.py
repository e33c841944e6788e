"""Plain ASGI layers around every route, Litestar's and raw ones; `asgi.py` puts them in order.

A layer sees requests and WebSockets only: `asgi.py` hands the lifespan straight to the app.
"""
