"""An agent on a machine without control groups, or without the right to make some."""

import sys

from chatd.agent import cgroups
from chatd.agent.main import main


def _none() -> None:
    return None


if __name__ == "__main__":
    cgroups._own_group = _none
    sys.exit(main(sys.argv[1:]))
