"""Trains the samples' network on the handwritten digits that scikit-learn ships.

Run once; the result, ``digits.npz``, is checked in. Plain numpy, so that the few lines of training
can be read: 3x3 convolution of 8, 2x2 max pooling, 3x3 convolution of 16, pooling, 10 classes.

    pip install -e '.[train]' && python c_examples/cudla/model/train.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
SEED, EPOCHS, BATCH, RATE = 20, 60, 32, 2e-3
HELD_OUT = 397  # images that training never sees; the samples' pictures are taken from these

Array = NDArray[np.float32]


def digits() -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Training images, their classes, held-out images, their classes; images n,1,8,8 in 0..1."""
    data = load_digits()
    order = np.random.default_rng(SEED).permutation(len(data.images))
    images = (data.images[order] / 16).astype(np.float32)[:, None]
    labels = data.target[order].astype(np.int64)
    return images[HELD_OUT:], labels[HELD_OUT:], images[:HELD_OUT], labels[:HELD_OUT]


def patches(x: Array) -> Array:
    """3x3 neighbourhoods with a zero border: n,h,w,c*9."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, c, h, w = windows.shape[:4]
    return np.ascontiguousarray(windows.transpose(0, 2, 3, 1, 4, 5)).reshape(n, h, w, c * 9)


def relu(x: Array) -> tuple[Array, Array]:
    """The function and its slope."""
    return np.maximum(x, 0), (x > 0).astype(np.float32)


def silu(x: Array) -> tuple[Array, Array]:
    """The function and its slope."""
    chance = 1 / (1 + np.exp(-x))
    return x * chance, chance * (1 + x * (1 - chance))


class Network:
    """The layers, with what the backward pass needs kept from the forward pass."""

    def __init__(
        self,
        generator: np.random.Generator,
        activation: Callable[[Array], tuple[Array, Array]] = relu,
    ) -> None:
        self.activation = activation

        def start(*shape: int) -> Array:
            return (generator.normal(size=shape) * np.sqrt(2 / shape[1])).astype(np.float32)

        self.weights = {"conv1": start(8, 9), "conv2": start(16, 72), "fc": start(10, 64)}
        self.biases = {k: np.zeros(len(w), np.float32) for k, w in self.weights.items()}

    def forward(self, x: Array) -> Array:
        self.kept: list[tuple[Array, Array, Array, Array]] = []
        for name in ("conv1", "conv2"):
            columns = patches(x)
            active, slope = self.activation(columns @ self.weights[name].T + self.biases[name])
            n, h, w, k = active.shape
            blocks = active.reshape(n, h // 2, 2, w // 2, 2, k)
            pooled = blocks.max((2, 4))
            self.kept.append((columns, active, slope, pooled))
            x = pooled.transpose(0, 3, 1, 2)
        self.flat = x.reshape(len(x), -1)
        return self.flat @ self.weights["fc"].T + self.biases["fc"]

    def backward(self, gradient: Array) -> dict[str, Array]:
        found = {"fc.w": gradient.T @ self.flat, "fc.b": gradient.sum(0)}
        back = (gradient @ self.weights["fc"]).reshape(-1, 16, 2, 2).transpose(0, 2, 3, 1)
        for name, (columns, active, slope, pooled) in reversed(
            list(zip(("conv1", "conv2"), self.kept, strict=True))
        ):
            wide = back.repeat(2, 1).repeat(2, 2)
            wide = wide * (active == pooled.repeat(2, 1).repeat(2, 2)) * slope
            rows = wide.reshape(-1, wide.shape[-1])
            found[f"{name}.w"] = rows.T @ columns.reshape(len(rows), -1)
            found[f"{name}.b"] = rows.sum(0)
            back = self._to_input(wide @ self.weights[name])
        return found

    @staticmethod
    def _to_input(columns: Array) -> Array:
        n, h, w, depth = columns.shape
        parts = columns.reshape(n, h, w, depth // 9, 3, 3)
        image = np.zeros((n, h + 2, w + 2, depth // 9), np.float32)
        for row in range(3):
            for column in range(3):
                image[:, row : row + h, column : column + w] += parts[..., row, column]
        return image[:, 1:-1, 1:-1]

    def step(
        self, gradients: dict[str, Array], state: dict[str, tuple[Array, Array]], t: int
    ) -> None:
        """Adam."""
        for key, gradient in gradients.items():
            name, kind = key.split(".")
            target = (self.weights if kind == "w" else self.biases)[name]
            first, second = state.get(key, (np.zeros_like(target), np.zeros_like(target)))
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            state[key] = first, second
            corrected = first / (1 - 0.9**t) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
            target -= (RATE * corrected).astype(np.float32)


def train(activation: Callable[[Array], tuple[Array, Array]] = relu) -> dict[str, Array]:
    """Weights and biases of the trained network; says how good it is."""
    generator = np.random.default_rng(SEED)
    images, labels, test_images, test_labels = digits()
    network = Network(generator, activation)
    state: dict[str, tuple[Array, Array]] = {}
    step = 0
    for _ in range(EPOCHS):
        for chosen in np.array_split(generator.permutation(len(images)), len(images) // BATCH):
            step += 1
            logits = network.forward(images[chosen])
            chance = np.exp(logits - logits.max(1, keepdims=True))
            chance /= chance.sum(1, keepdims=True)
            chance[np.arange(len(chosen)), labels[chosen]] -= 1
            network.step(network.backward(chance / len(chosen)), state, step)
    right = (network.forward(test_images).argmax(1) == test_labels).mean()
    print(f"{right:.1%} of {len(test_labels)} held-out digits are right")
    shapes = {"conv1": (8, 1, 3, 3), "conv2": (16, 8, 3, 3), "fc": (10, 16, 2, 2)}
    arrays = {f"{k}.weight": network.weights[k].reshape(s) for k, s in shapes.items()}
    return arrays | {f"{k}.bias": b for k, b in network.biases.items()}


def main() -> None:
    np.savez_compressed(HERE / "digits.npz", **train())


if __name__ == "__main__":
    main()
