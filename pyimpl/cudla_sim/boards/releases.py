"""TensorRT releases: which have a DLA, how many subgraphs they allow, what they print."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from .errors import DlaError

OLDEST = Version("8.4")
"""Rules before it are not known well enough."""
LAST_10, BACK_11 = Version("10.7"), Version("11.4.1")
"""Developer guide (latest): 10.7 was the last 10.x with DLA, 11.4.1 has it for AGX Orin; 11.4.0 is
for another DLA."""
DEFAULT = {"xavier": "8.5.2", "orin": "10.3"}
"""Of JetPack 5.1 and 6.2."""
_LAST_OF_XAVIER = Version("8.5.99")


@dataclass(frozen=True, slots=True)
class Release:
    """A release of TensorRT; *notes* say what is not sure of it on a generation of boards."""

    version: Version
    notes: tuple[str, ...] = ()

    @property
    def subgraphs(self) -> int:
        """That a core takes, seen in messages of 8.5 and 10.3."""
        return 16

    @property
    def explicit_quantization(self) -> bool:
        """TensorRT 11 builds strongly typed networks with Q/DQ."""
        return self.version.major >= 11

    def __str__(self) -> str:
        return str(self.version)


def release(text: str, generation: str) -> Release:
    """Raises DlaError: no version, one without rules, or without a DLA."""
    try:
        version = Version(text)
    except InvalidVersion:
        raise DlaError(f"{text!r} is no version of TensorRT; 8.6 or 10.3 is") from None
    if version < OLDEST:
        raise DlaError(f"the rules of TensorRT {version} are not known; {OLDEST} is the oldest")
    short = Version(f"{version.major}.{version.minor}")
    if short > LAST_10 and version < BACK_11 and text != "11.4":
        raise DlaError(
            f"TensorRT {version} has no DLA: {LAST_10} was the last 10.x with it, {BACK_11} has it "
            "again for AGX Orin"
        )
    version = max(version, BACK_11) if text == "11.4" else version
    notes = []
    if generation == "xavier" and version > _LAST_OF_XAVIER:
        notes.append(
            "JetPack 5 with TensorRT 8.5.2 is the last for Xavier (recalled); the rules of "
            f"TensorRT {version} are those for Orin"
        )
    if generation == "xavier":
        notes.append(
            "the operator table of Deep-Learning-Accelerator-SW is for Orin: what it adds to the "
            "developer guide is taken as not there on Xavier"
        )
    return Release(version, tuple(notes))
