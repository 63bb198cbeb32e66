#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Every column of inspect, recomputed from the file's bytes in exact fractions, for every floating-point dtype of
# safetensors; the printed table, the JSON and the TSV hold the same. HALFULP names the program.
import json, math, os, random, struct, subprocess, sys
from fractions import Fraction as Q

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, finish, home, ok  # noqa: E402

NAN = math.nan
FILE = os.path.join(home(), "t.safetensors")


# Codes: exponent bits, fraction bits, bias, and which codes are no numbers
LAYOUT = {
    "F64": (11, 52, 1023, "ieee"),
    "F32": (8, 23, 127, "ieee"),
    "F16": (5, 10, 15, "ieee"),
    "BF16": (8, 7, 127, "ieee"),
    "F8_E4M3": (4, 3, 7, "fn"),
    "F8_E5M2": (5, 2, 15, "ieee"),
    "F8_E4M3FNUZ": (4, 3, 8, "fnuz"),
    "F8_E5M2FNUZ": (5, 2, 16, "fnuz"),
    "F6_E2M3": (2, 3, 1, "finite"),
    "F6_E3M2": (3, 2, 3, "finite"),
    "F4": (2, 1, 1, "finite"),
}


def decode(dtype, code):
    """A Fraction, or NaN or an infinity; zeros lose their sign."""
    if dtype == "F8_E8M0":
        return NAN if code == 255 else Q(2) ** (code - 127)
    ebits, fbits, bias, kind = LAYOUT[dtype]
    sign, e, f = code >> (ebits + fbits), code >> fbits & ((1 << ebits) - 1), code & ((1 << fbits) - 1)
    if kind == "ieee" and e == (1 << ebits) - 1:
        return NAN if f else -math.inf if sign else math.inf
    if kind == "fn" and e == (1 << ebits) - 1 and f == (1 << fbits) - 1:
        return NAN
    if kind == "fnuz" and sign and not e and not f:
        return NAN
    m = Q(f, 1 << fbits) + (1 if e else 0)
    return (-1 if sign else 1) * m * Q(2) ** (max(e, 1) - bias)


# Targets: precision, least and greatest exponent, largest, what lies beyond it
TARGET = {
    "fp32": (24, -126, 127, Q((1 << 24) - 1, 1 << 23) * 2**127, "inf"),
    "fp16": (11, -14, 15, Q(65504), "inf"),
    "bf16": (8, -126, 127, Q(255, 128) * 2**127, "inf"),
    "e4m3": (4, -6, 8, Q(448), "nan"),
    "e2m1": (2, 0, 2, Q(6), "max"),
}


def finite(x):
    return isinstance(x, Q)


def to_even(x):
    n = x.numerator // x.denominator
    r = x - n
    return n + (r > Q(1, 2) or (r == Q(1, 2) and n % 2 == 1))


def exponent(a):
    e = a.numerator.bit_length() - a.denominator.bit_length()
    return e if Q(2) ** e <= a else e - 1


def cast(x, to):
    """The value after the cast, and whether it stands for one that the format cannot hold."""
    p, emin, emax, top, beyond = TARGET[to]
    if not finite(x):
        return (
            (top if math.isnan(x) or x > 0 else -top, True)
            if beyond == "max"
            else (NAN if math.isnan(x) or beyond == "nan" else x, False)
        )
    if x == 0:
        return x, False
    a = abs(x)
    unit = Q(2) ** (max(exponent(a), emin) - p + 1)
    y = to_even(a / unit) * unit
    over = y > top
    if over:
        y = {"inf": math.inf, "nan": NAN, "max": top}[beyond]
    return (y if x > 0 else -y), over and beyond == "max"


def scale_of_powers(x):
    """To e8m0: a tie goes to the larger power of two."""
    if not finite(x) or x < 0:
        return NAN, False
    if x < Q(2) ** -127:
        return Q(2) ** -127, False
    e = exponent(x)
    e += x / Q(2) ** e >= Q(3, 2)
    return (NAN if e > 127 else Q(2) ** e), False


def mxfp4(values, last):
    """Elements after, and of each whether it saturated, is subnormal, lost bits below the normal range."""
    out = []
    for row in range(0, len(values), last):
        for at in range(row, row + last, 32):
            block = values[at:min(at + 32, row + last)]
            if not all(map(finite, block)):
                out += [(NAN, 0, 0, 0)] * len(block)
                continue
            amax = max(map(abs, block))
            scale = Q(2) ** (max(exponent(amax) - 2, -127) if amax else -127)
            for x in block:
                y, full = cast(x / scale, "e2m1")
                out.append((y * scale, full, 0 < abs(y) < 1, 0 < abs(x) < scale and y * scale != x))
    return out


def real(q):
    return float(q) if finite(q) else q


def root(q):
    """sqrt of a Fraction of any size."""
    if q == 0:
        return 0.0
    s = exponent(q) // 2
    return math.ldexp(math.sqrt(q / Q(4) ** s), s)


