"""An agent whose long times are short: `python hurried_agent.py MODULE:NAME=SECONDS,... [what chatd agent takes]`."""

import sys
from importlib import import_module

from chatd.agent.main import main

if __name__ == "__main__":
    for change in sys.argv[1].split(","):
        name, _, seconds = change.partition("=")
        module, _, constant = name.partition(":")
        assert hasattr(import_module(f"chatd.agent.{module}"), constant)
        setattr(import_module(f"chatd.agent.{module}"), constant, float(seconds))
    sys.exit(main(sys.argv[2:]))
