# SPDX-License-Identifier: Apache-2.0
# Promise: Killed at a thousand random system calls of any kind, every second time once more on the way back, a training
# is resumed and an analyzer run again to the bytes of one that nothing disturbed, and no temporary file stays.
# KILLS says how many times each command is killed, SEED where, KILLED which commands are.
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import faults
import tap
from fault_commands import MORE, TRAIN, prepare

# What is killed, and which command brings a training back where there is something to resume.
COMMANDS = {
    'train': 'train %s --steps 7 --checkpoint-every 2 new' % TRAIN,
    'train resume': 'train --resume cut',
    'analyze': 'analyze run --threads 1',
    'report': 'report seen',
    'verify': 'verify run --threads 1',
    'baseline': 'baseline seen -o other.tsv --reason first',
    'check': 'check seen --baseline base.tsv --history kept --json',
    'diff': 'diff x.npz y.npz --json',
    'merge': 'merge one.part two.part',
    'validate': 'validate m.onnx --data x.npz --policy fp16,bf16 --outputs outs --json',
    'advise': "advise m.onnx --data x.npz --accept 'rel_l2<=1e-2' --format fp16,bf16 --out advised",
    'inspect': 'inspect m.onnx --to e4m3 --totals -o i.tsv --threads 1',
    'gate': 'gate --baseline base.tsv seen -o junit=g.xml -o tap=g.tap -o gitlab=g.json -o sarif=g.sarif',
    'compare': MORE['compare'],
}
ANY = ('write,read,fsync,close,ftruncate,flock,fstat,dents,seek,fallocate,open,rename,mkdir,unlink,mmap,say,memory,'
       'unmap,process,wait,ask')


def sweep(home, tracer, of_c, most, seed):
    chosen = os.environ.get('KILLED', ','.join(COMMANDS)).split(',')
    for name in chosen:
        case = faults.Case(name, home, home + '/files', of_c, COMMANDS[name])
        count, done, wrong = faults.killed_at_random(case, tracer, ANY, most, random.Random('%d %s' % (seed, name)))
        if count is None:
            tap.skip(name, 'this system traces no program here')
        else:
            tap.ok(done >= most and not wrong, '%s: killed %d times at %d random calls, and brought back' % (
                name, done, count), wrong)


if faults.watched():
    tap.skip_all('a sanitizer watches the program, which has allocators and exits of its own')
most, seed = int(os.environ.get('KILLS', '1000')), int(os.environ.get('SEED', '1'))
home = tap.home()
print('# each command is killed at least %d times (KILLS), drawn by seed %d (SEED)' % (most, seed), flush=True)
tracer, of_c = faults.build(home, 'calls.c'), faults.build(home, 'functions.c', '-shared', '-fPIC')
if not prepare(home + '/files', tracer):
    tap.skip_all('this system traces no program here')
sweep(home, tracer, of_c, most, seed)
tap.finish()
