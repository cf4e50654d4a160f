"""The release; ``pyproject.toml`` and the packages of ``codegen`` read it from here."""

__version__ = "0.1.0"
