"""``python -m gompute.targets`` prints the table as JSON."""

from __future__ import annotations

import sys

from gompute.targets.dump import targets_json

if __name__ == "__main__":
    sys.stdout.write(targets_json())
