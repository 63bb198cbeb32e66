# SPDX-License-Identifier: Apache-2.0
# Small runs of an mlp for the tests of diff and verify, and values of codes.
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'judge'))
from independent.files import Run  # noqa: E402
from independent.number import FORMATS, decode  # noqa: E402
from tap import HALFULP, home  # noqa: E402

folder = home()
at = lambda *names: os.path.join(folder, *names)  # noqa: E731


def halfulp(*words):
    return subprocess.run([HALFULP, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def train(name, *words):
    r = halfulp('train', '--model', 'mlp:width=0.03125', '--data', 'size=8,train=40,eval=8', '--batch', '8',
                '--quiet', *words, at(name))
    assert r.returncode == 0, r.stderr
    return Run(at(name))


def real(code, name):
    """A code's value as a float whose sign says what that of a zero is."""
    v = decode(code, name)
    return float(v) if not v == 0 else math.copysign(0.0, -1.0 if code >> (FORMATS[name][0] - 1) else 1.0)
