# SPDX-License-Identifier: Apache-2.0
# The memory of a shard of a trace of some hundred megabytes: it holds the tensors of one call at a time, as the file
# has them and unpacked, whatever it has judged before.
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from analyzed import trained  # noqa: E402
from tap import HALFULP, bail_out, finish, home, none, ok  # noqa: E402

os.chdir(home())
N, OWN = 4, 32e6  # shards; bytes of the program itself, two pieces of a tensor that is read, what it says
HUGE = ['--model', 'mlp:width=1', '--data', 'size=28,train=65536,eval=8', '--quiet']
HUGE += ['--batch', '65536']
trained('huge', *HUGE, '--steps', '1', '--trace', 'steps=0', '--trace', 'cap=2e9', '--policy', 'mixed_float16')
path = 'huge/trace/step-000000.safetensors'
program = json.load(open('huge/program-train.json'))
name = {t['id']: t['name'] for t in program['tensors']}
with open(path, 'rb') as f:  # its header alone: a child's largest set counts what its parent had when it began
    head = json.loads(f.read(struct.unpack('<Q', f.read(8))[0]))


def memory(t):
    """What a tensor takes: its codes in the file, and floats for those that are narrower."""
    if t not in head:
        return 0
    first, last = head[t]['data_offsets']
    return (last - first) * (1 if head[t]['dtype'] == 'F32' else 3 if head[t]['dtype'] != 'F8_E4M3' else 5)


def peak(*words):
    """The largest resident set of the program with these arguments, in bytes."""
    quiet = [(os.POSIX_SPAWN_OPEN, k, os.devnull, os.O_RDWR, 0) for k in (0, 1, 2)]
    pid = os.posix_spawn(HALFULP, ['halfulp', *words], os.environ, file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    if status:
        bail_out('halfulp %s: %d' % (' '.join(words), os.waitstatus_to_exitcode(status)))
    return used.ru_maxrss * 1024


size, wrong, said = os.path.getsize(path), [], []
for i in range(1, N + 1):
    words = ['--no-propagate', '--sample', '64', '--threads', '1', '--shard', 'part=a.part', 'huge']
    most = peak('analyze', '--shard', '%d/%d' % (i, N), *words)
    calls = [line.split('\t')[0].split('.')[1] for line in open('a.part') if line[0] not in '#u']
    bound = OWN + max(
        sum(memory(name[t]) for t in {*program['calls'][int(c)]['in'], *program['calls'][int(c)]['out']})
        for c in calls
        if c != 'all'
    )
    said.append('%.0f of at most %.0f' % (most / 1e6, bound / 1e6))
    if most > bound:
        wrong.append('shard %d: %s MB' % (i, said[-1]))
    os.remove('a.part')
none(wrong, 'a file of %.0f MB: %d shards hold the tensors of a call: %s MB' % (size / 1e6, N, ', '.join(said)))
ok(size > 5e8, 'and the file is larger than that')
finish()
