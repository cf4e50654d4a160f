"""Programs that tell the runtime each access to memory, so that it finds races with reads, too.

Clang's instrumentation for threads puts a call in front of each load and store that another tasklet
might meet; ``shim/dpu_run/race_watch.c`` has the functions.
"""

from __future__ import annotations

from collections.abc import Mapping

FLAGS = ("-Xclang", "-fsanitize=thread", "-mllvm", "-tsan-distinguish-volatile")
"""For clang's front end and for its last step; volatile variables are told apart."""


def asked(environment: Mapping[str, str]) -> bool:
    """Whether CUDLA_SIM_UPMEM_CHECKS asks for races in so many words: that is no default, since
    programs take several times as long."""
    words = {x.strip() for x in environment.get("CUDLA_SIM_UPMEM_CHECKS", "").split(",")}
    return bool(words & {"race=warn", "race=fault", "warn", "fault"}) and "race=off" not in words
