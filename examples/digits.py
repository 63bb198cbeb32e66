#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes examples/digits.onnx and examples/digits.npz: python3 examples/digits.py [DIR]

A small convolutional network is trained in float32 on digits that this script draws itself: strokes of a pen,
turned, stretched, blurred and covered with noise, 16 by 16 pixels. The network reads about 97 of 100 new digits,
so that some of its decisions are close and a number format can change them. The model is opset 17 with an open
batch axis; the .npz holds 300 digits that the network has not seen: x, and the right answers as labels.
Needs torch, numpy and onnx. Another version of torch may train another network of the same worth.
"""
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

SIZE, SHOWN = 16, 300
# A digit is one line of a pen through points of a box of 4 by 6, or several lines.
STROKES = {
    0: ["11 31 42 44 35 15 04 02 11"], 1: ["12 21 26", "16 36"], 2: ["02 11 31 42 43 06 46"], 3: ["01 31 42 33 13", "33 44 35 15 05"],
    4: ["30 04 44", "32 36"], 5: ["41 11 13 33 44 35 05"], 6: ["40 12 04 15 35 44 33 13 04"], 7: ["01 41 16"],
    8: ["13 02 11 31 42 33 13 04 15 35 44 33"], 9: ["42 31 11 02 13 33 42 36"],
}


def lines(digit):
    """The digit's pieces of straight line, as (x, y, x, y) about the centre of the box."""
    for stroke in STROKES[digit]:
        points = [(int(p[0]) - 2.0, int(p[1]) - 3.0) for p in stroke.split()]
        yield from (a + b for a, b in zip(points, points[1:]))


def draw(digit, random):
    """One picture: the distance of each pixel to the pen's lines, made soft, with noise upon it."""
    turn, size = random.normal(0, 0.2), random.uniform(1.6, 2.3) * np.array([random.uniform(0.8, 1.2), 1.0])
    lean = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ np.array([[1, random.normal(0, 0.2)], [0, 1]])
    place = (SIZE - 1) / 2 + random.normal(0, 0.7, 2)
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(float)
    nearest = np.full((SIZE, SIZE), np.inf)
    for piece in lines(digit):
        a, b = [lean @ (np.array(end) * size + random.normal(0, 0.25, 2)) + place for end in (piece[:2], piece[2:])]
        d = b - a
        t = np.clip(((x - a[0]) * d[0] + (y - a[1]) * d[1]) / max(d @ d, 1e-9), 0, 1)
        nearest = np.minimum(nearest, np.hypot(x - a[0] - t * d[0], y - a[1] - t * d[1]))
    ink = 1 / (1 + np.exp((nearest - random.uniform(0.6, 1.0)) * 4))
    noisy = ink * random.uniform(0.6, 1) + random.normal(0, 0.18, ink.shape)
    return np.round(np.clip(noisy, 0, 1) * 255) / 255


def drawn(n, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, n)
    return np.stack([draw(d, random) for d in labels])[:, None].astype(np.float32), labels.astype(np.int64)


def trained(x, labels):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Conv2d(8, 16, 3, padding=1),
                              torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(256, 10))
    steps = 40 * (len(x) // 64)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    x, labels = torch.tensor(x), torch.tensor(labels)
    for _ in range(steps):
        some = torch.randint(0, len(x), (64,))
        loss = torch.nn.functional.cross_entropy(net(x[some]), labels[some])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return net.eval()


def exported(net):
    """The network as ONNX, node by node, so that no exporter's version has a share in it."""
    names = {"0": "conv1", "3": "conv2", "7": "dense"}
    weights = [numpy_helper.from_array(v.detach().numpy(), names[k.split(".")[0]] + "." + k.split(".")[1]) for k, v in net.state_dict().items()]
    nodes, at = [], "x"
    for conv in ("conv1", "conv2"):
        nodes += [helper.make_node("Conv", [at, conv + ".weight", conv + ".bias"], [conv + ".y"], conv, kernel_shape=[3, 3], pads=[1] * 4),
                  helper.make_node("Relu", [conv + ".y"], [conv + ".relu"], conv + "_relu"),
                  helper.make_node("MaxPool", [conv + ".relu"], [conv + ".pool"], conv + "_pool", kernel_shape=[2, 2], strides=[2, 2])]
        at = conv + ".pool"
    nodes += [helper.make_node("Flatten", [at], ["flat"], "flatten"),
              helper.make_node("Gemm", ["flat", "dense.weight", "dense.bias"], ["scores"], "dense", transB=1)]
    graph = helper.make_graph(nodes, "digits", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, SIZE, SIZE])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 10])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="examples/digits.py")


def main():
    to = sys.argv[1] if len(sys.argv) > 1 else sys.path[0]
    net = trained(*drawn(6000, 1))
    x, labels = drawn(SHOWN, 2)
    with torch.no_grad():
        right = (net(torch.tensor(x)).argmax(1).numpy() == labels).sum()
    model = exported(net)
    onnx.checker.check_model(model)
    onnx.save(model, to + "/digits.onnx")
    np.savez_compressed(to + "/digits.npz", x=x, labels=labels)
    print("digits.onnx reads %d of %d digits that it has not seen" % (right, SHOWN))


if __name__ == "__main__":
    main()
