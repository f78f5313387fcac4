"""`python -m contact_viewer`."""

import sys

from .cli import main

sys.exit(main())
