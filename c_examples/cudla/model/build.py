"""Makes the samples' input: two loadables from ``digits.npz``, and pictures training never saw.

    pip install -e '.[train]' && python c_examples/cudla/model/build.py

Writes ``data/digits_int8.nvdla``, ``data/digits_fp16.nvdla`` (with softmax) and ``data/images/``,
ten pictures of each digit, named by their class.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cudla_sim.nvdla.build import Network
from train import HERE, digits

DATA = HERE.parent / "data"
PER_CLASS = 10


def network(precision: str) -> Network:
    """The trained layers for nv_full."""
    arrays = np.load(HERE / "digits.npz")
    net = Network(input=("image", (1, 1, 8, 8)), precision=precision, config="nv_full")
    for name in ("conv1", "conv2"):
        net.conv2d(
            arrays[f"{name}.weight"], arrays[f"{name}.bias"], padding=1, relu=True, name=name
        )
        net.max_pool(2, name=f"pool_{name}")
    net.conv2d(arrays["fc.weight"], arrays["fc.bias"], name="digit")
    return net


def write_images(folder: Path) -> None:
    """Held-out digits as PGM files; grey values 0..16, as scikit-learn has them."""
    folder.mkdir(parents=True, exist_ok=True)
    _, _, images, labels = digits()
    for label in range(10):
        for index in np.flatnonzero(labels == label)[:PER_CLASS]:
            grey = np.rint(images[index, 0] * 16).astype(np.uint8)
            picture = b"P5\n8 8\n16\n" + grey.tobytes()
            (folder / f"{label}_{index:03d}.pgm").write_bytes(picture)


def main() -> None:
    training, *_ = digits()
    int8, fp16 = network("int8"), network("fp16")
    fp16.softmax(name="probability")
    DATA.mkdir(exist_ok=True)
    (DATA / "digits_int8.nvdla").write_bytes(int8.build(calibration=training))
    (DATA / "digits_fp16.nvdla").write_bytes(fp16.build())
    write_images(DATA / "images")


if __name__ == "__main__":
    main()