def expected(name, dtype, values, shape, to):
    last = shape[-1]
    if to == "mxfp4":
        after = mxfp4(values, last)
    else:
        after = [(*(scale_of_powers(x) if to == "e8m0" else cast(x, to)), None, None) for x in values]
    pairs = [(x, y) for x, (y, *_) in zip(values, after) if finite(x) and finite(y)]
    nonzero = [(x, a) for x, a in zip(values, after) if finite(x) and x != 0]
    low = Q(2) ** (-127 if to == "e8m0" else TARGET[to][1] if to != "mxfp4" else 0)
    tiny = lambda y: finite(y) and 0 < abs(y) < low
    errors = [abs(y - x) for x, y in pairs]
    x2, e2, y2 = (
        sum((x * x for x, y in pairs), Q(0)), sum((e * e for e in errors), Q(0)), sum((y * y for x, y in pairs), Q(0))
    )
    rel = None if not pairs else (0.0 if e2 == 0 else math.inf if x2 == 0 else root(e2 / x2))
    magnitudes = [abs(x) for x in values if finite(x)]
    largest = max(errors) if errors else None
    want = {
        "tensor": name,
        "dtype": dtype,
        "to": to,
        "elements": len(values),
        "nonfinite": sum(not finite(x) for x in values),
        "nonzeros": len(nonzero),
        "became_zero": sum(a[0] == 0 for x, a in nonzero),
        "became_subnormal": sum(bool(a[2]) if to == "mxfp4" else tiny(a[0]) for x, a in nonzero),
        "lost_bits": sum(bool(a[3]) if to == "mxfp4" else abs(x) < low and a[0] != x for x, a in nonzero),
        "overflow": sum(finite(x) and not finite(a[0]) for x, a in zip(values, after)),
        "saturated": sum(bool(a[1]) for a in after),
        "amax": real(max(magnitudes)) if magnitudes else None,
        "smallest_nonzero": real(min(abs(x) for x, a in nonzero)) if nonzero else None,
        "rel_l2": rel,
        "sqnr_db": (
            None if rel is None else math.inf if rel == 0 else -20 * math.log10(rel) if rel < math.inf else -math.inf
        ),
        "max_error": real(largest) if errors else None,
        "max_error_at": (
            next(
                i
                for i, (x, a) in enumerate(zip(values, after))
                if finite(x) and finite(a[0]) and abs(a[0] - x) == largest
            )
            if errors
            else None
        ),
        "mean_error": real(sum(errors) / len(errors)) if errors else None,
        "l2_share_lost": root(sum((x * x for x, y in pairs if y == 0), Q(0)) / x2) if x2 else None,
        "cosine": (
            None if not x2 else 0.0 if not y2 else real(sum((x * y for x, y in pairs), Q(0))) / root(x2) / root(y2)
        ),
        "step_rel_l2": None,
        "shape": "x".join(map(str, shape)),
        "axis": None,
        "file": FILE,
    }
    want["ftz"] = None if to == "mxfp4" else want["became_zero"] + want["became_subnormal"]
    if name.endswith("exp_avg_sq") and not any(finite(x) and x < 0 for x in values):
        g = [(math.sqrt(x), math.sqrt(y)) for x, y in pairs if x > 0]
        steps, changed = [r / (r + 1e-8) for r, s in g], [r / (s + 1e-8) for r, s in g]
        if steps:
            want["step_rel_l2"] = math.sqrt(
                sum((a - b) ** 2 for a, b in zip(steps, changed)) / sum(a * a for a in steps)
            )
    return want


