"""Run the command line: `python -m nmt`."""

import sys

from nmt.cli import main

sys.exit(main())
