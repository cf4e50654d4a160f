"""Writes ctypes structures and prototypes, so that Python tests call the same C functions."""

from __future__ import annotations

import keyword

from pycparser import c_ast

from .emit import BANNER, packed
from .parse import Api, Function, named, own, type_text

_BASE = {
    "char": "c_char", "signed char": "c_int8", "unsigned char": "c_uint8", "short": "c_int16",
    "short int": "c_int16", "unsigned short": "c_uint16", "int": "c_int", "signed int": "c_int",
    "unsigned int": "c_uint", "unsigned": "c_uint", "long": "c_int64", "unsigned long": "c_uint64",
    "long long": "c_int64", "unsigned long long": "c_uint64", "float": "c_float",
    "double": "c_double", "_Bool": "c_bool", "size_t": "c_size_t", "int8_t": "c_int8",
    "int16_t": "c_int16", "int32_t": "c_int32", "int64_t": "c_int64", "uint8_t": "c_uint8",
    "uint16_t": "c_uint16", "uint32_t": "c_uint32", "uint64_t": "c_uint64",
    "intptr_t": "c_int64", "uintptr_t": "c_uint64",
}  # fmt: skip


class _Types:
    def __init__(self, api: Api) -> None:
        self.aliases: dict[str, c_ast.Node] = {}
        self.lines: list[str] = []
        self.done: set[str] = set()
        for node in api.types:
            self._declare(node)

    def _declare(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Typedef):
            self.aliases[node.name] = node.type
            inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
            if isinstance(inner, c_ast.Struct | c_ast.Union) and inner.decls:
                self._aggregate(inner.name or node.name, inner, node.name)
        elif isinstance(node.type, c_ast.Struct | c_ast.Union) and node.type.decls:
            self._aggregate(node.type.name, node.type, node.type.name)

    def _aggregate(self, tag: str, node: c_ast.Node, public: str) -> None:
        if tag in self.done:
            return
        self.done.add(tag)
        fields = []
        anonymous = []
        for index, decl in enumerate(node.decls):
            name = decl.name or f"_anonymous{index}"
            inner = decl.type
            while isinstance(inner, c_ast.TypeDecl | c_ast.ArrayDecl):
                inner = inner.type
            if isinstance(inner, c_ast.Struct | c_ast.Union) and inner.decls:
                inner.name = inner.name or f"{tag}_{name}"
                self._aggregate(inner.name, inner, inner.name)
                if decl.name is None:
                    anonymous.append(name)
            fields.append(f"        ({name!r}, {self.text(decl.type)}),")
        kind = "Structure" if isinstance(node, c_ast.Struct) else "Union"
        self.lines += ["", "", f"class {tag}(ctypes.{kind}):"]
        if packed(public):
            self.lines.append("    _pack_ = 1")
            self.lines.append('    _layout_ = "ms"  # what packing implies; 3.14 wants it said')
        if anonymous:
            self.lines.append(f"    _anonymous_ = {tuple(anonymous)!r}")
        self.lines += ["    _fields_ = [", *fields, "    ]"]
        if public != tag:
            self.lines += ["", "", f"{public} = {tag}"]

    def text(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.TypeDecl | c_ast.Typename):
            return self.text(node.type)
        if isinstance(node, c_ast.PtrDecl):
            return "ctypes.c_void_p"
        if isinstance(node, c_ast.ArrayDecl):
            return f"{self.text(node.type)} * {_dimension(node.dim)}"
        if isinstance(node, c_ast.Enum):
            return "ctypes.c_int"
        if isinstance(node, c_ast.Struct | c_ast.Union):
            return str(node.name)
        name = " ".join(node.names)
        if name in _BASE:
            return f"ctypes.{_BASE[name]}"
        if name in self.aliases:
            inner = self.aliases[name]
            target = inner.type if isinstance(inner, c_ast.TypeDecl) else inner
            if isinstance(target, c_ast.Struct | c_ast.Union):
                return target.name or name
            return self.text(inner)
        raise SystemExit(f"build_ffi: no ctypes type for {name!r}")

    def parameter(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.ArrayDecl | c_ast.FuncDecl):
            return "ctypes.c_void_p"
        return self.text(node)


