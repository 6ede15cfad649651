"""`python -m scenarios` is `hush`."""

from scenarios.command.main import main

raise SystemExit(main())
