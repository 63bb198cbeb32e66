#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# op's rounding modes, against roundings of fractions: dot's last rounding, emulated and as the reference has it; fp64
# references, whose ties, subnormals and overflows have modes too; and doubles that nobody asked to round. HALFULP names
# the program.
import json, math, os, random, struct, subprocess, sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, home, ok  # noqa: E402

where = home()
r = random.Random(3)
MODES = ("RNE", "RNA", "RNZ", "RZ", "RU", "RD", "RO")


def save(name, shape, values, code="f"):
    text = (
        "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }" % ({"f": "f4", "d": "f8"}[code], tuple(shape))
    ).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    with open(os.path.join(where, name), "wb") as f:
        f.write(
            b"\x93NUMPY\x01\x00"
            + struct.pack("<H", len(text))
            + text
            + struct.pack("<%d%s" % (len(values), code), *values)
        )


def op(*words):
    return subprocess.run([HALFULP, "op", *words], cwd=where, capture_output=True, text=True)


def values(*words):
    return [float(v["value"]) for v in json.loads(op(*words, "--json").stdout)["values"]]


def rounded(x, mode, p, emin, top):
    """X in a format of P bits with infinities; signed zeros count as equal."""
    if x == 0:
        return 0.0
    a, negative = abs(x), x < 0
    e = a.numerator.bit_length() - a.denominator.bit_length()
    e -= Q(2) ** e > a
    unit = Q(2) ** (max(e, emin) - p + 1)
    n, rest = divmod(a / unit, 1)
    half = Q(1, 2)
    up = {
        "RNE": rest > half or (rest == half and n % 2),
        "RNA": rest >= half,
        "RNZ": rest > half,
        "RZ": 0,
        "RU": rest and not negative,
        "RD": rest and negative,
        "RO": rest and n % 2 == 0,
    }[mode]
    y = (n + (1 if up else 0)) * unit
    if y > top:
        to_top = mode == "RZ" or mode == "RO" or (mode == "RU" and negative) or (mode == "RD" and not negative)
        y = top if to_top else math.inf
    return -float(y) if negative else float(y)


HALF, DOUBLE = (11, -14, Q(65504)), (53, -1022, Q(2**53 - 1) * Q(2) ** 971)
terms = [r.gauss(0, 1) * 10 ** r.randrange(-8, 5) for _ in range(300)] + [
    1 + 2**-11, -1 - 2**-11, 1 + 3 * 2**-11, 2**-25, -(2**-25), 65519.99, 65520, -65520, 1e30, 2**-149, 0
]
terms = [struct.unpack("<f", struct.pack("<f", x))[0] for x in terms]
save("a", (len(terms), 1), terms)
save("b", (len(terms), 1), [1.0] * len(terms))
for mode in MODES:
    want = [rounded(Q(x), mode, *HALF) for x in terms]
    for how in ("emulate", "reference"):
        got = values("dot", "--in", "a=a", "--in", "b=b", "--set", "out=fp16", "--set", "mode=" + mode, "--as", how)
        bad = [(x, g, w) for x, g, w in zip(terms, got, want) if g != w]
        ok(
            len(got) == len(want) and not bad,
            "dot into fp16 by %s, %s%s" % (mode, how, "\n# %r" % bad[:3] if bad else ""),
        )
    save("d", (len(terms),), want)
    ran = op("dot", "--in", "a=a", "--in", "b=b", "--set", "out=fp16", "--set", "mode=" + mode, "--as", "bound",
             "--got", "d")
    ok(ran.returncode == 0 and "over bound 0" in ran.stdout, "and within its bound")

# products of doubles: inexact ones, ties (2^53 + 1 times 1 + 2^-53 and the like), tiny and huge ones
pairs = [(r.gauss(0, 1), r.gauss(0, 1)) for _ in range(200)] + [
    (1 + 2**-26, 1 + 2**-27),
    (-(1 + 2**-26), 1 + 2**-27),
    (3 * 2**-538, 2**-537),
    (1e-200, 1e-200),
    (-1e-200, 1e-200),
    (2**-537, 2**-538),
    (1e200, 1e200),
    (-1e200, 1e200),
    (2**-500, 3 * 2**-574),
]
pairs += [(1 + k * 2**-26, 1 + 2**-27) for k in (3, 5, 7)]
save("a", (len(pairs), 1), [x for x, y in pairs], "d")
save("b", (len(pairs), 1), [y for x, y in pairs], "d")
exact = [Q(x) * Q(y) for x, y in pairs]
ties = sum(rounded(x, "RNA", *DOUBLE) != rounded(x, "RNZ", *DOUBLE) for x in exact)
for mode in MODES:
    want = [rounded(x, mode, *DOUBLE) for x in exact]
    got = values("dot", "--in", "a=a", "--in", "b=b", "--set", "mode=" + mode, "--as", "reference")
    bad = [(x, g, w) for x, g, w in zip(pairs, got, want) if g != w]
    ok(
        len(got) == len(want) and not bad and ties > 1,
        "references in fp64 by %s, %d ties among them%s" % (mode, ties, "\n# %r" % bad[:3] if bad else ""),
    )
