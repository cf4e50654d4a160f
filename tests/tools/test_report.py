"""``cudla-sim report``: one page that needs no network, with the figures of the models."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cudla_sim
from cudla_sim.nvdla.build import Network
from cudla_sim.tools import report
from cudla_sim.tools.report import figures, trace
from cudla_sim.tools.report.page import Page, Section, Table, number
from cudla_sim.tools.root import run_command


class Reader(HTMLParser):
    """Tables by section, and whatever a browser would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.section = ""
        self.tables: dict[str, list[list[str]]] = {}
        self.heads: dict[str, list[str]] = {}
        self.fetched: list[str] = []
        self.texts: dict[str, str] = {}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        for name in ("src", "href"):
            if given.get(name) and not (given[name] or "").startswith("data:"):
                self.fetched.append(given[name] or "")
        if tag == "section":
            self.section = given.get("id") or ""
        elif tag == "tr":
            self.tables.setdefault(self.section, []).append([])
        elif tag == "td":
            self.tables[self.section][-1].append(given.get("data-value") or "")
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside == "button":
            self.heads.setdefault(self.section, []).append(data)
        if self._inside not in ("script", "style"):
            self.texts[self.section] = self.texts.get(self.section, "") + data

    def rows(self, section: str) -> list[dict[str, str]]:
        found = [r for r in self.tables.get(section, []) if r]
        return [dict(zip(self.heads[section], r, strict=True)) for r in found]


