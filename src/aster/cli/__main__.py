"""`python -m aster.cli` is `aster`, for places where the script is not on the path."""

import sys

from aster.cli.main import main

sys.exit(main())
