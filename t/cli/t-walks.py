#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The walks of doc/architecture.md, from a command to what it prints: every file of a stop is there, an earlier stop's
# object needs the object of each stop behind it, at most one object between, and no walk is longer or climbs more often
# than a person can follow.
# A climb is a step to a folder that includes the folder before, so that the reader has to go back.
import collections, os, re, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, none, ok, skip_all  # noqa: E402

BUILD = os.environ.get('top_builddir', '.')
STOPS, CLIMBS = 30, 5
HOUSE = ['lib', 'cuda', 'trainer', 'analyzers', 'reports']
FILE = re.compile(r'`((?:%s)/[\w/]+\.(?:c|h)|halfulp\.c)`' % '|'.join(HOUSE))


def walks():
    """The walks by their first lines; each is a list of stops, a stop the files that it names."""
    text = open(os.path.join(TOP, 'doc/architecture.md'), encoding='utf-8').read()
    text = text[text.index('walks\n'):text.index('\n## Arithmetic')]
    found = {}
    for part in re.split(r'\n(?=From )', text)[1:]:
        title, steps = part.split('\n\n', 1)
        found[' '.join(title.split())] = [FILE.findall(s) for s in re.split(r'^\d+\. ', steps, flags=re.M)[1:]]
    return found


def folders():
    """For each folder all folders below it, by the includes of its files."""
    into = collections.defaultdict(set)
    for top in HOUSE:
        for at, _, names in os.walk(os.path.join(TOP, top)):
            for name in names:
                if name.endswith(('.c', '.h', '.inc', '.def')):
                    with open(os.path.join(at, name), encoding='utf-8') as f:
                        folder = os.path.relpath(at, TOP)
                        into[folder] |= set(re.findall(r'^#include "([\w/]+)/[\w.]+"', f.read(), re.M)) - {folder}
    below = {}

    def reach(folder):
        if folder not in below:
            below[folder] = set()  # a folder that is above itself is seen as such below
            below[folder] = into[folder].union(*[reach(r) for r in into[folder]])
        return below[folder]

    for folder in list(into):
        reach(folder)
    return below


def symbols():
    """Of each object what it defines, and what it needs."""
    objects = [os.path.relpath(os.path.join(at, name), BUILD) for folder in HOUSE
               for at, _, names in os.walk(os.path.join(BUILD, folder)) for name in names if name.endswith('.o')]
    objects += [name for name in os.listdir(BUILD) if name.endswith('halfulp.o')]
    out = subprocess.run(['nm', '-A', '-P'] + objects, cwd=BUILD, capture_output=True, text=True).stdout
    defines, needs = collections.defaultdict(set), collections.defaultdict(set)
    for line in out.splitlines():
        match = re.match(r'(\S+): (hu_\w+) ([A-Za-z])', line)
        if match:
            stem = re.sub(r'libhalfulp\w*_a-|halfulp-(?=halfulp)', '', match[1])[:-2]
            (needs if match[3] == 'U' else defines)[stem].add(match[2])
    return defines, needs


def included(file):
    with open(os.path.join(TOP, file), encoding='utf-8') as f:
        return set(re.findall(r'^#include "([^"]+)"', f.read(), re.M))


def strangers(stops, defines, needs):
    """Files that nothing at an earlier stop calls, names in a table or includes."""
    before, found = {stops[0][0]}, []
    for stop in stops[1:]:
        for file in stop:
            stem = file[:-2]
            rows = any(re.match(r'hu_(op|analyzer|cmd)_', s) for s in defines[stem])  # named by a table
            near = {b[:-2] for b in before | set(stop) - {file}}
            callers = {o for o in needs if defines[stem] & needs[o]}
            calls = any(o in near or any(defines[o] & needs[b] for b in near) for o in callers)
            reads = any(file in included(b) for b in before | set(stop) - {file})
            reads |= file.endswith('.h') and any(
                file in included(h) for b in before for h in included(b) if os.path.exists(os.path.join(TOP, h)))
            if not rows and not calls and not reads:
                found.append(file)
        before |= set(stop)
    return found


def climbs(stops, below):
    seen = [os.path.dirname(stop[0]) for stop in stops if stop]
    return ['%s to %s' % (a, b) for a, b in zip(seen, seen[1:]) if a in below.get(b, ())]


found, below = walks(), folders()
defines, needs = symbols()
if len(defines) < 100:
    skip_all('nm found the symbols of %d objects' % len(defines))
ok(len(found) >= 3, '%d walks are written down' % len(found), list(found))
none([r for r in below if r in below[r] and not r.startswith('cuda')],
     'no folder of lib/, trainer/, analyzers/ and reports/ is above itself, over whatever folders between')
for title, stops in found.items():
    files = [f for stop in stops for f in stop]
    none([f for f in files if not os.path.exists(os.path.join(TOP, f))], 'files are there: ' + title)
    none([i + 1 for i, stop in enumerate(stops) if not stop], 'each stop names its file: ' + title)
    none(strangers(stops, defines, needs), 'an earlier stop leads to each: ' + title)
    up = climbs(stops, below)
    ok(len(stops) <= STOPS and len(up) <= CLIMBS, '%d stops, %d climbs: %s' % (len(stops), len(up), title), up)
ok(climbs([['lib/base/mem.c'], ['lib/store/run_read.c']], below), 'a climb would be seen')
ok(strangers([['lib/base/mem.c'], ['lib/store/run_read.c']], defines, needs), 'a stranger would be seen')
finish()