@pytest.fixture(scope="module")
def loadable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A convolution, another with a sum behind it, a pooling."""
    random = np.random.default_rng(3)
    net = Network(input=("data", (1, 16, 6, 5)), precision="fp16")
    first = net.conv2d(random.normal(size=(32, 16, 3, 3)), padding=1, name="first")
    second = net.conv2d(random.normal(size=(32, 32, 1, 1)), name="second")
    net.add(first, second, relu=True)
    net.max_pool(2)
    file = tmp_path_factory.mktemp("report") / "net <1>.nvdla"
    file.write_bytes(net.build())
    return file


def unpacked(text: str) -> dict[str, Any]:
    """The figures and graphs in a page."""
    packed = re.search(r'<script type="text/plain" id="figures">([^<]*)</script>', text)
    assert packed is not None
    return dict(json.loads(gzip.decompress(base64.b64decode(packed[1]))))


def read(source: Path, **options: Any) -> Reader:
    return Reader(report.page(source, **options).html())


def test_a_loadable(loadable: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = read(loadable)
    assert page.fetched == []
    assert run_command(["nvdla", "time", "--json", str(loadable)]) == 0
    run = json.loads(capsys.readouterr().out)["runs"][0]
    rows = page.rows("layers")
    assert [(r["unit"], int(r["cycles"]), r["bound by"], int(r["bytes read"])) for r in rows] == [
        (o["unit"], o["end"] - o["start"], o["bound"], o["bytes_read"]) for o in run["operations"]
    ]
    assert [r["shapes (c x h x w)"] for r in rows] == [
        "16x6x5 -> 32x6x5",
        "32x6x5 -> 32x6x5",
        "32x6x4 -> 32x3x2",
    ]
    assert f"{run['cycles']:,}" in page.texts["summary"]
    assert "direct 3x3 c16 k32" in rows[0]["what"]
    assert {"timeline", "graph", "memory"} <= set(page.texts)


def test_saturation_comes_from_a_run(tmp_path: Path) -> None:
    # calibrated where both channels are nearly alike, used where they are opposite: three of the
    # four differences are far outside the range
    net = Network(input=("data", (1, 2, 2, 2)), precision="int8")
    net.conv2d(np.array([1.0, -1.0]).reshape(1, 2, 1, 1))
    alike = np.ones((1, 2, 2, 2))
    alike[0, 1] = 0.95
    file = tmp_path / "hot.nvdla"
    file.write_bytes(net.build(calibration=alike))
    image = np.full((1, 2, 2, 2), 100, np.int8)
    image[0, 1].flat[1:] = -100
    np.save(tmp_path / "in.npy", image)
    page = read(file, inputs=[f"0={tmp_path / 'in.npy'}"])
    (row,) = page.rows("layers")
    assert int(row["saturated"]) == 3


def test_memory_is_in_use_from_its_first_write_to_its_last_read(loadable: Path) -> None:
    from cudla_sim.nvdla.inspect import describe
    from cudla_sim.nvdla.loadable import Loadable
    from cudla_sim.nvdla.timing import runs
    from cudla_sim.nvdla.timing.parameters import Surroundings
    from cudla_sim.tools.report.nvdla import _boxes

    network = Loadable.parse(loadable.read_bytes())
    run = runs.loadable(network, "net", "nv_full", Surroundings())
    boxes = _boxes(describe(network), run)
    first, second, pool = run.operations
    kept = [b for b in boxes if b.group == "activations" and b.begin == first.start]
    assert [b.end for b in kept] == [second.end]  # the sum reads what the first layer wrote
    assert [(b.begin, b.end) for b in boxes if b.group == "outputs"] == [(pool.start, run.cycles)]
    assert all(b.begin == 0 for b in boxes if b.group.startswith(("inputs", "weights")))
    assert first.start < second.start


def record(kind: str, at: float, length: float, **more: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": 7,
        "tid": 1,
        "cat": kind,
        "name": kind,
        "ts": at,
        "dur": length,
        "args": {},
        **more,
    }


RECORDS = [
    {"ph": "M", "pid": 7, "tid": 1, "name": "thread_name", "args": {"name": "main"}},
    record("call", 100, 50, name="dpu_launch", args={"explanation": "because <b>"}),
    record("call", 200, 150, name="dpu_launch"),
    record("hardware", 0, 3000, pid=9, name="launch k", args={
        "cycles": 1000, "dpus": 3, "instructions": 900,
        "dpu_cycles": {"0.0.0": 1000, "0.0.1": 990, "0.1.0": 400},
    }),
]  # fmt: skip


@pytest.mark.parametrize("form", ["array", "object", "killed"])
def test_a_trace(form: str, tmp_path: Path) -> None:
    text = json.dumps(RECORDS)
    if form == "object":
        text = json.dumps({"traceEvents": RECORDS})
    elif form == "killed":
        text = "[\n" + "".join(json.dumps(r) + ",\n" for r in RECORDS)
    file = tmp_path / "t.json"
    file.write_text(text)
    page = read(file)
    (calls,) = page.rows("calls")
    assert (calls["function"], calls["calls"], calls["failed"]) == ("dpu_launch", "2", "1")
    assert float(calls["ms in all"]) == pytest.approx(0.2)
    assert float(calls["us at most"]) == pytest.approx(150)
    assert "because <b>" in page.texts["summary"]
    assert "heat" in page.texts


def test_the_heat_map_has_a_cell_for_each_dpu() -> None:
    from cudla_sim.tools.report import upmem

    section = upmem.heat([("k", RECORDS[3]["args"]["dpu_cycles"]), ("none", {})])  # type: ignore[index]
    (figure,) = section.figures
    (cells,) = figure.data
    assert cells["y"] == ["rank 0 chip 0", "rank 0 chip 1"]
    assert cells["z"] == [[1000, 990], [400, None]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("{}", "is no trace"),
        ("[]", "no events"),
        ('[{"ph": "X"}]', "damaged"),
        ('[{"ph": "X", "pid": "a", "tid": 1, "ts": "x", "name": ""}]', "damaged"),
        ('{"version": 2, "steps": []}', "version 2"),
        ('{"version": 1, "steps": [{}]}', "damaged"),
        ('{"version": 1, "steps": 3}', "damaged"),
    ],
)
def test_what_is_no_trace_is_said_in_a_line(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.json"
    file.write_text(text)
    assert run_command(["report", str(file), "-o", str(tmp_path / "x.html")]) == 1
    said = capsys.readouterr().err
    assert why in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "x.html").exists()


def test_other_mistakes_are_said(
    tmp_path: Path, loadable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = str(tmp_path / "x.html")
    (tmp_path / "bad.nvdla").write_bytes(b"nothing")
    for words, status in (
        ([], 2),
        ([str(tmp_path / "absent.nvdla")], 1),
        ([str(tmp_path / "bad.nvdla")], 1),
        ([str(tmp_path)], 1),
        ([str(loadable), "--config", "nv_huge"], 2),
        ([str(loadable), "--input", "5=x"], 2),
        ([str(loadable), "--accuracy", str(loadable)], 1),
        ([str(loadable), "-o", str(tmp_path / "no" / "x.html")], 1),
    ):
        assert run_command(["report", "-o", page, *words]) == status, words
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1, said
        assert said.startswith("cudla-sim report: ")


def test_the_script_in_the_page_is_that_of_plotly(loadable: Path) -> None:
    text = report.page(loadable).html()
    packed = re.search(r'<script type="text/plain" id="plotly">([^<]*)</script>', text)
    assert packed is not None
    assert b"plotly.js (cartesian" in gzip.decompress(base64.b64decode(packed[1]))[:100]
    assert len(text) < 1_000_000


def test_rows_bars_and_boxes_of_a_layer_have_one_key(loadable: Path) -> None:
    page = report.page(loadable)
    found = {s.name: s for s in page.sections}
    rows = found["layers"].tables[0].keys
    (figure,) = found["timeline"].figures
    assert {key for trace in figure.data for key in trace.get("customdata", ()) if key} == set(rows)
    (graph,) = found["graph"].graphs
    data = graph.data()
    layers = [box for box in data["boxes"] if box["group"] != "input or output"]
    assert {box["key"] for box in layers} == set(rows)
    assert max(box["share"] for box in layers) == 1
    colours = {trace["name"]: trace["marker"]["color"] for trace in figure.data}
    assert colours.items() <= data["groups"].items(), "as in the timeline"
    assert len(set(rows)) == len(rows) == len(found["layers"].tables[0].rows)


def test_boxes_say_what_the_table_says(loadable: Path) -> None:
    page = report.page(loadable)
    (graph,) = next(s for s in page.sections if s.name == "graph").graphs
    boxes = {box["key"]: dict(box["attributes"]) for box in graph.data()["boxes"]}
    for row in read(loadable).rows("layers"):
        said = boxes[row["#"]]
        assert said["bound by"] == row["bound by"]
        assert said["cycles"].startswith(f"{int(row['cycles']):,} (")
        assert said["bytes read"] == f"{int(row['bytes read']):,}"
    edges = [(e.source, e.target) for e in graph.edges]
    assert edges == [("in0", "0"), ("0", "1"), ("1", "2"), ("2", "out0")]


def test_pieces_of_a_layer_are_one_box(tmp_path: Path) -> None:
    """Two convolutions of 3x3 that nv_small's buffer holds in pieces only, and a sum with both."""
    from onnx import TensorProto, helper, numpy_helper

    from cudla_sim.compiler import compilation

    random = np.random.default_rng(4)
    filters = [random.normal(size=(32, 32, 3, 3)).astype(np.float32) for _ in range(2)]
    shape = (1, 32, 64, 64)
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["p"], pads=[1] * 4),
        helper.make_node("Conv", ["p", "b"], ["q"], pads=[1] * 4),
        helper.make_node("Add", ["p", "q"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "xy"]
    weights = [numpy_helper.from_array(f, n) for f, n in zip(filters, "ab", strict=True)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", ends[:1], ends[1:], weights),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    model.ir_version = 9
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    np.save(tmp_path / "x.npy", random.normal(size=shape).astype(np.float32))
    request = compilation.Request(
        tmp_path / "m.onnx",
        compilation.Options(config="nv_small", precision="int8"),
        calib=[tmp_path / "x.npy"],
    )
    file = tmp_path / "m.nvdla"
    file.write_bytes(compilation.run(request, print).compiled.loadable)
    page = report.page(file)
    (graph,) = next(s for s in page.sections if s.name == "graph").graphs
    boxes = [layer for layer in graph.layers if layer.group != "input or output"]
    rows = next(s for s in page.sections if s.name == "layers").tables[0].keys
    assert len(rows) > 2 == len(boxes), "the sum is done behind the second convolution"
    assert [key for box in boxes for key in box.keys] == rows
    first, second = (box.name for box in boxes)
    assert {(e.source, e.target) for e in graph.edges} == {
        ("in0", first), (first, second), (second, "out0"),
    }  # fmt: skip
    whole = {r["#"]: int(r["cycles"]) for r in Reader(page.html()).rows("layers")}
    for box in boxes:
        assert (
            f"{sum(whole[key] for key in box.keys):,} cycles, {len(box.keys)} pieces" in box.lines
        )


def test_figures_hold_no_markup_of_their_own() -> None:
    section = Section("a", "a", figures=[figures.heat_map(["</script>"], ["b"], [[1]], "c")])
    text = Page("t", "", [section]).html()
    assert unpacked(text)["a-figure-0"]["data"][0]["y"] == ["</script>"]
    assert text.count("</script>") == text.count("<script") == 4


def test_python_writes_the_same_page(loadable: Path, tmp_path: Path) -> None:
    cudla_sim.report(loadable, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "net &lt;1&gt;.nvdla on nv_full" in text
    assert Reader(text).rows("layers") == read(loadable).rows("layers")


def test_cells() -> None:
    html = Table(
        [("a", "text"), ("n", "number"), ("p", "percent")], [["<x>", 1234567, 0.25]]
    ).html()
    assert "&lt;x&gt;" in html
    assert '<td class="number" data-value="1234567">1,234,567</td>' in html
    assert '<td class="number" data-value="0.25">25.0%</td>' in html
    assert (number(0.00012345), number(12345.6)) == ("0.0001234", "12,346")


def test_a_timeline_keeps_the_longest() -> None:
    bars = [figures.Bar("t", i, i + (i % 7) + 1, "g", "") for i in range(figures.MAX_BARS + 100)]
    kept, left = figures.longest(bars)
    assert left == 100
    assert min(b.end - b.begin for b in kept) == 1
    assert sum(b.end - b.begin == 7 for b in kept) == sum(b.end - b.begin == 7 for b in bars)


def test_arrows_of_a_trace() -> None:
    flows = [
        {"ph": "s", "pid": 7, "tid": 1, "id": 1, "ts": 150},
        {"ph": "f", "pid": 7, "tid": 2, "id": 1, "ts": 300, "bp": "e"},
        {"ph": "f", "pid": 7, "tid": 2, "id": 2, "ts": 300, "bp": "e"},
    ]
    found = trace.decode([*RECORDS, *flows])
    assert found.arrows == [(7, "main", pytest.approx(0.05), "thread 2", pytest.approx(0.2))]


def test_no_word_of_the_page_is_a_link(loadable: Path) -> None:
    text = report.page(loadable).html()
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "http" not in own


def test_loadables_side_by_side(
    loadable: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "small.nvdla"
    net = Network(input=("data", (1, 16, 6, 5)), precision="int8", config="nv_small")
    net.conv2d(np.ones((32, 16, 3, 3)), padding=1)
    other.write_bytes(net.build(calibration=np.ones((1, 16, 6, 5))))
    output = tmp_path / "page.html"
    assert run_command(["report", str(loadable), str(other), "-o", str(output)]) == 0
    page = Reader(output.read_text())
    capsys.readouterr()
    timed = []
    for file in (loadable, other):
        assert run_command(["nvdla", "time", "--json", str(file)]) == 0
        timed.append(json.loads(capsys.readouterr().out)["runs"][0])
    summary = page.rows("summary")
    assert [row["cycles"] for row in summary] == [str(t["cycles"]) for t in timed]
    assert float(summary[1]["of the first"]) == timed[1]["cycles"] / timed[0]["cycles"]
    layers = page.rows("layers")
    assert len(layers) == max(len(t["operations"]) for t in timed)
    assert layers[-1]["cycles: small.nvdla on nv_small"] == ""
    assert "other operations from there on" in page.texts["layers"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["a.nvdla", "none.nvdla"], "none.nvdla: no such file"),
        (["a.nvdla"] * 7, "7 loadables: 6 at most"),
        (["a.nvdla", "text.nvdla"], "text.nvdla: "),
    ],
)
def test_what_cannot_be_compared(
    words: list[str], why: str, loadable: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.nvdla").write_bytes(loadable.read_bytes())
    (tmp_path / "text.nvdla").write_text("none")
    given = [str(tmp_path / word) for word in words]
    assert run_command(["report", *given, "-o", str(tmp_path / "page.html")]) == 1
    said = capsys.readouterr().err
    assert why in said.lower()
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "page.html").exists()
