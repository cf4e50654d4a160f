"""A network over a data set: accuracy and throughput, on all cores or on a cluster."""

from __future__ import annotations

from .api import evaluate
from .errors import EvaluationError
from .results import Evaluation

__all__ = ["Evaluation", "EvaluationError", "evaluate"]
