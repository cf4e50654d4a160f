"""Pages of the site that are made from the code, so that they cannot be older than it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from docs.generate import (  # noqa: E402
    commands,
    dla_rules,
    functions,
    layers,
    loadable_fields,
    navigation,
    schemas,
    settings,
    statuses,
)

ROOT_PAGES = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
"""Pages that lie beside README.md, where everybody looks for them."""

PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands.page,
    "reference/settings.md": settings.page,
    "reference/json.md": schemas.page,
    "reference/statuses.md": statuses.page,
    "nvdla/layers.md": layers.page,
    "dla/rules.md": dla_rules.page,
    "nvdla/fields.md": loadable_fields.page,
    **{f"reference/functions/{name}.md": functions.page_of(name) for name in functions.TITLES},
}


def on_config(config: Any) -> Any:
    """Completes the navigation."""
    config["nav"] = navigation.complete(config["nav"])
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages."""
    for path, make in PAGES.items():
        files.append(File.generated(config, path, content=make()))
    for path, source in ROOT_PAGES.items():
        # links that are right beside README.md; the site begins in docs/
        text = (ROOT / source).read_text().replace("](docs/", "](")
        files.append(File.generated(config, path, content=text))
    return files
