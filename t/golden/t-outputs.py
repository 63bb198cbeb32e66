#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# t-outputs.py [--write] [TOPIC...]: what commands print, held word for word. Each file t/golden/outputs/TOPIC.txt is a
# list of commands with all that each of them prints and its exit code. Only commands are there whose output depends on
# no machine and no build. To add one, write its line, `$ halfulp ...`, and run `make golden`, which rewrites what
# follows each command; read it before you commit it, for the commit says that it is right. Lines of a topic begin with
#   "# "  a comment;
#   "$ "  a command for bash, run in a folder that all commands of the topic share; `npy FILE TYPE SHAPE VALUE...`,
# `safetensors FILE
#         NAME:TYPE:SHAPE:VALUE,VALUE... ...` and `npz FILE NAME:TYPE:SHAPE:VALUE,... ...` write files instead (values
# may be expressions);
#   "  "  standard output; "! " standard error; "= " the exit code, where it is not 0; "\ " that a last line does not
# end.
import collections
import concurrent.futures
import io
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import zipfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "tool"))
import onnxfile  # noqa: E402
import tap  # noqa: E402

folder = os.path.join(here, "outputs")
Command = collections.namedtuple("Command", "comments text expected")
CODES = {"f8": "d", "f4": "f", "f2": "e", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "F64": "d", "F32": "f",
         "F16": "e", "BF16": "H", "F8_E4M3": "B", "F8_E5M2": "B", "F8_E4M3FNUZ": "B", "F8_E5M2FNUZ": "B", "F8_E8M0": "B", "F6_E2M3": "6", "F6_E3M2": "6",
         "F4": "4", "I32": "i", "I64": "q", "U8": "B", "BOOL": "B"}


