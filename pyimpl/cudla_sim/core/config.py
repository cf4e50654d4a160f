"""What is simulated: settings from ``CUDLA_SIM_*`` variables, a TOML file, or Python.

Who uses a setting declares it, in a ``Section``. Here they are found, read and kept; the sections
of models are imported when somebody asks for one of theirs, or sets it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from .. import lazy
from ..settings import MODULES
from .errors import ConfigError

PREFIX = "CUDLA_SIM_"

# Read by the boot code or by the build before this module exists, so no section has them.
_READ_ELSEWHERE = {"PYTHON", "BUILD_VERBOSE", "FIXTURES", "PARSE"}


class Section:
    """Settings that belong together: subclasses are frozen dataclasses whose fields have a type, a
    default and a docstring. Field ``x_y`` is ``CUDLA_SIM_X_Y`` in the environment, so names are
    distinct in all sections. ``__post_init__`` raises ConfigError for a value that makes no sense.
    """

    __dataclass_fields__: dict[str, dataclasses.Field[Any]]

    def implied(self) -> Mapping[str, Any]:
        """Settings, of any section, that follow from these unless they are given themselves."""
        return {}


S = TypeVar("S", bound=Section)


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raises ConfigError for a value that is none of those."""
    if value not in allowed:
        raise ConfigError(f"{name} is {value!r}; it is one of {', '.join(allowed)}")


ISA = ("machine", "portable", "avx2", "avx_vnni", "avx512", "vnni")


@dataclass(frozen=True)
class General(Section):
    """What every simulated machine has."""

    overrun: str = "refuse"
    """What happens when an engine runs past the end of a memory object: ``refuse`` fails the task,
    ``warn`` gives every object a zeroed margin of 64 KiB and warns."""
    time: str = "host"
    """``host``: programs see times of this machine. ``hardware``: they see those of models of the
    hardware: statistics of layers hold cycles, processors in memory run in hardware time."""
    explain: bool = False
    """Print every explanation to stderr as it happens."""
    strict: bool = False
    """Abort the process on an internal error of the simulator instead of answering "unknown"."""
    fault: str = ""
    """Faults to inject: ``point[@n][=STATUS]``, comma separated."""
    isa: str = "machine"
    """What instructions compiled functions of NVDLA and of the PVA's DMA use at most, with
    equal results; one of ``ISA``. ``machine``: all that this one has."""
    config_file: str = ""
    """A TOML file with any of these settings."""

    @property
    def margin(self) -> int:
        """Bytes behind every memory object that an engine may overrun with a warning."""
        return 64 << 10 if self.overrun == "warn" else 0

    def __post_init__(self) -> None:
        check_choice("time", self.time, ("host", "hardware"))
        check_choice("overrun", self.overrun, ("refuse", "warn"))
        check_choice("isa", self.isa, ISA)


def sections() -> Iterator[type[Section]]:
    """All sections, each imported when it is its turn."""
    yield General
    for name in MODULES:
        with lazy.importing:
            found = import_module(f"..{name}", __package__)
        yield found.Settings


def declared(name: str) -> tuple[type[Section], dataclasses.Field[Any]]:
    """The section and the field of a setting. Raises ConfigError when there is none."""
    for section in sections():
        if name in section.__dataclass_fields__:
            return section, section.__dataclass_fields__[name]
    import difflib  # not for settings that are right

    near = difflib.get_close_matches(name, names(), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ConfigError(f"there is no setting {name}{hint}")


def names() -> list[str]:
    """All settings."""
    return [name for section in sections() for name in section.__dataclass_fields__]


class Config:
    """One simulated machine: every setting is an attribute. ``of`` gives those of one section.

    Raises ConfigError for a setting that does not exist or a value it cannot take.
    """

    general: General

    def __init__(self, **given: Any) -> None:
        fields = {name: declared(name) for name in given}
        values = {name: given[name] for name, (_, f) in fields.items() if given[name] != f.default}
        self.__dict__.update(_asked=given, _given=values, _sections={})
        for section in {section for section, _ in fields.values()}:
            more = {n: v for n, v in self.of(section).implied().items() if n not in given}
            fields.update((name, declared(name)) for name in more)
            values.update((n, v) for n, v in more.items() if v != fields[n][1].default)
        self._sections.clear()
        for section in {section for section, _ in fields.values()}:
            self.of(section)
        self.__dict__["general"] = self.of(General)

    def of(self, section: type[S]) -> S:
        """The settings of one section."""
        found: S | None = self._sections.get(section)
        if found is None:
            own = {n: v for n, v in self._given.items() if n in section.__dataclass_fields__}
            found = self._sections[section] = section(**own)
        return found

    def __getattr__(self, name: str) -> Any:
        try:
            if name.startswith("_"):
                raise ConfigError(f"there is no setting {name}")
            return getattr(self.of(declared(name)[0]), name)
        except ConfigError as error:
            raise AttributeError(str(error)) from None

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"settings do not change; replace({name}=...) makes others")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._given == other._given

    def __hash__(self) -> int:
        return hash(frozenset(self._given.items()))

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={getattr(self, name)!r}' for name in names())})"

    def __reduce__(self) -> Any:
        return _made, (self._asked,)

    def replace(self, **changes: Any) -> Config:
        """This configuration with some settings changed; unknown names raise ConfigError."""
        return Config(**{**self._asked, **changes})


def _made(given: dict[str, Any]) -> Config:
    return Config(**given)


def _typed(name: str, text: str) -> Any:
    kind = declared(name)[1].type
    if kind == "bool":
        lowered = text.strip().lower()
        if lowered in ("1", "true", "yes", "on"):
            return True
        if lowered in ("", "0", "false", "no", "off"):
            return False
        raise ConfigError(f"{name} is {text!r}; it is 0 or 1")
    if kind == "int":
        try:
            return int(text, 0)
        except ValueError:
            raise ConfigError(f"{name} is {text!r}; it is a whole number") from None
    if kind == "float":
        try:
            return float(text)
        except ValueError:
            raise ConfigError(f"{name} is {text!r}; it is a number") from None
    return text


def _from_toml(path: str) -> dict[str, Any]:
    from . import untrusted

    try:
        table = untrusted.read_toml(Path(path))
    except (OSError, ValueError) as error:
        raise ConfigError(f"config_file {path}: {error}") from None
    values: dict[str, Any] = {}
    for name, value in table.items():
        kind = declared(name)[1].type
        types = {"bool": (bool,), "int": (int,), "float": (int, float)}
        if not isinstance(value, types.get(str(kind), (str,))):
            raise ConfigError(f"config_file {path}: {name} must be a {kind}, found {value!r}")
        values[name] = value
    return values


def from_environment(environment: Mapping[str, str]) -> Config:
    """Reads the variables; the TOML file that CUDLA_SIM_CONFIG_FILE names comes first.

    Raises ConfigError for an unknown ``CUDLA_SIM_`` name: a typing error must not pass unseen.
    """
    values: dict[str, Any] = {}
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX)
        if name == variable or name in _READ_ELSEWHERE:
            continue
        try:
            values[name.lower()] = _typed(name.lower(), environment[variable])
        except ConfigError as error:
            raise ConfigError(f"{variable}: {error}") from None
    if path := values.get("config_file"):
        values = {**_from_toml(path), **values}
    return Config(**values)
