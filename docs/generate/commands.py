"""Every command with its options, from the declarations that make its help."""

from __future__ import annotations

import click

from cudla_sim.tools.command import OTHER, Command, Group, sections
from cudla_sim.tools.root import app

from .tables import code, table

_HEAD = """# Commands

`cudla-sim COMMAND --help` (or `-h`) prints the same; `man cudla-sim-COMMAND` too, where the package is
installed outside an editable checkout.

## Exit status

| status | meaning |
|---|---|
| 0 | done |
| 1 | something failed, differs from what was expected, or was found |
| 2 | wrong usage: one line says which word was wrong and what would be right |
| 127 | a program could not be started |
| 130 | interrupted |

`run` and `upmem time` end with the status of the program that they run.

## Completion

```sh
eval "$(cudla-sim --completion bash)"     # or zsh; fish: cudla-sim --completion fish | source
```
"""


def _command(command: click.Command, context: click.Context, depth: int) -> list[str]:
    lines = [f"{'#' * depth} {context.command_path}", ""]
    usage = " ".join(command.collect_usage_pieces(context))
    lines += ["```text", f"{context.command_path} {usage}".rstrip(), "```", ""]
    lines += [command.help or "", ""]
    if isinstance(command, Command) and command.arguments:
        rows = [(code(name), what) for name, what in command.arguments]
        lines += [*table(("argument", "meaning"), rows), ""]
    for name, found in sections(command, context).items():
        title = "option" if name == OTHER else f"option: {name[:1].lower() + name[1:]}"
        rows = [(code(first), second.replace("[", "\\[")) for first, second in found]
        lines += [*table((title, "meaning"), rows), ""]
    return lines


def _walk(command: click.Command, context: click.Context, depth: int) -> list[str]:
    lines = _command(command, context, depth)
    if isinstance(command, Group):
        for name in command.list_commands(context):
            sub = command.get_command(context, name)
            if sub is not None and not sub.hidden:
                inner = sub.context_class(
                    sub, info_name=name, parent=context, **sub.context_settings
                )
                lines += _walk(sub, inner, min(depth + 1, 4))
    return lines


def page() -> str:
    """The page."""
    context = app.context_class(app, info_name="cudla-sim", **app.context_settings)
    return _HEAD + "\n" + "\n".join(_walk(app, context, 2)) + "\n"
