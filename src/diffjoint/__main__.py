"""``python -m diffjoint``."""

from diffjoint.cli import main

main()