def near(got, want):
    if isinstance(got, str) and isinstance(want, float):
        got = float(got)
    if isinstance(want, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        return got == want or abs(got - want) <= 1e-12 * abs(want)
    return got == want and type(got) == type(want)


def pack(codes, bits):
    whole = sum(c << (bits * i) for i, c in enumerate(codes))
    return whole.to_bytes(len(codes) * bits // 8, "little")


def tensors():
    r = random.Random(7)
    bits = lambda d: 8 if d == "F8_E8M0" else 1 + LAYOUT[d][0] + LAYOUT[d][1]
    for d in ("F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F8_E8M0"):
        yield "every code of " + d, d, (4, 64), list(range(256)), 8
        yield "finite " + d, d, (3, 40), [r.randrange(0x20, 0x50) for _ in range(120)], 8
    for d in ("F6_E2M3", "F6_E3M2", "F4"):
        yield "every code of " + d, d, (1 << bits(d),), list(range(1 << bits(d))), bits(d)
        yield "mixed " + d, d, (2, 36), [r.randrange(1 << bits(d)) for _ in range(72)], bits(d)
    floats = [r.gauss(0, 1) * 10 ** r.uniform(-6, 3) for _ in range(6 * 40)]
    yield "weights", "F32", (6, 40), [struct.unpack("<I", struct.pack("<f", x))[0] for x in floats], 32
    yield "weights64", "F64", (6, 40), [struct.unpack("<Q", struct.pack("<d", x * 1e-20))[0] for x in floats], 64
    yield "halves", "F16", (6, 40), [struct.unpack("<H", struct.pack("<e", x))[0] for x in floats], 16
    yield "brains", "BF16", (6, 40), [r.getrandbits(16) for _ in floats], 16
    yield "many", "F32", (3, 22000), [
        struct.unpack("<I", struct.pack("<f", r.gauss(0, 0.02)))[0] for _ in range(3 * 22000)
    ], 32
    yield "zeros", "F32", (7,), [0, 0x80000000, 0, 0, 0, 0, 0], 32
    yield "none", "F32", (0, 3), [], 32
    yield "nothing finite", "F32", (3,), [0x7F800000, 0xFF800000, 0x7FC00000], 32
    yield "with holes", "F32", (2, 33), [0x7F800000 if i == 40 else 0x3F800000 + i * 77777 for i in range(66)], 32
    yield "w.exp_avg_sq", "F32", (5,), [
        struct.unpack("<I", struct.pack("<f", x))[0] for x in (1e-9, 1e-8, 4e-9, 2e-3, 0)
    ], 32


def main():
    where, path = os.path.dirname(FILE), FILE
    head, body, all_of = {}, b"", []
    for name, dtype, shape, codes, bits in tensors():
        data = pack(codes, bits)
        head[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
        all_of.append((name, dtype, [decode(dtype, c) for c in codes], shape))
    head["steps"] = {"dtype": "I64", "shape": [1], "data_offsets": [len(body), len(body) + 8]}
    text = json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body + bytes(8))
    targets = ["fp32", "fp16", "bf16", "e4m3", "e2m1", "e8m0", "mxfp4"]
    tsv = os.path.join(where, "t.tsv")
    ran = subprocess.run([HALFULP, "inspect", path, "--to", ",".join(targets), "--json", "-o", tsv],
                         capture_output=True, text=True)
    rows = json.loads(ran.stdout) if ran.returncode == 0 else []
    ok(len(rows) == len(all_of) * len(targets), "a row each of %d tensors and %d formats: none is left out %s"
       % (len(all_of), len(targets), ran.stderr.strip()))
    ok("1 tensor holds no floating-point numbers" in ran.stderr, "the integers are, and that is said beside JSON too")
    byname = {(r["tensor"], r["to"]): r for r in rows}
    for name, dtype, values, shape in all_of:
        wrong = []
        for to in targets:
            if name == "many" and to != "fp16": # more than one task's elements
                continue
            got, want = byname.get((name, to), {}), expected(name, dtype, values, shape, to)
            wrong += [
                "%s of %s: %r, not %r" % (k, to, got.get(k), w) for k, w in want.items() if not near(got.get(k), w)
            ]
            wrong += ["%s: unknown here" % k for k in got if k not in want and k != "note"]
        ok(not wrong, "%s: every column as computed from its bytes%s" % (name, "".join("\n# " + w for w in wrong[:6])))
    lines = ([l.split("\t") for l in open(tsv).read().splitlines() if not l.startswith("#")] if os.path.exists(tsv)
             else [[]])
    cell = lambda c, v: c == "-" if v is None else float(c) == v if isinstance(v, float) else c == str(v)
    ok(
        lines[0] == [k for k in rows[0] if k != "note"]
        and all(all(cell(a, v) for a, v in zip(c, r.values())) for c, r in zip(lines[1:], rows))
        and len(lines) == len(rows) + 1,
        "-o FILE.tsv: the same columns and figures",
    )
    ran = subprocess.run([HALFULP, "inspect", path, "--to", ",".join(targets)], capture_output=True, text=True)
    table = ran.stdout.replace("sqnr dB", "sqnr_dB").splitlines()
    figures = ("elements", "nonfinite", "nonzeros", "zeroed", "subnormal", "lostbits", "ftz", "overflow", "saturated",
               "amax", "smallest", "rel_l2", "sqnr_dB", "max_error", "at", "mean_error", "l2_zeroed", "cosine",
               "step_rel_l2", "shape", "axis")
    ok(tuple(table[0].split()[3:]) == figures, "the printed table has a column for each")
    form = lambda k, v: (
        "-"
        if v is None
        else (
            v
            if isinstance(v, str)
            else (
                "%d" % v
                if isinstance(v, int)
                else ("%.2f" if k == "sqnr_db" else "%.6f" if k == "cosine" else "%.4g") % v
            )
        )
    )
    wrong = [
        (t, r["tensor"], r["to"])
        for t, r in zip(table[1:], rows)
        if t.split()[-21:] != [form(k, v) for k, v in list(r.items())[3:-2]]
    ]
    ok(
        not wrong and len(table) == len(rows) + 3,
        "and the same figures%s" % "".join("\n# %s %s: %s" % (a, b, t) for t, a, b in wrong[:3]),
    )
    ok(not any(w in ran.stdout for w in ("harmless", "costs", "fatal")), "of weights alone no word of harm is said")
    finish()


main()
