"""Pages that are made from the code say what the code says."""

from __future__ import annotations

import ast
import ctypes
import dataclasses
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import build_ffi
from cudla_sim.core import config
from cudla_sim.core.config import PREFIX
from cudla_sim.core.points import ENGINE_POINTS
from cudla_sim.cupva.workers.checks import Checks as VpuChecks
from cudla_sim.families import FAMILIES
from cudla_sim.nvdla import descriptors
from cudla_sim.testing import plugin, prototypes
from cudla_sim.upmem.workers.checks import Checks as DpuChecks
from docs.generate import answers as analysis
from docs.generate import (
    commands,
    functions,
    loadable_fields,
    navigation,
    settings,
    snippets,
    statuses,
)
from tests.conftest import ROOT


def test_every_setting_is_explained() -> None:
    text = settings.page()
    for name in config.names():
        (line,) = [
            row for row in text.splitlines() if row.startswith(f"| `{PREFIX}{name.upper()}` ")
        ]
        assert len(line.split("|")[3].strip()) > 10, "a field has a docstring"


@pytest.mark.slow
def test_every_function_stands_on_one_page() -> None:
    pages = {name: functions.page(name) for name in functions.TITLES}
    states = re.compile(r"\| (implemented|refuses|missing) \|")
    found = sum(len(states.findall(text)) for text in pages.values())
    assert found == len(build_ffi.api().functions)
    assert "| missing |" not in "".join(pages.values())
    assert "`cudlaStatus cudlaDestroyDevice(" in pages["cudla"]
    assert "cudlaDestroyDevice" in prototypes.PROTOTYPES


