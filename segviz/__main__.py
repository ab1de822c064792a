"""Runs the command line as ``python -m segviz``, if the script is not on the path."""

import sys

from segviz.cli import main

if __name__ == "__main__":
    sys.exit(main())
