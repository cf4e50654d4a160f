"""How the commands look and behave: groups of options, colours, hints, one line for an error.

Built on click, which parses, completes words in shells and tells terminals from pipes.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..core.text import tell

OTHER = "Other"
"""The heading of options that name no group."""
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Formatter(click.HelpFormatter):
    """click's, with headings and words in colour; ``click.echo`` drops these in a pipe."""

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{_styled(heading, fg='yellow', bold=True)}\n")

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        usage = _styled("Usage:", fg="yellow", bold=True) + " "
        super().write_usage(_styled(prog, bold=True), args, prefix or usage)

    def write_dl(self, rows: Any, col_max: int = 34, col_spacing: int = 2) -> None:
        styled = [(_styled(first, fg="cyan"), second) for first, second in rows]
        super().write_dl(styled, col_max, col_spacing)


def _styled(text: str, **style: Any) -> str:
    return text if os.environ.get("NO_COLOR") else click.style(text, **style)


class _Context(click.Context):
    formatter_class = _Formatter


class Option(click.Option):
    """An option that stands under a heading of its own in the help.

    *was*: older spellings, which are taken for one version, with a note.
    """

    def __init__(
        self, *args: Any, group: str = OTHER, was: Sequence[str] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.group = group
        self.was = was


def sections(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Heading -> (option, help), in the order of declaration; unnamed ones come last."""
    found: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and not isinstance(parameter, click.Argument):
            found.setdefault(getattr(parameter, "group", OTHER), []).append(record)
    return dict(sorted(found.items(), key=lambda item: item[0] == OTHER))


@contextlib.contextmanager
def _missing_packages(ctx: click.Context) -> Iterator[None]:
    """Reports a package that is not installed as wrong usage, with the extra that installs it.

    Modules of commands import click, the standard library and what needs no more than these:
    builds make the manual pages before anything else is there. Callbacks import the rest.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith(__name__.partition(".")[0]):
            raise
        raise click.UsageError(
            f"it needs the package {error.name}: {_installation(error.name)}", ctx
        ) from None


def _installation(module: str) -> str:
    """The command that installs a package, by the extra that has it."""
    from importlib.metadata import requires  # half of a small command's start

    wanted = [line for line in requires("cudla-sim") or () if line.startswith(module)]
    extras = [found[1] for line in wanted if (found := re.search(r"extra == .(\w+)", line))]
    extra = next((name for name in extras if name not in ("test", "lint")), "")
    return f"pip install 'cudla-sim[{extra}]'" if extra else f"pip install {module}"


class Command(click.Command):
    """A command whose options are grouped.

    *arguments* describes its arguments in the help: (name, what it is).
    """

    context_class = _Context

    def __init__(
        self, *args: Any, arguments: Sequence[tuple[str, str]] = (), **kwargs: Any
    ) -> None:
        kwargs["context_settings"] = {**SETTINGS, **(kwargs.get("context_settings") or {})}
        super().__init__(*args, **kwargs)
        self.arguments = list(arguments)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _missing_packages(ctx):
            return super().parse_args(ctx, self._spelled_now(ctx, args))

    def invoke(self, ctx: click.Context) -> Any:
        with _missing_packages(ctx):
            return super().invoke(ctx)

    def _spelled_now(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words with today's spelling of options; a note for each old one."""
        options = [option for option in self.get_params(ctx) if isinstance(option, Option)]
        now = {old: max(option.opts, key=len) for option in options for old in option.was}
        end = args.index("--") if "--" in args else len(args)
        found = list(args)
        for place, word in enumerate(args[:end]):
            old, equals, value = word.partition("=")
            if old in now:
                found[place] = f"{now[old]}{equals}{value}"
                tell(f"{ctx.command_path}: {old} is {now[old]} now; the next version ends it")
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(self.arguments)
        groups = sections(self, ctx)
        for name, rows in groups.items():
            with formatter.section("Options" if len(groups) == 1 else name):
                formatter.write_dl(rows)


class PassThrough(Command):
    """A command that hands all its words to somebody else's parser: ``context.args``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.args = list(args)
        return ctx.args


class Group(click.Group):
    """A command of commands, which may lie in modules that are imported when they are needed."""

    context_class = _Context
    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["context_settings"] = {**SETTINGS, **(kwargs.get("context_settings") or {})}
        super().__init__(*args, **kwargs)
        self._headings: dict[str, str] = {}
        self._elsewhere: dict[str, tuple[str, str]] = {}

    def under(self, heading: str, command: click.Command | None = None, **elsewhere: str) -> None:
        """Lists *command* under *heading*; ``name="module:attribute"`` is imported when needed."""
        if command is not None and command.name is not None:
            self.add_command(command)
            self._headings[command.name] = heading
        for name, place in elsewhere.items():
            module, _, attribute = place.partition(":")
            self._elsewhere[name] = (module, attribute)
            self._headings[name] = heading

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = [*super().list_commands(ctx), *self._elsewhere]
        order = list(self._headings)
        return sorted(names, key=lambda n: order.index(n) if n in order else len(order))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._elsewhere:
            return super().get_command(ctx, cmd_name)
        module, attribute = self._elsewhere[cmd_name]
        found: click.Command = getattr(importlib.import_module(module), attribute)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            names = self.list_commands(ctx)
            raise click.UsageError(f"there is no command {args[0]!r}{near(args[0], names)}", ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        for name, rows in sections(self, ctx).items():
            with formatter.section(name):
                formatter.write_dl(rows)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                heading = self._headings.get(name, "Commands")
                sections.setdefault(heading, []).append((name, command.get_short_help_str(200)))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """``click.option`` with ``group``."""
    return click.option(*names, cls=Option, **settings)


def path_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """An option that takes a path."""
    return option(*names, type=click.Path(path_type=Path), **settings)


def path_argument(name: str, **settings: Any) -> Callable[[Any], Any]:
    """An argument that is a path."""
    return click.argument(name, type=click.Path(path_type=Path), **settings)


def configuration(
    text: str = "Configuration; default: the loadable's.",
) -> Callable[[Any], Any]:
    """``--config`` of a command that finds a configuration by itself."""
    kind = ConfigName("auto")
    return option("--config", type=kind, default="", group="Machine", help=text)


JSON = option("--json", "as_json", is_flag=True, help="Print JSON.", group="Output")


class Number(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """An integer as C writes it: decimal, ``0x...``, or with ``_`` between digits."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(str(value), 0)
        except ValueError:
            raise click.BadParameter(
                f"{value!r} is no number; 0x80000000 or 2147483648 is", ctx, param
            ) from None


_BYTES = {"": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30}


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Bytes: a number, or one with KiB, MiB or GiB behind it."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"(\d+)\s*([a-z]*)", str(value).lower())
        if match is None or match[2] not in _BYTES:
            raise click.BadParameter(f"{value!r} is no size; 2MiB or 2097152 is", ctx, param)
        return int(match[1]) * _BYTES[match[2]]


class ConfigName(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """An NVDLA configuration, with or without ``nv_``; the value is its whole name.

    *also* are words that are taken besides the configurations.
    """

    name = "configuration"

    def __init__(self, *also: str) -> None:
        self._also = also

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str:
        return "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from ..nvdla.facts.configs import CONFIGS

        known = (*CONFIGS, *self._also)
        for name in (value, f"nv_{value}"):
            if not value or name in known:
                return str(name)
        text = f"{value!r} is no configuration{near(value, known)}: {', '.join(known)}"
        raise click.BadParameter(text, ctx, param)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from ..nvdla.facts.configs import CONFIGS

        names = (*CONFIGS, *self._also)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def wrong_usage(text: object) -> click.UsageError:
    """What a command raises when its words make no sense together: exit status 2."""
    return click.UsageError(str(text), click.get_current_context(silent=True))


def near(word: str, words: Sequence[str]) -> str:
    """A hint for a misspelt word, or nothing."""
    found = difflib.get_close_matches(word, words, n=1)
    return f"; did you mean {found[0]}?" if found else ""


def complain(error: click.ClickException) -> int:
    """Prints one line that says what was wrong; the exit status."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "cudla-sim"
    text = " ".join(error.format_message().split()).rstrip(".")
    if text[1:2].islower():  # click's sentences; names of variables stay
        text = text[:1].lower() + text[1:]
    line = f"{where}: {text}  ({where} --help)"
    tell(line)
    return error.exit_code
