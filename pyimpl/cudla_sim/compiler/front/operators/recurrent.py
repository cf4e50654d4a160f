"""LSTM, GRU and RNN of a known length, step after step.

What the inputs of all steps add to the gates is one convolution over time; each step then has the
convolution of the state before, gates by table, and products. States stay in the device's memory.
Source: ONNX operator specification (LSTM, GRU, RNN: equations, order of gates).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...curves import CURVES
from ...errors import Unsupported
from ...graph import Concat, Conv, Slice, Value
from ..tensors import Constant, Item, Tensor
from ..views import Digit, View, arranged, whole
from .registry import Call, floats, operator

Array = NDArray[np.float32]

_MOST_STEPS = 2048
_UNROLL = "unroll it when exporting, or leave it to the host with --fallback cpu"
_USUAL = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@dataclass(frozen=True, slots=True)
class _Layer:
    """One direction: weights by gate [gates, hidden, inputs] and [gates, hidden, hidden], biases
    [2, gates, hidden] (of inputs, of states), activations."""

    call: Call
    name: str
    inputs: Array
    states: Array
    biases: Array
    functions: tuple[str, ...]
    clip: float

    @property
    def hidden(self) -> int:
        """Size of the state."""
        return int(self.states.shape[2])

    def named(self, what: str) -> str:
        """A name for a value of the layer."""
        return f"{self.call.build.target}/{self.name}{what}"

    def product(self, x: Value, weights: Array, bias: Array, what: str) -> Value:
        """A matrix [rows, columns] on the channels of a value."""
        n, _, h, w = x.shape
        return self.call.build.add(
            Conv,
            [x],
            (n, len(weights), h, w),
            self.named(what),
            weights=np.ascontiguousarray(weights[:, :, None, None]),
            bias=np.ascontiguousarray(bias),
        )

    def gate(self, x: Value, which: int, what: str) -> Value:
        """An activation, behind the clip."""
        build, function = self.call.build, self.functions[which]
        if self.clip:
            x = build.clip(x, -self.clip, self.clip, self.named(f"{what}/clip"))
        if function == "Relu":
            return build.clip(x, 0.0, np.inf, self.named(what))
        return build.curve(x, function, self.named(what))

    def join(self, function: str, x: Value, y: Value, what: str) -> Value:
        """Two states."""
        return self.call.build.binary(function, x, y, self.named(what))

    def part(self, x: Value, first: int, count: int, what: str) -> Value:
        """Some channels."""
        n, _, h, w = x.shape
        return self.call.build.add(
            Slice, [x], (n, count, h, w), self.named(what), starts=(first, 0, 0)
        )


@dataclass(slots=True)
class _Sums:
    """What all steps get from their inputs: convolutions over time, for some gates each."""

    layer: _Layer
    over_time: dict[tuple[int, ...], Value]

    @classmethod
    def of(cls, layer: _Layer, x: Value, groups: Sequence[tuple[int, ...]], biases: Array) -> _Sums:
        """*biases* [gates, hidden] are added to the sums."""
        found = {}
        for number, group in enumerate(groups):
            chosen = list(group)
            weights = layer.inputs[chosen].reshape(len(group) * layer.hidden, -1)
            bias = biases[chosen].reshape(-1)
            found[group] = layer.product(x, weights, bias, f"/inputs{number}")
        return cls(layer, found)

    def at(self, step: int, group: tuple[int, ...], state: Value | None, what: str) -> Value:
        """The sums of a step, with what the state before adds."""
        layer, whole_sum = self.layer, self.over_time[group]
        n, channels, _, _ = whole_sum.shape
        own = layer.call.build.add(
            Slice,
            [whole_sum],
            (n, channels, 1, 1),
            layer.named(f"{what}/input"),
            starts=(0, 0, step),
        )
        if state is None:
            return own
        weights = layer.states[list(group)].reshape(channels, -1)
        zero = np.zeros(channels, np.float32)
        past = layer.product(state, weights, zero, f"{what}/state")
        return layer.join("add", past, own, what)


def _lstm(layer: _Layer, x: Value, steps: Sequence[int], h: Value | None, c: Value | None) -> _Run:
    sums = _Sums.of(layer, x, ((0, 1, 2), (3,)), layer.biases.sum(0))
    size, made = layer.hidden, []
    for step in steps:
        at = f"/{step}"
        gates = layer.gate(sums.at(step, (0, 1, 2), h, f"{at}/sums"), 0, f"{at}/gates")
        new = layer.gate(sums.at(step, (3,), h, f"{at}/new"), 1, f"{at}/cell")
        c_new = layer.join("mul", layer.part(gates, 0, size, f"{at}/i"), new, f"{at}/in")
        if c is not None:
            kept = layer.join("mul", layer.part(gates, 2 * size, size, f"{at}/f"), c, f"{at}/kept")
            c_new = layer.join("add", kept, c_new, f"{at}/c")
        c = c_new
        shown = layer.gate(c, 2, f"{at}/shown")
        h = layer.join("mul", layer.part(gates, size, size, f"{at}/o"), shown, f"{at}/h")
        made.append(h)
    return _Run(made, h, c)


def _gru(layer: _Layer, x: Value, steps: Sequence[int], h: Value | None, c: Value | None) -> _Run:
    late = bool(layer.call.attribute("linear_before_reset", 0))
    biases = layer.biases.sum(0)
    if late:  # the state's bias of the new value is multiplied, too
        biases[2] = layer.biases[0, 2]
    sums = _Sums.of(layer, x, ((0, 1), (2,)), biases)
    size, made = layer.hidden, []
    for step in steps:
        at = f"/{step}"
        gates = layer.gate(sums.at(step, (0, 1), h, f"{at}/sums"), 0, f"{at}/gates")
        reset = layer.part(gates, size, size, f"{at}/r")
        if h is None and late:
            bias = layer.biases[1, 2].reshape(1, -1, 1, 1)
            state = layer.call.build.affine(reset, bias, 0.0, layer.named(f"{at}/past"))
            new = layer.join("add", state, sums.at(step, (2,), None, f"{at}/own"), f"{at}/new")
        elif h is None:
            new = sums.at(step, (2,), None, f"{at}/new")
        elif late:
            past = layer.product(h, layer.states[2], layer.biases[1, 2], f"{at}/past")
            past = layer.join("mul", past, reset, f"{at}/reset")
            new = layer.join("add", past, sums.at(step, (2,), None, f"{at}/own"), f"{at}/new")
        else:
            past = layer.join("mul", reset, h, f"{at}/reset")
            new = sums.at(step, (2,), past, f"{at}/new")
        new = layer.gate(new, 1, f"{at}/tanh")
        update = layer.part(gates, 0, size, f"{at}/z")
        if h is None:  # (1 - z) * new
            rest = layer.call.build.affine(update, -1.0, 1.0, layer.named(f"{at}/rest"))
            h = layer.join("mul", rest, new, f"{at}/h")
        else:  # new + z * (h - new)
            away = layer.join("sub", h, new, f"{at}/away")
            moved = layer.join("mul", away, update, f"{at}/moved")
            h = layer.join("add", moved, new, f"{at}/h")
        made.append(h)
    return _Run(made, h, None)


def _rnn(layer: _Layer, x: Value, steps: Sequence[int], h: Value | None, c: Value | None) -> _Run:
    sums = _Sums.of(layer, x, ((0,),), layer.biases.sum(0))
    made = []
    for step in steps:
        h = layer.gate(sums.at(step, (0,), h, f"/{step}/sums"), 0, f"/{step}/h")
        made.append(h)
    return _Run(made, h, None)


@dataclass(frozen=True, slots=True)
class _Run:
    """States of all steps in the order of computing, the last one, and the last cell."""

    states: list[Value]
    h: Value | None
    c: Value | None


_LAYERS = {"LSTM": _lstm, "GRU": _gru, "RNN": _rnn}


@operator("LSTM", "GRU", "RNN")
def _recurrent(call: Call) -> list[Item]:
    x, kind = call.tensor(), call.op
    batch_first = bool(call.attribute("layout", 0))
    if x.rank != 3:
        raise Unsupported(f"its input has {x.rank} dimensions, not three")
    time, batch = (1, 0) if batch_first else (0, 1)
    length, pictures = x.shape[time], x.shape[batch]
    if pictures != 1:
        raise Unsupported(f"it works on {pictures} sequences at once", "use a batch of one")
    if length > _MOST_STEPS:
        raise Unsupported(f"it has {length} steps, {_MOST_STEPS} are possible", _UNROLL)
    value = call.build.plain(arranged(x.view, [[batch], [2], [], [time]]))
    directions = _directions(call, length)
    runs = []
    for number, steps in enumerate(directions):
        layer = _layer(call, number, len(directions))
        if len(layer.inputs[0][0]) != x.shape[2]:
            raise Unsupported(f"weights for {len(layer.inputs[0][0])} inputs, not {x.shape[2]}")
        places = (5, 6) if kind == "LSTM" else (5,)
        first = [_initial(call, place, number, layer.hidden, batch_first) for place in places]
        runs.append(
            _LAYERS[kind](layer, value, steps, first[0], first[1] if len(first) > 1 else None)
        )
    return _outputs(call, x, runs, directions, batch_first)


def _directions(call: Call, length: int) -> list[list[int]]:
    """The steps of each direction in the order of computing."""
    if call.given(4):
        lengths = call.constant(4, "sequence_lens").ints()
        if any(item != length for item in lengths):
            raise Unsupported("its sequences have lengths of their own", _UNROLL)
    forward = list(range(length))
    found = {
        "forward": [forward],
        "reverse": [forward[::-1]],
        "bidirectional": [forward, forward[::-1]],
    }.get(call.attribute("direction", "forward"))
    if found is None:
        raise Unsupported("it has no direction", "repair the model")
    return found


def _layer(call: Call, number: int, directions: int) -> _Layer:
    """The weights of one direction."""
    kind, gates = call.op, _GATES[call.op]
    if call.given(7):
        peepholes = floats(call.constant(7, "peepholes"))
        if np.any(peepholes):
            raise Unsupported("it has peepholes", _UNROLL)
    if call.attribute("input_forget", 0):
        raise Unsupported("its input gate follows the forget gate", _UNROLL)
    inputs = floats(call.constant(1, "weights"))
    states = floats(call.constant(2, "recurrence weights"))
    if inputs.ndim != 3 or states.ndim != 3 or len(inputs) != directions:
        raise Unsupported("its weights have other dimensions", "repair the model")
    hidden = states.shape[2]
    biases = np.zeros((2, gates, hidden), np.float32)
    if call.given(3):
        biases = floats(call.constant(3, "biases"))[number].reshape(2, gates, hidden)
    usual = _USUAL[kind]
    named = call.attribute("activations") or [*usual] * directions
    words = [word.decode() if isinstance(word, bytes) else str(word) for word in named]
    chosen = tuple(words[number * len(usual) : (number + 1) * len(usual)])
    if call.attribute("activation_alpha") or call.attribute("activation_beta"):
        raise Unsupported("its activations have parameters", _UNROLL)
    unknown = [word for word in chosen if word not in (*CURVES, "Relu")]
    if unknown or len(chosen) != len(usual):
        raise Unsupported(f"its activations are {', '.join(chosen)}", _UNROLL)
    return _Layer(
        call,
        ("forward", "backward")[number],
        inputs[number].reshape(gates, hidden, -1),
        states[number].reshape(gates, hidden, hidden),
        np.array(biases, np.float32),
        chosen,
        float(call.attribute("clip", 0.0) or 0.0),
    )


def _initial(call: Call, place: int, number: int, hidden: int, batch_first: bool) -> Value | None:
    """The state before the first step; None where it is 0."""
    if not call.given(place):
        return None
    item = call.item(place)
    if isinstance(item, Constant):
        if not np.any(item.floats()):
            return None
        raise Unsupported("its first state is a constant that is not 0", _UNROLL)
    directions = item.shape[1 if batch_first else 0]
    order = [[], [1, 0, 2], [], []] if batch_first else [[], [0, 1, 2], [], []]
    both = call.build.plain(arranged(item.view, order))
    if directions == 1:
        return both
    name = f"{call.build.target}/first{place}/{number}"
    return call.build.add(Slice, [both], (1, hidden, 1, 1), name, starts=(number * hidden, 0, 0))


def _outputs(
    call: Call, x: Tensor, runs: list[_Run], directions: list[list[int]], batch_first: bool
) -> list[Item]:
    """Y, the last state, and the last cell of an LSTM."""
    build, count, length = call.build, len(runs), len(directions[0])
    found: list[Item] = []
    hidden = runs[0].states[0].shape[1]
    sides = (Digit(1, hidden, count),) if count > 1 else ()
    state = (Digit(1, 1, hidden),) if hidden > 1 else ()
    if call.wants(0):
        over_time: list[Value] = []
        for run, steps in zip(runs, directions, strict=True):
            ordered = [one for _, one in sorted(zip(steps, run.states, strict=True), key=_step)]
            name = f"{build.target}/all{len(over_time)}"
            size = (1, hidden, 1, length)
            joined = build.add(Concat, ordered, size, name, axis=3) if length > 1 else ordered[0]
            over_time.append(joined)
        both = _joined(call, over_time, f"{build.target}/y")
        time = whole(both.shape, 3)
        dims = ((), time, sides, state) if batch_first else (time, sides, (), state)
        found.append(x.viewed(View(both, dims)))
    else:
        found.append(Constant(np.zeros(0, np.float32)))
    lasts = [[run.h for run in runs]] + ([[run.c for run in runs]] if call.op == "LSTM" else [])
    for number, last in enumerate(lasts):
        if not call.wants(number + 1):
            found.append(Constant(np.zeros(0, np.float32)))
            continue
        values = [value for value in last if value is not None]
        one = _joined(call, values, f"{build.target}/last{number}")
        dims_ = ((), sides, state) if batch_first else (sides, (), state)
        found.append(x.viewed(View(one, dims_)))
    return found


def _joined(call: Call, values: list[Value], name: str) -> Value:
    """Directions behind each other among the channels."""
    if len(values) == 1:
        return values[0]
    n, channels, h, w = values[0].shape
    return call.build.add(Concat, values, (n, channels * len(values), h, w), name, axis=1)


def _step(pair: tuple[int, Value]) -> int:
    return pair[0]
