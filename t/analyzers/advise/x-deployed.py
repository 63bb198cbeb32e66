#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Prediction against reality: the typed files that advise writes run in onnxruntime on 500 inputs, and each decision is
# compared with the one that validate predicts. Two models: a convolutional network made here, whose decisions are
# close, and Magika's classifier of files where that package is installed. onnxruntime optimises nothing, so that it
# keeps each rounding of the file; what all its optimisations change is told beside it. They make codes of those biases
# whose sums become codes, and add products of integers: int8:biases has these codes in the file, and its decisions are
# those of every level where the processor has VNNI. Without it sums of two products saturate, which int8:biases:pairs16
# predicts. Each input that is decided otherwise is shown with its margin. HALFULP names the program; arguments: names
# of models, else both run.
import glob, json, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap
from onnxfile import *

try:
    import numpy, onnxruntime
except ImportError:
    tap.skip_all('no onnxruntime')
INPUTS, CALIBRATION, FEW, AGREE = 500, 64, 4, 0.995
FORMATS = 'fp16', 'bf16', 'int8', 'int8:biases', 'nvfp4'
PAIRS = 'int8:biases:pairs16'
NONE, EVERY = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
asked = sys.argv[1:]
with open('/proc/cpuinfo') as file:
    INTEGERS = 'int8:biases' if 'vnni' in file.read() else PAIRS


