"""`python -m app` is `rtc-inspector`."""

import sys

from app.cli import main

sys.exit(main())
