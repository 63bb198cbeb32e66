# SPDX-License-Identifier: Apache-2.0
# For tests that analyze one run in several ways: a small run, and what analyze wrote, to be compared byte for byte.
import glob
import json
import os
import shutil

from tap import bail_out, halfulp

SMALL = ['--model', 'mlp:width=0.03125', '--data', 'size=8,train=40,eval=8', '--batch', '8', '--quiet']


def trained(run, *words):
    """Trains RUN, of which steps are traced as WORDS say; without a model among them, the small one."""
    p = halfulp('train', *([] if '--model' in words else SMALL), *words, run)
    if p.returncode:
        bail_out('train %s: exit %d: %s' % (' '.join(words), p.returncode, p.stderr.strip()))


def written(run, *patterns):
    names = glob.glob(run + '/analysis/*') + [f for p in patterns for f in glob.glob(p)]
    return [f for f in names if os.path.isfile(f)]


def tables(run, *patterns):
    """What RUN/analysis holds besides parts, and the files of these patterns, by name."""
    return {os.path.basename(f): open(f, 'rb').read() for f in written(run, *patterns)}


def forget(run, *patterns):
    """Removes all of that, and parts."""
    for f in written(run, *patterns):
        os.remove(f)
    shutil.rmtree(run + '/analysis', ignore_errors=True)


# A run whose calls are cut, where every element is judged: products, elementwise operators, rows of softmax and
# layernorm, updates
CUT = ['--model', 'gpt:layers=1,hidden=64,heads=2', '--data', 'length=48,train=12']
CUT += ['--data', 'eval=2', '--batch', '6', '--steps', '1', '--trace', 'steps=0', '--policy', 'mixed_float16']
CUT += ['--optimizer', 'adamw', '--quiet']
CUT_OPS = {'matmul', 'gelu', 'gelu_dx', 'softmax', 'layernorm_dx', 'bias', 'adamw'}

# Runs of which a few calls are traced, whose operators need more elements: channels of batchnorm and casts with a
# scale; a loss by sigmoids and gradients of gathers; masked scores and a loss by softmax
STEP = ['--steps', '1', '--trace', 'steps=0', '--quiet']
CUT_MORE = {
    'channels': (
        ['--model', 'convnet', '--data', 'train=48,eval=4', '--batch', '48', '--policy', 'mixed_e4m3']
        + [*STEP, '--trace', 'bn1.*,relu1.*'],
        {'batchnorm', 'batchnorm_dx', 'cast scaled'},
    ),
    'gathers': (
        ['--model', 'ncf', '--data', 'train=20000,eval=8', '--batch', '20000', '--policy', 'mixed_float16']
        + [*STEP, '--trace', 'loss.*,output.y*,mlp_input.dy,mlp_users.*,input.*'],
        {'sigmoid_xent', 'gather_dx', 'move_dx'},
    ),
    'scores': (
        ['--model', 'gpt:layers=1,hidden=128,heads=2', '--data', 'length=256,train=8']
        + ['--data', 'eval=2', '--batch', '4', '--policy', 'mixed_float16', *STEP]
        + ['--trace', 'block1_attention.*masked,block1_attention.dcausal,loss.*,logits.y*,input.*'],
        {'causal_dx', 'softmax_xent'},
    ),
}


def cut_ops(run, part):
    """The operators of RUN whose calls have more than one tile in a part."""
    program = json.load(open(run + '/program-train.json'))
    op = {str(c['id']): c['op'] + ' scaled' * bool(c['attr'].get('scaled')) for c in program['calls']}
    names = [line.split('\t')[0].split('.') for line in open(part) if line[0] not in '#u']
    return {op[x[1]] for x in names if x[1] != 'all' and x[2] != '0'}
