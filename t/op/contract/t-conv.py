# SPDX-License-Identifier: Apache-2.0
"""conv2d and its gradients as PyTorch has them: paddings of each side, strides, dilations, groups. The operands are
small integers, so that every order of every sum gives the same result: PyTorch's own where Python has torch, and
always that of loops over PyTorch's definition in its own layout, which add each product where it belongs."""
import array
import itertools
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, ok  # noqa: E402

try:
    import torch
except (ImportError, OSError):
    torch = None

draw = random.Random(20240229)


def save(name, shape, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (tuple(shape),)
    header += " " * (117 - len(header)) + "\n"
    with open(name, "wb") as f:
        f.write(
            b"\x93NUMPY\x01\x00"
            + len(header).to_bytes(2, "little")
            + header.encode()
            + array.array("f", values).tobytes()
        )


def load(name):
    data = open(name, "rb").read()
    n = int.from_bytes(data[8:10], "little")
    shape = eval(data[10:10 + n].decode(), {"__builtins__": {}}, {"True": True, "False": False})["shape"]
    return list(shape), list(array.array("f", data[10 + n:]))


def permuted(values, shape, order):
    """A dense array with its axes in another order: shape and values."""
    steps = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        steps[i] = steps[i + 1] * shape[i + 1]
    to = [shape[i] for i in order]
    return to, [values[sum(i * steps[a] for i, a in zip(at, order))] for at in itertools.product(*map(range, to))]


def integers(shape):
    n = 1
    for d in shape:
        n *= d
    return [draw.randint(-4, 4) for _ in range(n)]


def loops(x, w, dy, n, ci, h, v, co, kh, kw, stride, pad, dilation, groups, ho, wo):
    """NCHW: y, dx and dw, each product added where PyTorch's definition has it."""
    y, dx, dw, per, cg = [0] * (n * co * ho * wo), [0] * len(x), [0] * len(w), co // groups, ci // groups
    for i, o, c, p, q, r, s in itertools.product(
        range(n), range(co), range(cg), range(ho), range(wo), range(kh), range(kw)
    ):
        a, b = p * stride[0] + r * dilation[0] - pad[0], q * stride[1] + s * dilation[1] - pad[2]
        if 0 <= a < h and 0 <= b < v:
            at_x, at_w, at_y = (
                ((i * ci + o // per * cg + c) * h + a) * v + b,
                ((o * cg + c) * kh + r) * kw + s,
                ((i * co + o) * ho + p) * wo + q,
            )
            y[at_y] += x[at_x] * w[at_w]
            dx[at_x] += dy[at_y] * w[at_w]
            dw[at_w] += dy[at_y] * x[at_x]
    return y, dx, dw


def by_torch(x, w, dy, n, ci, h, v, co, kh, kw, stride, pad, dilation, groups, ho, wo):
    tx = torch.tensor(x, dtype=torch.float32).reshape(n, ci, h, v).requires_grad_()
    tw = torch.tensor(w, dtype=torch.float32).reshape(co, ci // groups, kh, kw).requires_grad_()
    ty = torch.nn.functional.conv2d(
        torch.nn.functional.pad(tx, (pad[2], pad[3], pad[0], pad[1])), tw, None, stride, 0, dilation, groups
    )
    ty.backward(torch.tensor(dy, dtype=torch.float32).reshape(ty.shape))
    return [t.detach().reshape(-1).tolist() for t in (ty, tx.grad, tw.grad)]


def op(name, a, b, more, shape):
    line = [HALFULP, "op", name, "--in", "a=" + a, "--in", "b=" + b, "--out", "out.npy"]
    for key in more:
        line += ["--set", key]
    run = subprocess.run(line, capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip()
    got = load("out.npy")
    return got[1] if got[0] == shape else "shape %s, not %s" % (got[0], shape)


#  what, n, input channels, height, width, filters, kernel, stride, padding (top, bottom, left, right), dilation,
# groups, as it is typed
cases = [
    ("stride 2, padding 1", 2, 3, 8, 8, 4, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 1, "stride=2 padding=1"),
    ("stride 2, padding 1, odd", 1, 2, 7, 9, 3, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 1, "stride=2 padding=1"),
    ("stride 2, padding 3, kernel 7", 1, 3, 12, 12, 2, (7, 7), (2, 2), (3, 3, 3, 3), (1, 1), 1, "stride=2 padding=3"),
    ("valid", 1, 2, 6, 5, 3, (3, 2), (1, 1), (0, 0, 0, 0), (1, 1), 1, "padding=0"),
    ("dilation 2", 1, 2, 9, 8, 3, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2), 1, "dilation=2 padding=2"),
    (
        "dilation 3 by 1, stride 1 by 2",
        1,
        2,
        9,
        8,
        3,
        (3, 3),
        (1, 2),
        (3, 3, 0, 0),
        (3, 1),
        1,
        "dilation_h=3 stride_w=2 padding_top=3 padding_bottom=3",
    ),
    ("stride 2, dilation 2", 1, 2, 9, 9, 3, (3, 3), (2, 2), (2, 2, 2, 2), (2, 2), 1, "stride=2 dilation=2 padding=2"),
    (
        "stride 3, dilation 2, kernel smaller than the stride",
        1,
        2,
        9,
        10,
        3,
        (2, 2),
        (3, 3),
        (1, 1, 1, 1),
        (2, 2),
        1,
        "stride=3 dilation=2 padding=1",
    ),
    ("groups 2", 2, 4, 6, 6, 6, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 2, "padding=1 groups=2"),
    ("depthwise", 1, 5, 6, 7, 5, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 5, "padding=1 groups=5"),
    (
        "depthwise, two filters a channel, stride 2",
        1,
        3,
        7,
        7,
        6,
        (3, 3),
        (2, 2),
        (1, 1, 1, 1),
        (1, 1),
        3,
        "padding=1 groups=3 stride=2",
    ),
    (
        "every side its own padding",
        1,
        2,
        6,
        5,
        3,
        (3, 4),
        (2, 1),
        (0, 1, 2, 3),
        (1, 1),
        1,
        "stride_h=2 padding_bottom=1 padding_left=2 padding_right=3",
    ),
    ("padding wider than the kernel", 1, 1, 3, 3, 2, (2, 2), (1, 1), (4, 4, 4, 4), (1, 1), 1, "padding=4"),
    (
        "groups, dilation, stride 4, one side padded",
        2,
        4,
        9,
        6,
        4,
        (2, 3),
        (4, 4),
        (0, 3, 0, 0),
        (1, 2),
        2,
        "stride=4 groups=2 padding_bottom=3 dilation_w=2",
    ),
]

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for what, n, ci, h, v, co, (kh, kw), stride, pad, dilation, groups, words in cases:
        ho = (h + pad[0] + pad[1] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
        wo = (v + pad[2] + pad[3] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
        x, w, dy = integers((n, ci, h, v)), integers((co, ci // groups, kh, kw)), integers((n, co, ho, wo))
        args = (x, w, dy, n, ci, h, v, co, kh, kw, stride, pad, dilation, groups, ho, wo)
        want = loops(*args)
        image, kernel, result = (n, ci, h, v), (co, ci // groups, kh, kw), (n, co, ho, wo)
        sx, sw, sy = (
            [s[i] for i in o] for s, o in ((image, (0, 2, 3, 1)), (kernel, (2, 3, 1, 0)), (result, (0, 2, 3, 1)))
        )
        save("x.npy", *permuted(x, image, (0, 2, 3, 1)))
        save("w.npy", *permuted(w, kernel, (2, 3, 1, 0)))
        save("dy.npy", *permuted(dy, result, (0, 2, 3, 1)))
        more = words.split()
        got = (
            op("conv2d", "x.npy", "w.npy", more, sy),
            op("conv2d_dx", "dy.npy", "w.npy", more + ["height=%d" % h, "width=%d" % v], sx),
            op("conv2d_dw", "x.npy", "dy.npy", more + ["kh=%d" % kh, "kw=%d" % kw], sw),
        )
        orders = (result, (0, 2, 3, 1)), (image, (0, 2, 3, 1)), (kernel, (2, 3, 1, 0))
        for name, mine, theirs, (shape, order) in zip(("conv2d", "conv2d_dx", "conv2d_dw"), got, want, orders):
            ok(
                mine == permuted(theirs, shape, order)[1],
                "%s, %s: PyTorch's definition%s" % (what, name, "" if isinstance(mine, list) else "; " + mine),
            )
        if torch:
            ok(
                all(list(map(float, a)) == b for a, b in zip(want, by_torch(*args))),
                "%s: torch %s says the same" % (what, torch.__version__),
            )
    if not torch:
        ok(True, "PyTorch's own results # SKIP Python has no torch")
finish()
