"""Changes to a model that bring its layers to the DLA: equal outputs, other layers."""

from .rewriting import Rewriting, Step, rewrite

__all__ = ["Rewriting", "Step", "rewrite"]
