"""Where the objects that a function takes come from: the functions that give such a handle."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pycparser import c_ast

MOST = 3
"""Functions that are named for one parameter; the shortest names are the usual ones."""
_GIVES = re.compile(
    r"alloc|clone|create|duplicate|export|get_rank|import|init|instantiate|link|load|open|reconcile"
    r"|submit|GetCurrent|GetDefault|GetHandle|GetFunction|GetKernel|GetModule",
    re.IGNORECASE,
)
"""What a function's name says that makes or hands out a handle. Those that only answer a question
about another object are left out."""


class Origins:
    """*api*: the functions and types of all headers. *text_of*: a type as C writes it."""

    def __init__(self, api: Any, text_of: Callable[[Any], str]) -> None:
        self._text_of = text_of
        self._typedefs = {node.name: node for node in api.types if isinstance(node, c_ast.Typedef)}
        self._makers: dict[str, list[str]] = {}
        for function in api.functions:
            if not _GIVES.search(function.name):
                continue
            for param in function.params:
                made = self._pointed(param)
                if made and function.name not in self._makers.setdefault(made, []):
                    self._makers[made].append(function.name)

    def of(self, function: Any, param: Any) -> list[str]:
        """The functions that give what *param* of *function* takes, the likeliest first; none where
        it is no handle."""
        if not hasattr(param, "type"):
            return []
        makers = self._makers.get(_bare(self._text_of(param.type)), [])
        return sorted((m for m in makers if m != function.name), key=len)[:MOST]

    def _pointed(self, param: Any) -> str:
        """The handle that *param* lets a function write, or nothing."""
        kind = getattr(param, "type", None)
        if not isinstance(kind, c_ast.PtrDecl) or "const" in getattr(kind.type, "quals", []):
            return ""
        return _bare(self._text_of(kind.type)) if self._is_handle(kind.type) else ""

    def _is_handle(self, kind: Any) -> bool:
        """Whether a type is a pointer to what has a name, or a name for one, or a set of DPUs."""
        if isinstance(kind, c_ast.PtrDecl):
            return isinstance(getattr(kind.type, "type", None), c_ast.Struct)
        inner = getattr(kind, "type", None)
        if isinstance(inner, c_ast.Struct):
            return inner.name == "dpu_set_t"
        if isinstance(inner, c_ast.IdentifierType) and inner.names[0] in self._typedefs:
            of = self._typedefs[inner.names[0]].type
            return isinstance(of, c_ast.PtrDecl) or self._is_handle(of)
        return False


def _bare(text: str) -> str:
    return re.sub(r"\b(const|struct)\b\s*", "", text).strip()