for mode in MODES:
    got = values("dot", "--in", "a=a", "--in", "b=b", "--set", "out=fp32", "--set", "mode=" + mode, "--as", "reference")
    want = [rounded(x, mode, 24, -126, Q(2**24 - 1) * Q(2) ** 104) for x in exact]
    bad = [(x, g, w) for x, g, w in zip(pairs, got, want) if g != w]
    ok(
        len(got) == len(want) and not bad,
        "in fp32, of products below any double too, by %s%s" % (mode, "\n# %r" % bad[:3] if bad else ""),
    )
op("dot", "--in", "a=a", "--in", "b=b", "--out", "d")
ran = op("dot", "--in", "a=a", "--in", "b=b", "--as", "bound", "--got", "d")
ok(ran.returncode == 0 and "over bound 0" in ran.stdout,
   "products below any double, which become 0, are within the bound of fp64 sums")
for name in ("SR", "SRE"):
    ran = op("dot", "--in", "a=a", "--in", "b=b", "--set", "out=fp16", "--set", "mode=" + name)
    ok(ran.returncode == 2 and "draws nothing" in ran.stderr and ran.stderr.count("\n") == 1,
       "dot draws nothing for its last rounding: %s is refused" % name)

save("f", (2, 2), [1.5, 2.5, 3.5, 4.5])
save("held", (2, 2), [1.25, 2, 3, 4], "d")
save("wide", (2, 2), [1.1, 2, 3, 4], "d")
ok(op("add", "--in", "a=f", "--in", "b=held").returncode == 0, "doubles that fp32 holds go with floats")
ran = op("add", "--in", "a=f", "--in", "b=wide")
ok(ran.returncode == 2 and "operand b has doubles" in ran.stderr and "--set in=fp64" in ran.stderr,
   "others are refused, not rounded in silence")
ok(
    values("add", "--in", "a=f", "--in", "b=wide", "--set", "in=fp64")[0] == 2.6
    and op("add", "--in", "a=f", "--in", "b=wide", "--set", "in.b=fp32").returncode == 0,
    "unless somebody said what to do",
)
save("inf", (2, 2), [math.inf, 2.5, 3.5, 4.5])
ran = op("relu", "--in", "a=f", "--got", "inf")
ok(ran.returncode == 1 and "normwise   inf\n" in ran.stdout,
   "an infinite result has an infinite normwise error, not that of the others")
# The list for people has what JSON has: every operator, operands and attributes in lines of 44 characters, the summary
rows, lines, wrong = json.loads(op("list", "--json").stdout), op("list").stdout.splitlines(), []
ok([rows[0]["operator"], rows[0]["operands_least"], rows[0]["operands_most"], rows[0]["results"]] == ["dot", 2, 3, 1],
   "op list --json begins with dot")
save("two", (2, 3), [1.0, -2.0, 3.0, 0.5, -0.0, 8.0])
said = json.loads(op("relu", "--in", "a=two", "--json").stdout)
ok(said["shape"] == [2, 3], "a result's shape: %s" % said["shape"])
for dims in ((3,), (2, 3), (2, 1, 2, 3), (2, 1, 2, 2, 3), (1, 2, 1, 2, 2, 3), (1, 2, 1, 2, 1, 2, 2, 3)):
    n = math.prod(dims)
    save("many", dims, [float(i % 5 - 2) for i in range(n)])
    said = json.loads(op("dot", "--in", "a=many", "--in", "b=many", "--json").stdout)
    flat = [v["value"] for v in said["values"]]
    want = [float(sum((i % 5 - 2) ** 2 for i in range(r, r + 3))) for r in range(0, n, 3)]
    ok(said["shape"] == list(dims[:-1]) and flat == want, "dot of %s: shape %s, %s" % (dims, said["shape"], flat[:3]))
ok(lines[0].split() == ["operator", "operands", "attributes", "result"], "op list has a head")
at = [lines[0].index(w) for w in lines[0].split()] + [999]
i = 1
for row in rows:
    least, most, words = row["operands_least"], row["operands_most"], row["attributes"]
    want = (
        "a b [c]"
        if row["operator"] == "dot"
        else (
            "%d or more" % least
            if most is None or most < 0
            else "%d" % least if least == most else "%d to %d" % (least, most)
        )
    )
    columns = [""]
    for w in words:
        if len(columns[-1]) + len(w) + bool(columns[-1]) <= 44:
            columns[-1] += (" " if columns[-1] else "") + w
        else:
            columns.append(w)
    expected = [[row["operator"], want, columns[0] or "-", row["summary"]]] + [["", "", c, ""] for c in columns[1:]]
    cells = [[line[a:b].strip() for a, b in zip(at, at[1:])] for line in lines[i:i + len(expected)]]
    if cells != expected:
        wrong.append((cells, expected))
    i += len(expected)
ok(
    not wrong and i == len(lines) and len(rows) > 20,
    "and a row for each of %d operators%s" % (len(rows), ": %s" % wrong[:1] if wrong else ""),
)
finish()