def _dimension(node: c_ast.Node) -> int:
    if isinstance(node, c_ast.BinaryOp):
        left, right = _dimension(node.left), _dimension(node.right)
        return {"+": left + right, "*": left * right}[node.op]
    return int(node.value.rstrip("uUlL"), 0)


def _prototype(function: Function, types: _Types) -> str:
    arguments = ", ".join(types.parameter(p.type) for p in function.params)
    if function.returns == "void":
        returns = "None"
    elif function.returns == "const char *":
        returns = "ctypes.c_char_p"
    else:
        returns = types.text(function.decl.type.type)
    return f'    "{function.name}": ({returns}, [{arguments}]),'


def ctypes_py(api: Api) -> str:
    types = _Types(api)
    lines = [
        f'"""ctypes view of the C ABI. {BANNER}"""',
        "",
        "import ctypes",
        *types.lines,
        "",
        "",
        "PROTOTYPES = {",
    ]
    lines += [_prototype(f, types) for f in api.functions if not f.variadic]
    lines += ["}"]
    return "\n".join(lines) + "\n"


# --- what help(), inspect.signature() and type checkers are told ------------------------------

_PYTHON = {"c_bool": "bool", "c_float": "float", "c_double": "float"}


def _names(function: Function) -> list[str]:
    """The parameters as Python may call them."""
    names = named(function, function.name)[1]
    return [f"{name}_" if keyword.iskeyword(name) else name for name in names]


def declarations_py(api: Api) -> str:
    """Each function's header, result and parameters as C has them."""
    lines = [
        f'"""Declarations of the functions, in the words of C. {BANNER}"""',
        "",
        "DECLARATIONS: dict[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {",
    ]
    for function in api.functions:
        if function.variadic:
            continue
        types = [" ".join(type_text(_unnamed(p)).split()) for p in function.params]
        pairs = "".join(f"({n!r}, {t!r}), " for n, t in zip(_names(function), types, strict=True))
        text = f"({function.header!r}, {function.returns!r}, ({pairs.rstrip()}))"
        lines.append(f"    {function.name!r}: {text},")
    return "\n".join([*lines, "}"]) + "\n"


def _unnamed(param: c_ast.Node) -> c_ast.Node:
    """The type of a parameter, without the parameter's name in the middle of it."""
    plain = own(param.type)
    node = plain
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    node.declname = None
    return c_ast.Typename(None, [], None, plain)


def functions_pyi(api: Api) -> str:
    """The functions as methods, for type checkers and editors."""
    types = _Types(api)
    lines = [
        f"# The functions of the C ABI as ctypes calls them. {BANNER}",
        "import ctypes",
        "from _ctypes import _CArgObject, _CData",
        "from typing import TypeAlias",
        "",
        "from . import prototypes",
        "",
        "Pointer: TypeAlias = int | bytes | str | _CData | _CArgObject | None",
        "Integer: TypeAlias = int | ctypes._SimpleCData[int]",
        "Float: TypeAlias = float | ctypes._SimpleCData[float]",
        "Bool: TypeAlias = bool | ctypes._SimpleCData[bool]",
        "",
        "class Functions:",
    ]
    for function in api.functions:
        if function.variadic:
            continue
        texts = [_accepted(types.parameter(p.type)) for p in function.params]
        given = [f"{n}: {t}" for n, t in zip(_names(function), texts, strict=True)]
        arguments = ", ".join(["self", *given, "/"])
        lines.append(f"    def {function.name}({arguments}) -> {_answered(function, types)}: ...")
    return "\n".join(lines) + "\n"


def _accepted(text: str) -> str:
    kind = text.removeprefix("ctypes.")
    if kind == text:
        return f"prototypes.{text}"
    if kind in ("c_void_p", "c_char_p"):
        return "Pointer"
    return _PYTHON.get(kind, "integer").capitalize()


def _answered(function: Function, types: _Types) -> str:
    if function.returns == "void":
        return "None"
    if function.returns == "const char *":
        return "bytes | None"
    text = types.text(function.decl.type.type)
    kind = text.removeprefix("ctypes.")
    if kind == text:
        return f"prototypes.{text}"
    return "int | None" if kind == "c_void_p" else _PYTHON.get(kind, "int")
