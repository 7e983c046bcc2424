"""`python -m tpudiag`."""

import sys

from tpudiag.cli import main

sys.exit(main())
