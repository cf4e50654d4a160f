"""The JSON that commands print."""

from __future__ import annotations

from cudla_sim.tools import schemas

_HEAD = """# JSON

Commands with `--json`, and files that they write, follow a schema (JSON Schema 2020-12) that is part
of the package. Each holds a version; a change that readers must know of makes it a higher one, fields
may be added without. `inspect` calls it `schema_version`, because its `version` is the loadable's.

```sh
cudla-sim schema                  # their names
cudla-sim schema nvdla-check      # one of them
```

"""


def page() -> str:
    """The page."""
    parts = [_HEAD]
    for name in schemas.names():
        found = schemas.read(name)
        parts.append(f"## {name}\n\n`{found['title']}`\n\n")
        parts.append(f'```json title="{name}.schema.json"\n{schemas.text(name)}```\n\n')
    return "".join(parts)
