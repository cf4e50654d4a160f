"""The JSON schemas of what commands print (``schemas/*.schema.json`` in the package)."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

_END = ".schema.json"


def names() -> list[str]:
    """The schemas that there are, by name."""
    found = (item.name for item in _folder().iterdir())
    return sorted(name.removesuffix(_END) for name in found if name.endswith(_END))


def text(name: str) -> str:
    """One schema as it lies in the package."""
    return (_folder() / f"{name}{_END}").read_text()


def read(name: str) -> dict[str, Any]:
    """One schema."""
    return dict(json.loads(text(name)))


def _folder() -> Any:
    return resources.files("cudla_sim") / "schemas"
