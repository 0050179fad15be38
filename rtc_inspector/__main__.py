"""`python -m rtc_inspector` is `rtc-inspector`."""

import sys

from rtc_inspector.app.cli import main

sys.exit(main())
