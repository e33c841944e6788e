"""How much there may be of what builds and parameters say."""

from typing import Final

MOST_LOG_LINES: Final = 5000  # of one build: pulling an image says some hundred
MOST_LINE_BYTES: Final = 4096  # of one line; a progress bar is shorter, and a page shows no more
BUILD_SECONDS: Final = 600.0  # until a build has failed: an image of some GB is pulled by then
MOST_CLAIMS: Final = 3  # of one build: one that kills who carries it out must not kill them all

MOST_PARAMETERS: Final = 64  # of a template
MOST_OPTIONS: Final = 128  # of a parameter
MOST_VALUE_CHARACTERS: Final = 8192  # of a value: a key or a short script fits
MOST_ERROR_CHARACTERS: Final = 4000  # of what a build says went wrong
