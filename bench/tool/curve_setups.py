# SPDX-License-Identifier: Apache-2.0
# What bench/operating-curve.py trains: the set-ups, what is no change of them, what is one, and the patches of the
# source that make changes which no option makes.
MLP = '--model mlp:width=0.25 --data size=12,train=2000,eval=500 --batch 64 --epochs 15 --policy '
SETUPS = {
    'float32': MLP + 'float32',
    'float16': MLP + 'mixed_float16',
    'bfloat16': MLP + 'mixed_bfloat16',
    'sgd': MLP + 'mixed_float16 --optimizer sgd:momentum=0.9',
    'convnet': '--model convnet:width=0.125 --data size=8,train=1000,eval=500'
        ' --batch 64 --epochs 10 --policy mixed_float16',
    'gpt': '--model gpt:hidden=16,layers=1,heads=2,inner=32 --data length=8'
        ' --data text:LICENSE --steps 150 --policy mixed_bfloat16',
    'unet': '--model unet:width=0.25,levels=1 --data size=8,train=400,eval=64'
        ' --batch 16 --epochs 5 --policy mixed_float16',
    'ncf': '--model ncf --steps 150 --policy mixed_bfloat16',
    'bert': '--model bert:hidden=16,layers=1,heads=2,inner=32 --data train=400,eval=100'
        ' --batch 16 --epochs 8 --policy mixed_float16',
}
HELD_OUT = ('gpt', 'unet', 'ncf', 'bert')  # gpt and unet until the unpaired limits were mended, ncf and bert since
HARMLESS = {
    'kahan': ['--accumulate', 'kahan'],
    'pairwise': ['--accumulate', 'pairwise'],
    'chunk:16': ['--accumulate', 'chunk:16'],
}
LR = {'sgd': 0.01, 'ncf': 0.005}
adam, half = lambda s: s != 'sgd', lambda s: 'mixed_float16' in SETUPS[s]
CHANGES = {  # what a set-up's runs are given, and in which set-ups it is a change
    'lr +1 %': (lambda s: ['--optimizer', 'lr=' + repr(1.01 * LR.get(s, 0.001))], None),
    'lr +5 %': (lambda s: ['--optimizer', 'lr=' + repr(1.05 * LR.get(s, 0.001))], None),
    'lr +20 %': (lambda s: ['--optimizer', 'lr=' + repr(1.2 * LR.get(s, 0.001))], None),
    'lr -20 %': (lambda s: ['--optimizer', 'lr=' + repr(0.8 * LR.get(s, 0.001))], None),
    'eps 1e-3': (lambda s: ['--optimizer', 'eps=1e-3'], adam),
    'beta2 0.9': (lambda s: ['--optimizer', 'beta2=0.9'], adam),
    'no decay': (lambda s: ['--optimizer', 'weight_decay=0'], lambda s: s not in ('sgd', 'convnet', 'ncf')),
    'scale 2^20': (lambda s: ['--loss-scale', 'static:1048576'], half),
    'fp16 sums': (lambda s: ['--accumulate', 'fma,acc=fp16'], None),
    'RZ sums': (lambda s: ['--accumulate', 'fma,mode=RZ'], None),
    'fp16 second moment': (lambda s: [], adam),
    'fp16 momentum': (lambda s: [], None),
    'RZ casts': (lambda s: [], lambda s: s != 'float32'),
}
STATE = ('trainer/optim/optim.c', 'f = o->state ? (hu_format_id)(o->state - 1)')
FORMAT = 'f = %s ? HU_FP16 : o->state ? (hu_format_id)(o->state - 1)'
PATCHES = {  # file, what stands there, what stands there instead
    'fp16 second moment': STATE + (FORMAT % '*suffix == 118',),
    'fp16 momentum': STATE + (FORMAT % '*suffix == 109',),
    'fp16 velocity': STATE + (FORMAT % '*suffix == 118',),
    'RZ casts': ('lib/program/program.c', 'c->mode = HU_RNE;', 'c->mode = strcmp(op, "cast") ? HU_RNE : HU_RZ;'),
}


def is_change(setup, change):
    return CHANGES[change][1] is None or CHANGES[change][1](setup)
