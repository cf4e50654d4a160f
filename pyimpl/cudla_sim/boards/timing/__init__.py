"""How long the DLA of a board would take for a network: an estimate, fitted on published times."""

from __future__ import annotations

from .estimating import estimate
from .times import Interval, OperationTime, SubgraphTime, Times

__all__ = ["Interval", "OperationTime", "SubgraphTime", "Times", "estimate"]