def convnet(path, r):
    """Three convolutions and two products with drawn weights; images of noise over a pattern, and 200 classes, of which
    some are always close."""

    def weights(name, *shape):
        w = r.normal(0, 1.4 / numpy.prod(shape[1:]) ** 0.5, shape).astype(numpy.float32)
        return floats(name, list(shape), w.reshape(-1).tolist())

    nodes = [
        node('Conv', 'x c1 b1', 'a1', name='conv1', kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node('Relu', 'a1', 'r1', name='relu1'),
        node('MaxPool', 'r1', 'p1', name='pool1', kernel_shape=[2, 2], strides=[2, 2]),
        node('Conv', 'p1 c2 b2', 'a2', name='conv2', kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node('Relu', 'a2', 'r2', name='relu2'),
        node('Conv', 'r2 c3 b3', 'a3', name='conv3', kernel_shape=[3, 3], strides=[2, 2]),
        node('Relu', 'a3', 'r3', name='relu3'),
        node('Flatten', 'r3', 'f', name='flat'),
        node('Gemm', 'f w1 d1', 'g', name='fc1', transB=1),
        node('Relu', 'g', 'h', name='relu4'),
        node('Gemm', 'h w2 d2', 'y', name='fc2', transB=1),
    ]
    held = [
        weights('c1', 16, 3, 3, 3),
        weights('b1', 16),
        weights('c2', 32, 16, 3, 3),
        weights('b2', 32),
        weights('c3', 32, 32, 3, 3),
        weights('b3', 32),
        weights('w1', 64, 288),
        weights('d1', 64),
        weights('w2', 200, 64),
        weights('d2', 200),
    ]
    write(path, graph(nodes, held, [value('x', ['n', 3, 16, 16])], [value('y', ['n', 200])], 'g'), opset=19)
    kinds = r.normal(0, 1, (20, 3, 16, 16))
    return {'x': (kinds[r.integers(0, 20, INPUTS)] + r.normal(0, 1, (INPUTS, 3, 16, 16))).astype(numpy.float32)}


def magika(path, r):
    """Magika's model, and the first and last 1024 bytes of files of this machine, 256 where a file is shorter."""
    try:
        import magika as package
    except ImportError:
        return None
    found = sorted(glob.glob(os.path.join(os.path.dirname(package.__file__), 'models/standard_*/model.onnx')))
    walks = (os.walk(d) for d in ('/usr/include', '/usr/share', '/etc'))
    files = sorted(os.path.join(at, name) for walk in walks for at, _, names in walk for name in names if '.' in name)
    rows = []
    for k in r.permutation(len(files)):
        if len(rows) == INPUTS:
            break
        try:
            if not os.path.isfile(files[k]):
                continue
            with open(files[k], 'rb') as file:
                data = file.read(1 << 20)
        except OSError:
            continue
        if len(data) >= 64:
            head, tail = data[:4096].lstrip()[:1024], data[-4096:].rstrip()[-1024:]
            rows.append([*head, *[256] * (1024 - len(head)), *[256] * (1024 - len(tail)), *tail])
    if not found or len(rows) < INPUTS:
        return None
    os.symlink(found[-1], path)
    return {'bytes': numpy.array(rows, dtype=numpy.int32)}


def deployed(path, data, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    return numpy.concatenate(
        [session.run(None, {k: v[i : i + 50] for k, v in data.items()})[0] for i in range(0, INPUTS, 50)]
    )


os.chdir(tap.home())
for name, make in (('convnet', convnet), ('magika', magika)):
    data = make(name + '.onnx', numpy.random.default_rng(11)) if not asked or name in asked else None
    if data is None:
        tap.skip(name, 'not asked for, or not installed')
        continue
    numpy.savez(name + '.npz', **data)
    numpy.savez('calibration.npz', **{k: v[:CALIBRATION] for k, v in data.items()})
    numpy.savez('few.npz', **{k: v[:FEW] for k, v in data.items()})
    plans = []
    for scheme in (*FORMATS, PAIRS):
        got = tap.halfulp(
            'advise',
            name + '.onnx',
            '--data',
            'few.npz',
            '--accept',
            'rel_l2<=1e9',
            '--format',
            scheme,
            '--out',
            name + scheme,
            *(
                ['--calibrate', 'calibration.npz', '--calibrate-inputs', str(CALIBRATION)]
                if scheme.startswith('int8')
                else []
            )
        )
        tap.ok(got.returncode == 0, '%s: a typed file of %s' % (name, scheme), got.stderr)
        plans.append('./%s/policy.json' % (name + scheme))
    got = tap.halfulp(
        'validate',
        name + '.onnx',
        '--data',
        name + '.npz',
        '--policy',
        ','.join(plans),
        '--calibrate',
        'calibration.npz',
        '--calibrate-inputs',
        str(CALIBRATION),
        '--exact',
        '0',
        '--accumulate',
        'chunk:256',
        '--outputs',
        name + '-out',
        '--json',
    )
    if not tap.ok(got.returncode == 0, '%s: %d inputs are predicted' % (name, INPUTS), got.stderr):
        continue
    rows = {r['policy']: r for r in json.loads(got.stdout)['policies']}
    written = os.listdir(name + '-out')
    load = lambda p: next(iter(numpy.load('%s-out/%s' % (name, next(w for w in written if p in w))).values()))
    float32 = deployed(name + '.onnx', data, NONE)
    base = load('float32').reshape(float32.shape)
    for scheme, plan in zip(FORMATS, plans):
        y = deployed(name + scheme + '/model.onnx', data, NONE)
        want = load(name + scheme + '_').reshape(y.shape)
        ours, theirs = want.argmax(-1), y.argmax(-1)
        differ = numpy.flatnonzero(ours != theirs)
        was = base.argmax(-1)
        tap.ok(
            1 - len(differ) / INPUTS >= AGREE and rows[plan]['flips'] == int((ours != was).sum()),
            '%s %s: %d of %d decisions as predicted; %d predicted changed, %d changed there, %d are both; '
            'outputs differ by %.2g of the largest, %d are equal bit by bit'
            % (
                name,
                scheme,
                INPUTS - len(differ),
                INPUTS,
                (ours != was).sum(),
                (theirs != float32.argmax(-1)).sum(),
                ((ours != was) & (theirs != float32.argmax(-1))).sum(),
                abs(y - want).max() / abs(want).max(),
                (y == want).all(-1).sum(),
            ),
        )
        for i in differ:
            ordered = numpy.sort(want[i])
            print(
                '#   input %d: predicted %d by a margin of %.3g, there %d; the outputs are %.3g apart'
                % (i, ours[i], ordered[-1] - ordered[-2], theirs[i], abs(y[i] - want[i]).max())
            )
        optimised = deployed(name + scheme + '/model.onnx', data, EVERY)
        print('#   with all optimisations %d are as predicted' % (optimised.argmax(-1) == ours).sum())
        if scheme == 'int8:biases':
            want = load(name + INTEGERS + '_').reshape(y.shape)
            agreed = (optimised.argmax(-1) == want.argmax(-1)).sum()
            tap.ok(
                agreed >= AGREE * INPUTS,
                '%s %s: with all optimisations %d decisions as predicted by %s; outputs differ by %.2g of the largest'
                % (name, scheme, agreed, INTEGERS, abs(optimised - want).max() / abs(want).max()),
            )
tap.finish()