def sections(name: str) -> dict[str, str]:
    """The section of each function on a page."""
    parts = re.split(r"^### (\w+) \{ #\w+ \}$", functions.page(name), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_implemented_function_has_its_section() -> None:
    found = [function for name in functions.TITLES for function in sections(name)]
    states = functions.states()
    assert sorted(found) == sorted(n for n, (state, _) in states.items() if state == "implemented")


def test_a_section_says_directions_and_causes() -> None:
    register = sections("cudla")["cudlaMemRegister"]
    assert "| `devPtr` | out | `uint64_t ** const` |" in register
    assert "| `size` | in | `const size_t` |" in register
    causes = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", register, re.MULTILINE))
    assert "devPtr is NULL" in causes["cudlaErrorInvalidParam"]
    assert "devHandle is NULL, stale or of another kind" in causes["cudlaErrorInvalidDevice"]
    assert "is registered already" in causes["cudlaErrorMemoryRegistered"]
    assert "(../../cudla/tutorial.md)" in register
    alloc = sections("upmem")["dpu_alloc"]
    assert "| `dpu_set` | out | `struct dpu_set_t *` |" in alloc
    assert "| `profile` | in | `const char *` |" in alloc


def test_a_section_says_where_handles_come_from() -> None:
    device = (
        "| `devHandle` | in | `const cudlaDevHandle` | [`cudlaCreateDevice`](#cudlacreatedevice) |"
    )
    assert device in sections("cudla")["cudlaDestroyDevice"]
    dpus = "| `dpu_set` | in | `struct dpu_set_t` | [`dpu_alloc`](#dpu_alloc)"
    assert dpus in sections("upmem")["dpu_free"]
    assert "comes from" not in sections("cudla")["cudlaCreateDevice"]
    for name in functions.TITLES:
        targets = re.findall(r"\]\(#(\w+)\)", functions.page(name))
        assert set(targets) <= {function.lower() for function in sections(name)}


def test_what_a_handler_reads_and_writes() -> None:
    tree = ast.parse(
        "def f(a, b, c, d):\n    a[0] = b.x\n    c.y += 1\n"
        "    ffi.memmove(d[2], b, 4)\n    return c.y"
    )
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    assert analysis.written(function) == {"a", "c", "d"}
    assert analysis.read(function) == {"b", "c", "d", "ffi"}


@pytest.mark.parametrize("page", ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_pages_beside_readme_link_to_what_is_there(page: str) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / page).read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_what_is_refused_says_why() -> None:
    refused = [name for name, (state, _) in functions.states().items() if state == "refuses"]
    assert refused
    assert [name for name in refused if not functions.reasons().get(name)] == []


def test_statuses_have_the_explanations_of_the_sources() -> None:
    text = statuses.page()
    (line,) = [row for row in text.splitlines() if row.startswith("| `cudlaErrorMemoryRegistered`")]
    assert "is registered already" in line


def test_a_status_that_the_sources_give_has_a_cause() -> None:
    """The members that stand in the code of an API, found by another way: as words."""
    package = ROOT / "pyimpl" / "cudla_sim"
    rows = dict(re.findall(r"^\| `(\w+)` \| -?\d+ \| (.*) \|$", statuses.page(), re.MULTILINE))
    for family in FAMILIES:
        sources = [*(package / family.name).rglob("*.py"), *(package / "abi").rglob("*.py")]
        words = {w for s in sources for w in re.findall(r"\.(\w+)", s.read_text())}
        for answers in family.answers:
            kind = getattr(import_module(f"cudla_sim.constants.{family.name}"), answers.enumeration)
            missing = [m for m in kind.__members__ if m in words and len(rows.get(m, "")) < 7]
            assert missing == [], family.name
    assert "NvDlaError_InvalidState" in rows, "a model with numbers of its own"


@pytest.mark.parametrize("command", ["run", "nvdla run", "compile", "upmem time"])
def test_commands_are_there(command: str) -> None:
    assert f" cudla-sim {command}\n" in commands.page()


def test_the_navigation_finds_an_api_by_its_folder(tmp_path: Path) -> None:
    nav: list[Any] = [{"Start": ["index.md"]}, {"Tools": ["a.md"]}, {"Reference": ["b.md"]}]
    (tmp_path / "cupva").mkdir()
    for page in ("differences", "flows", "porting", "tutorial"):
        (tmp_path / "cupva" / f"{page}.md").touch()
    start, section, tools, reference = navigation.complete(nav, tmp_path)
    pages = ["tutorial", "porting", "flows", "differences"]
    assert section == {"cuPVA": [f"cupva/{page}.md" for page in pages]}
    assert (start, tools) == (nav[0], nav[1])
    assert {"cuPVA": "reference/functions/cupva.md"} in reference["Reference"][1]["Functions"]
    listed = [{"PVA": [{"Begin": "cupva/tutorial.md"}, "x.md"]}, *nav]
    more = [f"cupva/{page}.md" for page in ("porting", "flows", "differences")]
    expected = [{"PVA": [{"Begin": "cupva/tutorial.md"}, "x.md", *more]}, nav[0]]
    assert navigation.complete(listed, tmp_path)[:2] == expected


def test_pages_name_everything_that_can_be_chosen() -> None:
    """What a user may write into a setting stands on the page about it."""

    def missing(page: str, names: Iterable[str]) -> list[str]:
        text = (ROOT / "docs" / page).read_text()
        return [name for name in names if f"`{name}`" not in text]

    assert missing("tools/faults.md", ENGINE_POINTS) == []
    assert missing("upmem/checks.md", [f.name for f in dataclasses.fields(DpuChecks)]) == []
    assert missing("cupva/porting.md", [f.name for f in dataclasses.fields(VpuChecks)]) == []
    fixtures = re.findall(r"^def (sim\w*)", Path(plugin.__file__).read_text(), re.MULTILINE)
    assert missing("tools/faults.md", ["sim_fault"]) == []
    text = (ROOT / "docs/tools/pytest.md").read_text()
    assert [name for name in fixtures if name not in text] == []


STRUCTURES = {
    "NetworkDesc": "dla_network_desc", "CommonOpDesc": "dla_common_op_desc",
    "DataCube": "dla_data_cube", "ConvOp": "dla_conv_op_desc", "SdpOp": "dla_sdp_op_desc",
    "PdpOp": "dla_pdp_op_desc", "CdpOp": "dla_cdp_op_desc", "RubikOp": "dla_rubik_op_desc",
    "LutParam": "dla_lut_param", "BdmaSurface": "dla_bdma_surface_desc",
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURES)
def test_offsets_are_those_of_the_header(name: str) -> None:
    """dla_interface.h as ctypes sees it; its unions are members with what fills them up here."""
    header = getattr(prototypes, STRUCTURES[name])
    offsets = [getattr(header, field).offset for field, *_ in header._fields_]
    found = loadable_fields.layout(getattr(descriptors, name), new=True)
    assert set(offsets) <= {offset for offset, _, _ in found}
    assert getattr(descriptors, name).byte_size(new=True) == ctypes.sizeof(header)


def test_the_lists_of_a_loadable_have_all_their_fields() -> None:
    """As nvdla/sw's loadable.fbs has them."""
    found = loadable_fields.entries()
    assert [field for _, _, field in found["Loadable"]] == [
        "version", "task_list", "memory_list", "address_list", "event_list", "blobs",
        "tensor_desc_list", "reloc_list", "submit_list",
    ]  # fmt: skip
    assert found["AddressEntry"][2] == ("2", "uint64", "offset")
    assert found["TensorDesc"][-1] == ("14 to 21", "uint32", "stride")
    assert len(found["RelocEntry"]) == 6


def test_a_snippet_is_a_statement_of_a_program_that_calls_the_function() -> None:
    found = snippets.calls()
    text, source = found["cudlaCreateDevice"]
    assert str(source).startswith("c_examples/cudla/")
    for name, (text, source) in found.items():
        program = "\n".join(line.strip() for line in (ROOT / source).read_text().splitlines())
        assert "\n".join(line.strip() for line in text.splitlines()) in program
        assert re.search(rf"\b{name}\s*\(", text)
    section = functions.page("cudla").split("### cudlaSubmitTask ")[1].split("### ")[0]
    assert f"```c\n{found['cudlaSubmitTask'][0]}\n```" in section
