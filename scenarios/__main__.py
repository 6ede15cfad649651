"""`python -m scenarios` is `hush`."""

from scenarios.cli import main

raise SystemExit(main())
