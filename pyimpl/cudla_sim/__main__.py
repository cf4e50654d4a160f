"""``python -m cudla_sim``: the same as the ``cudla-sim`` command."""

import sys

from .cli import main

sys.exit(main())
