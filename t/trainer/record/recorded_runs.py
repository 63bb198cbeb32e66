# SPDX-License-Identifier: Apache-2.0
# Small trainings for the tests of what a run's folder says of itself, its tables, and what doctor says here.
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import HALFULP, bail_out, home  # noqa: E402

folder = home()
at = lambda *names: os.path.join(folder, *names)  # noqa: E731


def table(path):
    lines = [x.split('\t') for x in open(path).read().splitlines() if not x.startswith('#')]
    return [dict(zip(lines[0], x)) for x in lines[1:]]


def train(name, *words, env=None):
    r = subprocess.run([HALFULP, 'train', *words, at(name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       universal_newlines=True, env=dict(os.environ, **(env or {})))
    if r.returncode:
        bail_out('train %s: %s' % (name, r.stderr))
    return json.load(open(at(name, 'manifest.json'))), r.stdout


def doctor(key):
    return re.search(
        '^%s +(.*)$' % key, subprocess.run([HALFULP, 'doctor'], stdout=subprocess.PIPE, universal_newlines=True).stdout,
        re.M
    )


SMALL = ['--model', 'width=0.03125', '--data', 'size=8,eval=8', '--meter', 'none']
