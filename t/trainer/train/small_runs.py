# SPDX-License-Identifier: Apache-2.0
# What tests of train's words share: their folder, a line of the program in it, and tables and manifests of its runs.
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import tap  # noqa: E402

home = tap.home()
SMALL = ('--data', 'size=8,train=48,eval=24', '--batch', '16', '--model', 'width=0.05', '--trace', 'steps=none')


def run(*words):
    p = tap.halfulp(*words, cwd=home)
    return p.returncode, p.stdout, p.stderr


def table(path):
    lines = [x.split('\t') for x in open(os.path.join(home, path)).read().splitlines() if not x.startswith('#')]
    return [dict(zip(lines[0], x)) for x in lines[1:]]


def manifest(path):
    return json.load(open(os.path.join(home, path, 'manifest.json')))
