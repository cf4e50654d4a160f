"""The release; ``pyproject.toml`` and the packages of ``shim/codegen`` read it from here."""

__version__ = "0.1.0"
