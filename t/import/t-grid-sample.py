#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# GridSample in each mode, padding and alignment, of images and of volumes, beside onnxruntime: places within and far
# outside, also of images that are one pixel wide. HALFULP names the program.
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

os.chdir(tap.home())
r = numpy.random.default_rng(20)
FLOAT, ROWS = TensorProto.FLOAT, 4
SIZES = {'images': (5, 7), 'images one pixel wide': (4, 1), 'volumes': (3, 4, 5)}
for name, size in SIZES.items():
    n = len(size)
    data = {
        'x': r.standard_normal((ROWS, 3, *size)).astype(f32),
        'g': r.uniform(-2.6, 2.6, (ROWS, *(2, 6, 3)[:n], n)).astype(f32),
    }
    for mode in ('linear', 'nearest', 'cubic')[: 3 if n == 2 else 2]:
        wrong, aligned = [], (0, 1) if min(size) > 1 else (0,)
        for padding in ('zeros', 'border', 'reflection'):
            for corners in aligned:
                node = N('GridSample', ['x', 'g'], ['y'], mode=mode, padding_mode=padding, align_corners=corners)
                inputs = {k: (FLOAT, ['n', *v.shape[1:]]) for k, v in data.items()}
                model([node], inputs, ['y'], {}, 20)
                got, said = predict('float32', data, ROWS)
                ort = run('float.onnx', [data])['y']
                off = abs(got['y'].reshape(ort.shape) - ort).max() if got else said
                if not got or off > 2e-5:
                    wrong.append('%s, align_corners %d: %s' % (padding, corners, off))
        tap.none(wrong, '%s, %s: paddings and alignments are onnxruntime\'s' % (name, mode))
tap.finish()
