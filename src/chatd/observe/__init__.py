"""What operators see: logs with secrets taken out, and metrics."""

import sys

# structlog imports rich for coloured tracebacks wherever rich is installed. We render tracebacks as plain
# text, and that import alone is a quarter of a second of every start.
if "structlog" not in sys.modules and "rich" not in sys.modules:
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog as structlog
    finally:
        del sys.modules["rich"]