def data(kind, shape, values, name=""):
    """The bytes of an array: SHAPE as in 2x3 (- for a number alone); fewer values than elements are repeated from the first one on."""
    d = [] if shape == "-" else [int(s) for s in shape.split("x")]
    n = 1
    for s in d:
        n *= s
    if values and values[0][0] == "~":
        draw = random.Random(name)
        values = [repr(draw.uniform(-float(values[0][1:]), float(values[0][1:]))) for _ in range(n)]
    numbers = [eval(v, {"inf": float("inf"), "nan": float("nan")}) for v in values]
    numbers = [numbers[i % len(numbers)] for i in range(n)] if numbers else []
    code = CODES[kind]
    if code in "64": # codes of so few bits, the first in the lowest ones
        bits, whole = int(code), 0
        for i, x in enumerate(numbers):
            whole |= int(x) << bits * i
        return d, whole.to_bytes((n * bits + 7) // 8, "little")
    return d, struct.pack("<%d%s" % (n, code), *[int(x) if code not in "dfe" else x for x in numbers])


def repeated(words):
    """The words, those from each=N to end N times."""
    words = iter(words)
    for word in words:
        if not word.startswith("each="):
            yield word
            continue
        some = list(iter(lambda: next(words), "end"))
        for i in range(int(word[5:])):
            yield from (w.replace("%+", str(i + 1)).replace("%", str(i)) for w in some)


def npy_bytes(kind, shape, values, name=""):
    d, raw = data(kind, shape, values, name)
    head = "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }" % ("|" if kind in ("u1", "i1") else "<", kind, "".join("%d, " % s for s in d))
    head = head.ljust(117 if len(head) < 117 else 245) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + raw


def named(words):
    for word in words:
        name, kind, shape, values = word.split(":", 3)
        yield name, kind, shape, [v for v in values.split(",") if v]


def safetensors_bytes(words):
    entries, raw = [], b""
    for name, kind, shape, values in named(words):
        if name == "metadata": # metadata:KEY:VALUE:
            entries.append('"__metadata__":{"%s":"%s"}' % (kind, shape))
            continue
        d, some = data(kind, shape, values)
        entries.append('"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}' % (name, kind, ",".join(map(str, d)), len(raw), len(raw) + len(some)))
        raw += some
    head = "{" + ",".join(entries) + "}"
    head = head.ljust((len(head) + 7) // 8 * 8).encode()
    return struct.pack("<Q", len(head)) + head + raw


def npz_bytes(words):
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w") as z:
        for name, kind, shape, values in named(words):
            z.writestr(zipfile.ZipInfo(name + ".npy"), npy_bytes(kind, shape, values, name))
    return to.getvalue()


def onnx_bytes(words):
    parts = {"in": [], "out": [], "const": [], "node": []}
    for word in words:
        kind, _, rest = word.partition("=")
        if kind in ("in", "out"):
            name, shape = rest.split(":")
            dims = [d if d.isalpha() else int(d) for d in shape.split("x")]
            parts[kind].append(onnxfile.value(name, dims))
        elif kind == "const":
            name, shape, values = rest.split(":")
            d, raw = data("f4", shape, values.split(","), name)
            parts[kind].append(onnxfile.tensor(name, onnxfile.FLOAT, d, raw))
        else:
            op, takes, gives, *more = word.split(":")
            given = {k: int(v) for k, v in (m.split("=") for m in more[1:])}
            parts["node"].append(onnxfile.node(op, takes.replace(",", " "), gives.replace(",", " "),
                                               name=more[0] if more else "", **given))
    return onnxfile.model(onnxfile.graph(parts["node"], parts["const"], parts["in"], parts["out"]))


MAKERS = {"npy": lambda w: npy_bytes(w[0], w[1], w[2:]), "safetensors": safetensors_bytes, "npz": npz_bytes,
          "onnx": onnx_bytes}


def read(path):
    """The commands of a topic; what stands behind the last of its comments is none's."""
    commands, comments = [], []
    for line in open(path, encoding="utf-8").read().split("\n")[:-1]:
        if line.startswith("$ "):
            commands.append(Command(comments, line[2:], []))
            comments = []
        elif line.startswith("#") or not line:
            comments.append(line)
        else:
            commands[-1].expected.append(line)
    return commands, comments


def prefixed(mark, raw):
    text = raw.decode("utf-8", "backslashreplace")
    lines = text.split("\n")
    end = lines.pop()
    return [mark + line for line in lines] + (["\\" + mark[0] + end] if end else [])


JSON_REAL = re.compile(r'^( +"[^"]*": )(-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+))(,?)$') # Jansson's versions write doubles in their own ways


class Place:
    """A folder for the commands of a topic, with the program in its path."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="halfulp-test-")
        self.work = os.path.join(self.dir, "work")
        os.mkdir(self.work)
        os.mkdir(os.path.join(self.dir, "bin"))
        os.symlink(tap.HALFULP, os.path.join(self.dir, "bin", "halfulp"))
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("HALFULP", "LC_", "LANG", "OMP_", "SOURCE_DATE")) and k not in ("COLUMNS", "TERM", "NO_COLOR", "COLORTERM")}
        self.env = dict(keep, LC_ALL="C", OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive", PATH=os.path.join(self.dir, "bin") + ":" + os.environ["PATH"])
        out = subprocess.run([tap.HALFULP, "--version"], capture_output=True, text=True).stdout
        self.version = re.sub(r"^halfulp ", "", out.split("\n")[0]) # what tables name; another build's is another

    def run(self, text):
        words = text.split(" ")
        if words[0] in MAKERS:
            with open(os.path.join(self.work, words[1]), "wb") as f:
                f.write(MAKERS[words[0]](list(repeated(words[2:]))))
            return []
        try:
            p = subprocess.run(["bash", "-c", text], cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        except subprocess.TimeoutExpired:
            return ["= it hangs"]
        lines = [JSON_REAL.sub(lambda m: m[1] + repr(float(m[2])) + m[3], line) for line in prefixed("  ", p.stdout)] + prefixed("! ", p.stderr) + (["= %d" % p.returncode] if p.returncode else [])
        return [line.replace(self.version, "VERSION") if self.version else line for line in lines]

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def run(topic, each):
    """EACH(topic, command, its lines) of a topic, in order; and what stands behind the last."""
    place = Place()
    try:
        commands, rest = read(os.path.join(folder, topic + ".txt"))
        return [each(topic, c, place.run(c.text)) for c in commands], rest
    finally:
        place.close()


def difference(topic, command, lines):
    """"" where it printed what is kept, else the first line that is another."""
    for i in range(max(len(lines), len(command.expected))):
        mine, kept = [(some[i] if i < len(some) else "(nothing more)") for some in (lines, command.expected)]
        if mine != kept:
            return "line %d is\n  %s\nwhere %s.txt has\n  %s" % (i + 1, mine, topic, kept)
    return ""


class Judge:
    """Prints a line a command as soon as it has run."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, topic, command, lines):
        wrong = difference(topic, command, lines)
        bounded = any('no C++ compiler' in x or '"device_bytes_bound": true' in x for x in lines)
        with self.lock:
            if wrong and bounded:
                return tap.skip("%s: %s" % (topic, command.text.replace("#", "\\#")), tap.NO_SHIM)
            tap.ok(not wrong, "%s: %s" % (topic, command.text.replace("#", "\\#")), wrong)


def rewritten(topic, command, lines):
    return "\n".join(command.comments + ["$ " + command.text] + lines) + "\n"


def main():
    write, judge = "--write" in sys.argv[1:], Judge()
    topics = [a for a in sys.argv[1:] if a != "--write"] or sorted(f[:-4] for f in os.listdir(folder) if f.endswith(".txt"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for topic, future in [(t, pool.submit(run, t, rewritten if write else judge)) for t in topics]:
            done, rest = future.result()
            if write:
                with open(os.path.join(folder, topic + ".txt"), "w", encoding="utf-8") as f:
                    f.write("".join(done) + "".join(line + "\n" for line in rest))
    if tap.failed:
        print("# If the change is meant, `make -C build golden` rewrites t/golden/outputs, and the commit says why.")
    if not write:
        tap.finish()


if __name__ == "__main__":
    main()
