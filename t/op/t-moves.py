#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# move, concat and gather against index arithmetic written here, element by element: every output is the bits of the
# input element that it stands for, or the fill. HALFULP names the program.
import itertools, math, os, random, struct, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import HALFULP, finish, home, ok  # noqa: E402

r = random.Random(11)


def write(path, shape, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join("%d, " % d for d in shape)
    head += " " * (117 - len(head)) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values))


def read(path):
    data = open(path, "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    shape = eval(data[10:10 + size])["shape"]
    body = data[10 + size:]
    return shape, list(struct.unpack("<%df" % (len(body) // 4), body))


def run(op, operands, settings):
    """Shape and values, or the refusal."""
    args = []
    for name, (shape, values) in zip("abcdefgh", operands):
        write(name + ".npy", shape, values)
        args += ["--in", "%s=%s.npy" % (name, name)]
    for k, v in settings.items():
        args += ["--set", "%s=%s" % (k, v)]
    if os.path.exists("y.npy"):
        os.remove("y.npy")
    ran = subprocess.run([HALFULP, "op", op, *args, "--out", "y.npy"], capture_output=True, text=True)
    return read("y.npy") if ran.returncode == 0 else (ran.returncode, ran.stderr)


def coordinates(shape):
    return itertools.product(*map(range, shape))


def at(shape, values, where):
    i = 0
    for d, c in zip(shape, where):
        i = i * d + c
    return values[i]


def some(shape):
    return shape, [struct.unpack("<f", struct.pack("<f", r.gauss(0, 1)))[0] for _ in range(math.prod(shape))]


def moved(x, out, axes, starts, steps, fill):
    shape, values = x
    y = []
    for i in coordinates(out):
        where, inside = [0] * len(shape), True
        for j, a in enumerate(axes):
            if a is not None:
                where[a] = starts[j] + steps[j] * i[j]
                inside &= 0 <= where[a] < shape[a]
        y.append(at(shape, values, where) if inside else fill)
    return out, y


where = home()
os.chdir(where)
wrong = []
for trial in range(60):
    rank = r.randrange(1, 5)
    shape = tuple(r.randrange(1, 6) for _ in range(rank))
    axes = list(range(rank))
    r.shuffle(axes)
    if r.random() < 0.5: # an axis of one element may be left out, and others repeat
        axes = [a for a in axes if shape[a] > 1 or r.random() < 0.5]
        while len(axes) < 4 and r.random() < 0.5:
            axes.insert(r.randrange(len(axes) + 1), None)
    out = tuple(r.randrange(1, 6) for _ in axes)
    starts, steps = [r.randrange(-3, 5) for _ in axes], [r.choice([1, 1, 2, 3, -1, -2, 0]) for _ in axes]
    fill = r.choice([0, -1.5, 7])
    x = some(shape)
    settings = {"rank": len(out), "fill": fill}
    for j, a in enumerate(axes):
        settings["d%d" % j] = out[j]
        if a is not None:
            settings.update({"from%d" % j: a, "start%d" % j: starts[j], "step%d" % j: steps[j]})
    got, want = run("move", [x], settings), moved(x, out, axes, starts, steps, fill)
    if got != want:
        wrong.append((settings, shape, got))
ok(not wrong, "move: 60 maps of any axes, starts, steps and fills %s" % wrong[:1])
x = some((3, 4, 5))
ok(run("move", [x], {"rank": 2, "d0": 15, "d1": 4, "flat": 1}) == ((15, 4), x[1]), "move: another shape of the same elements")
ok(run("move", [((2,), [math.inf, -0.0])], {"rank": 1, "d0": 3, "from0": 0, "fill": "-inf"}) == ((3,), [math.inf, 0.0, -math.inf]), "move: infinities")
y = run("move", [((2,), [math.nan, -0.0])], {"rank": 1, "d0": 2, "from0": 0, "step0": -1, "start0": 1})
ok(math.copysign(1, y[1][0]) == -1 and math.isnan(y[1][1]), "move: NaN, and the sign of zero")
wrong = []
for trial in range(20):
    rank = r.randrange(1, 5)
    axis, base = r.randrange(rank), [r.randrange(1, 5) for _ in range(rank)]
    parts = []
    for k in range(r.randrange(1, 5)):
        base[axis] = r.randrange(1, 5)
        parts.append(some(tuple(base)))
    base[axis] = sum(p[0][axis] for p in parts)
    want = []
    for i in coordinates(base):
        k, c = 0, i[axis]
        while c >= parts[k][0][axis]:
            c -= parts[k][0][axis]
            k += 1
        want.append(at(*parts[k], i[:axis] + (c,) + i[axis + 1:]))
    got = run("concat", parts, {"axis": axis})
    if got != (tuple(base), want):
        wrong.append((axis, [p[0] for p in parts], got))
ok(not wrong, "concat: 20 lists of operands along any axis %s" % wrong[:1])
wrong = []
for trial in range(20):
    x = some(tuple(r.randrange(1, 6) for _ in range(r.randrange(1, 4))))
    axis, ishape = r.randrange(len(x[0])), tuple(r.randrange(1, 4) for _ in range(r.randrange(1, 6 - len(x[0]))))
    n = x[0][axis]
    index = [r.randrange(-n, n) for _ in range(math.prod(ishape))]
    out = x[0][:axis] + ishape + x[0][axis + 1:]
    want = [at(*x, i[:axis] + (at(ishape, index, i[axis:axis + len(ishape)]) % n,) + i[axis + len(ishape):]) for i in coordinates(out)]
    got = run("gather", [x, (ishape, index)], {"axis": axis})
    if got != (out, want):
        wrong.append((axis, x[0], ishape, got))
ok(not wrong, "gather: 20 lists of indices, negative ones too, along any axis %s" % wrong[:1])
for what, op, operands, settings, word in (
        ("an axis that is not there", "move", [some((3,))], {"rank": 1, "d0": 3, "from0": 1}, "from0=1"), ("an axis twice", "move", [some((3, 3))], {"rank": 2, "d0": 3, "d1": 3, "from0": 1, "from1": 1}, "run over once"),
        ("an axis left out", "move", [some((3, 2))], {"rank": 1, "d0": 3, "from0": 0}, "input axis 1"), ("a length left out", "move", [some((3,))], {"rank": 2, "d0": 3, "from0": 0}, "d1"),
        ("a start that is no whole number", "move", [some((3,))], {"rank": 1, "d0": 3, "from0": 0, "start0": 0.5}, "whole"), ("too many axes", "move", [some((3,))], {"rank": 9, "d0": 3}, "at most 8"),
        ("another number of elements", "move", [some((3,))], {"rank": 1, "d0": 4, "flat": 1}, "flat=1"), ("operands of two shapes", "concat", [some((3, 2)), some((3, 3))], {"axis": 0}, "another shape"),
        ("an axis beyond the operands", "concat", [some((3, 2))], {"axis": 2}, "axis=2"), ("an index beyond the axis", "gather", [some((3,)), ((1,), [3])], {}, "index 0 is 3"),
        ("an index that is no whole number", "gather", [some((3,)), ((2,), [0, 0.5])], {}, "index 1 is 0.5"), ("too many axes of a gather", "gather", [some((2, 2, 2, 2, 2)), some((1, 1, 1, 1, 1))], {}, "at most 8")):
    code, err = run(op, operands, settings)
    ok(code in (2, 3) and err.count("\n") == 1 and word in err, "%s: %s" % (what, str(err).strip()))
finish()
