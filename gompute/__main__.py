"""``python -m gompute`` is the command line."""

from __future__ import annotations

from gompute.cli import main

if __name__ == "__main__":
    main()
