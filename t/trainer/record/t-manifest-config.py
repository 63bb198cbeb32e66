#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The settings that a manifest holds, each of them damaged: of another type, below its least and above its greatest
# value, or absent where it is needed. Who reads the run says which one, in one line, and exits with 3; nothing crashes.
import json, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

os.chdir(tap.home())
made = tap.halfulp(
    'train', *'--model mlp:width=0.03125 --data size=8,train=16,eval=8 --batch 8 --steps 1 --quiet run'.split()
)
if made.returncode:
    tap.bail_out(made.stderr)
whole = json.load(open('run/manifest.json'))


def read(changed):
    """What verify says of the run with these settings."""
    with open('run/manifest.json', 'w') as f:
        json.dump(dict(whole, config=changed), f)
    r = tap.halfulp('verify', 'run')
    return r.returncode, r.stderr


def damaged(key, value):
    config = dict(whole['config'])
    if value is None:
        del config[key]
    else:
        config[key] = value
    return read(config)


tap.ok(read(whole['config'])[0] == 0, 'as it was written it is verified')
numbers = [k for k, v in whole['config'].items() if isinstance(v, (int, float)) and not isinstance(v, bool)]
texts = [k for k, v in whole['config'].items() if isinstance(v, str)]
told = (
    lambda key, r: r[0] == 3
    and r[1].count('\n') == 1
    and 'config: %s is of the wrong type or out of range' % key in r[1]
)
wrong = [k for k in numbers if not told(k, damaged(k, 'x'))]
tap.ok(not wrong and len(numbers) > 10, 'a text in the place of each of %d numbers' % len(numbers), wrong)
wrong = [k for k in texts if not told(k, damaged(k, 3))]
tap.ok(not wrong and len(texts) > 5, 'a number in the place of each of %d texts' % len(texts), wrong)
for value, what in ((-1e300, 'far below'), (1e300, 'far above')):
    wrong = [(k, damaged(k, value)) for k in numbers if not told(k, damaged(k, value))]
    tap.ok(not wrong, '%s what each of them may be' % what, wrong)
for key in ('model', 'data', 'backend', 'trace', 'trace-steps', 'width', 'loss-weight', 'trace-cap'):
    r = damaged(key, None)
    tap.ok(r[0] == 3 and r[1].count('\n') == 1 and 'config: a key is missing' in r[1], 'without %s' % key, r)
tap.finish()
