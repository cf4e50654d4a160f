"""pkg-config files, also for Python tools that look them up by entry point."""
