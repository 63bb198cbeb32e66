#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SARIF of check and gate, and the places of annotations: every failure that the JSON has is a result whose file is the
# committed baseline and whose line there begins with the quantity; what nobody could judge is said, and is no result.
import json
import os
import re
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, none, ok  # noqa: E402

os.chdir(home())
SMALL = ('--quiet --model mlp:width=0.05 --data size=8,train=64,eval=32 --batch 16 --epochs 1 '
         '--policy mixed_float16').split()  # fmt: skip
BASE = 'numerics of 1%/base #1.tsv'
os.makedirs(os.path.dirname(BASE))
for name, more in (('a', []), ('b', ['--optimizer', 'lr=0.011'])):
    for words in (['train', *SMALL, *more, name], ['analyze', name]):
        done = halfulp(*words)
        ok(done.returncode == 0, ' '.join(words), done.stderr)
ok(halfulp('baseline', 'a', '-o', BASE, '--reason', 'first').returncode == 0, 'a baseline')
lines = open(BASE).read().split('\n')


def run_of(text):
    """The one run of a SARIF log, after a look at what SARIF 2.1.0 requires of the log and of a run."""
    log = json.loads(text)
    run, = log['runs']
    driver = run['tool']['driver']
    good = (log['version'] == '2.1.0' and log['$schema'].endswith('sarif-2.1.0.json') and driver['name'] == 'halfulp'
            and [r['id'] for r in driver['rules']] == ['drift'] and isinstance(run['results'], list)
            and isinstance(run['invocations'][0]['executionSuccessful'], bool))  # fmt: skip
    ok(good, 'the log is one of SARIF 2.1.0', text[:400])
    return run


done = halfulp('check', 'b', '--baseline', BASE, '--format', 'sarif')
run = run_of(done.stdout)
rows = json.loads(halfulp('check', 'b', '--baseline', BASE, '--json').stdout)
failed = [f for f in rows['findings'] if not f['ok']]
ok(done.returncode == 1 and len(failed) == rows['failed'] > 20 and run['invocations'][0]['executionSuccessful'],
   'a drift is exit 1, and %d quantities failed' % len(failed), done.stderr)
wrong, seen = [], set()
for want, got in zip(failed, run['results']):
    place = got['locations'][0]['physicalLocation']
    name = got['locations'][0]['logicalLocations'][0]['fullyQualifiedName']
    path = urllib.parse.unquote(place['artifactLocation']['uri'])
    at = place.get('region', {}).get('startLine', 0)
    if name != want['quantity'] or got['level'] != 'error' or got['ruleId'] != 'drift':
        wrong.append('%s stands where %s is expected' % (name, want['quantity']))
    if not got['message']['text'].startswith('%s: %s' % (name, want['held'])):
        wrong.append(got['message']['text'])
    in_baseline = [i + 1 for i, line in enumerate(lines) if line.split('\t')[0] == name]
    if (path, [at]) != ((BASE, in_baseline) if in_baseline else ('b', [0])):
        wrong.append('%s: line %d of %s, not %s' % (name, at, path, in_baseline))
    seen.add(got['partialFingerprints']['halfulp/v1'])
none(wrong[:5] + ([] if len(run['results']) == len(failed) else [len(run['results'])]),
     'each failure is a result at its line of the baseline')
ok(len(seen) == len(failed), 'and has a fingerprint of its own')
uris = {r['locations'][0]['physicalLocation']['artifactLocation']['uri'] for r in run['results']}
ok(urllib.parse.quote(BASE) in uris and not any(set(u) & set(' #?') for u in uris), 'paths are URIs', sorted(uris))
text = [n['message']['text'] for n in run['invocations'][0]['toolExecutionNotifications']]
ok(text and text[0] == rows['why'], 'the sentence on the cause is a note', text[:1])

github = halfulp('check', 'b', '--baseline', BASE, '--format', 'github').stdout.splitlines()
found = [re.match(r'::error file=(.*?),line=(\d+),title=(.*?)::', x) for x in github]
found = [m.groups() for m in found if m]
plain = [(urllib.parse.unquote(p), int(n), urllib.parse.unquote(t)) for p, n, t in found]
ok(len(plain) > 3 and all(p == BASE and lines[n - 1].split('\t')[0] == t for p, n, t in plain),
   "GitHub's annotations stand at the lines of the baseline", github[:3])
quality = json.loads(halfulp('check', 'b', '--baseline', BASE, '--format', 'gitlab').stdout)
at = [(q['location']['path'], q['location']['lines']['begin'], q['description']) for q in quality]
good = [p == BASE and d.startswith(lines[n - 1].split('\t')[0] + ': ') for p, n, d in at if p != 'b']
ok(len(good) > 20 and all(good), "so do the findings of GitLab's code quality", at[:3])

done = halfulp('gate', '--baseline', BASE, '--quiet', '-o', 'sarif=q.sarif', 'b')
ok(done.returncode == 1 and run_of(open('q.sarif').read()) == run, 'gate writes the same', done.stderr)
done = halfulp('gate', '--baseline', BASE, '--quiet', '-o', 'sarif=q.sarif', 'a')
green = run_of(open('q.sarif').read())
ok(done.returncode == 0 and green['results'] == [] and green['invocations'][0]['executionSuccessful'],
   'a run that holds has no result', done.stderr)
done = halfulp('check', 'nowhere', '--baseline', BASE, '--format', 'sarif')
none_judged = run_of(done.stdout)
said = none_judged['invocations'][0]['toolExecutionNotifications']
ok(done.returncode == 3 and none_judged['results'] == [] and said[0]['level'] == 'error'
   and not none_judged['invocations'][0]['executionSuccessful'] and 'no run is there' in said[0]['message']['text'],
   'what nobody could judge is no result, and the run says why', said)
finish()
