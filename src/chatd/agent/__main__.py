"""`python -m chatd.agent`: as `chatd agent`, without the imports of the other commands."""

import sys

from chatd.agent.main import main

sys.exit(main(sys.argv[1:]))
