#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime's own operators: each row MICROSOFT of operators.def has cases here, whose results are ONNX Runtime's
# where it is installed: of codes all, of floating-point numbers to 2e-7. Kernels of codes are computed here once more,
# with the roundings that they are known to have, and so is what is added to a softmax.
import os, re, subprocess, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import numpy as np, onnx, onnxruntime as ort
    from onnx import helper, numpy_helper
except ImportError:
    tap.skip_all('numpy, onnx and onnxruntime are not installed')
os.chdir(tap.home())
ort.set_default_logger_severity(4)
f32, f64, MS = np.float32, np.float64, 'com.microsoft'
U8, I8, I32 = np.uint8, np.int8, np.int32
rng = np.random.default_rng(36)
R = lambda *s: rng.standard_normal(s).astype(f32)
codes = lambda *s: rng.integers(0, 256, s).astype(U8)
signed = lambda *s: rng.integers(-127, 128, s).astype(I8)
scales = lambda *s: rng.uniform(0.004, 0.02, s).astype(f32)
clip = lambda v: np.clip(v, 0, 255)
fma = lambda x, y, z: (np.asarray(x, f64) * np.asarray(y, f64) + np.asarray(z, f64)).astype(f32)
# Where pairs of products of bytes saturate (t-ort-pairs16.py), weights of 7 bits leave them whole.
flags = open('/proc/cpuinfo').read() if os.path.exists('/proc/cpuinfo') else ''
weights = lambda *s: signed(*s) // (2 if 'avx2' in flags and 'vnni' not in flags else 1)
CASES = []


class Case:
    """A node: operands, of which FEED are inputs and the others constants, and perhaps its value by a formula."""
    def __init__(self, op, operands, feed=(0,), formula=None, outputs=('y',), domain=MS, **attributes):
        self.__dict__.update(locals())
        self.most, self.near, self.old = 2e-7, None, len(CASES) % 2
        CASES.append(self)

    def files(self):
        ins, inits, names, feeds = [], [], [], {}
        for i, v in enumerate(self.operands):
            names.append('' if v is None else 'i%d' % i)
            if v is not None and i in self.feed:
                v = np.asarray(v)
                ins.append(helper.make_tensor_value_info(names[-1], helper.np_dtype_to_tensor_dtype(v.dtype),
                        v.shape))
                feeds[names[-1]] = v
            elif v is not None:
                inits.append(v if isinstance(v, onnx.TensorProto) else numpy_helper.from_array(np.asarray(v),
                        names[-1]))
                inits[-1].name = names[-1]
        g = helper.make_graph([helper.make_node(self.op, names, self.outputs, domain=self.domain,
                **self.attributes)], 'g', ins,
                              [helper.make_tensor_value_info(o, 0, None) for o in self.outputs if o], inits)
        m = helper.make_model(g, opset_imports=[helper.make_opsetid('', 17 if self.old else 21),
                helper.make_opsetid(MS, 1)])
        m.ir_version = 10
        m = onnx.load_from_string(m.SerializeToString())
        types = self.types()
        for o, t in zip(m.graph.output, types):
            o.type.tensor_type.elem_type = t
        onnx.save(m, 'm.onnx')
        # An array's rows are inputs: a past whose first axis holds keys and values is a whole one.
        np.savez('m.npz', **{n: v[None] if v.ndim == 5 else v for n, v in feeds.items()})
        return m, feeds

    def types(self):
        q = self.op.startswith('QLinear') or (self.op == 'QGemm' and len(self.operands) > 7)
        return [onnx.TensorProto.UINT8 if q else onnx.TensorProto.FLOAT] * len(self.outputs)


x, skip, gamma, beta, bias = R(2, 5, 32), R(2, 5, 32), R(32), R(32), R(32)
Case('SkipLayerNormalization', [x, skip, gamma, beta, bias], (0, 1), epsilon=1e-5)
Case('SkipLayerNormalization', [x, skip, gamma, beta, bias], (0, 1), lambda: [None, (x + skip) + bias], ('y', '',
        '', 't'))
Case('SkipLayerNormalization', [x, skip, gamma], (0, 1))
Case('SkipSimplifiedLayerNormalization', [x, skip, gamma, bias], (0, 1), epsilon=1e-6)
Case('SimplifiedLayerNormalization', [x, gamma], domain='', epsilon=1e-6)
ids, segment = rng.integers(0, 20, (2, 5)).astype(I32), rng.integers(0, 2, (2, 5)).astype(I32)
Case('EmbedLayerNormalization', [ids, segment, R(20, 32), R(16, 32), R(2, 32), gamma, beta], (0, 1), outputs=('y',
        ''))
Case('EmbedLayerNormalization', [ids, None, R(20, 32), R(16, 32), None, gamma, beta], (0,), outputs=('y', ''))
Case('Gelu', [4 * x])
Case('BiasGelu', [4 * x, bias])
Case('FastGelu', [4 * x, bias])
Case('FastGelu', [4 * x])
Case('QuickGelu', [4 * x], alpha=1.5)
Case('QuickGelu', [4 * x])
Case('FusedMatMul', [R(2, 6, 8), R(2, 10, 8)], (0, 1), alpha=0.25, transB=1)
Case('FusedMatMul', [R(2, 8, 6), R(8, 10)], alpha=2.0, transA=1)
Case('FusedGemm', [R(4, 8), R(5, 8), R(5)], alpha=0.5, beta=2.0, transB=1, activation='Relu')
Case('FusedGemm', [R(4, 8), R(8, 5), R(5)], activation='LeakyRelu', activation_alpha=0.3)
image = R(1, 4, 8, 8)
Case('FusedConv', [image, R(6, 4, 3, 3), R(6), R(1, 6, 8, 8)], activation='Relu', pads=[1, 1, 1, 1])
Case('FusedConv', [image, R(6, 4, 1, 1)], activation='Clip', activation_params=[-0.5, 1.5])
Case('FusedConv', [image, R(6, 4, 1, 1), R(6)], activation='HardSigmoid', activation_params=[0.2, 0.4])

# Attention.
q, k, v = R(2, 5, 32), R(2, 7, 32), R(2, 7, 32)
lengths, keys = np.array([5, 7], I32), (rng.random((2, 7)) > 0.3).astype(I32)
Case('MultiHeadAttention', [q, k, v, None, None, R(1, 4, 5, 7)], (0, 1, 2), num_heads=4)
Case('MultiHeadAttention', [q, k, v, R(96), lengths], (0, 1, 2), num_heads=4)
Case('MultiHeadAttention', [q, k, v, None, keys], (0, 1, 2, 4), num_heads=4, scale=0.3)
Case('MultiHeadAttention', [q, q, q, None, None, None, R(2, 4, 3, 8), R(2, 4, 3, 8)], (0, 6, 7), num_heads=4,
        outputs=('y', 'pk', 'pv'))
Case('MultiHeadAttention', [q, q, q], num_heads=4, unidirectional=1)
W, mask = R(32, 96) * f32(0.2), np.array([[1, 1, 1, 0, 0], [1] * 5], I32)
for one in (0, 1):
    Case('Attention', [q, W, R(96), mask], num_heads=4, unidirectional=one)
Case('Attention', [q, W, R(96), np.array([3, 5], I32)], num_heads=4)
Case('Attention', [R(1, 5, 32), W, R(96), None, R(2, 1, 4, 3, 8)], (0, 4), num_heads=4, outputs=('y', 'p'),
        unidirectional=1)
angle = np.arange(64)[:, None] / 10000 ** (np.arange(0, 16, 2) / 16)
cosine, sine = np.cos(angle).astype(f32), np.sin(angle).astype(f32)
z = R(2, 5, 64)
for apart in (0, 1):
    Case('RotaryEmbedding', [z, np.tile(np.arange(5), (2, 1)) + 3, cosine, sine], (0, 1), num_heads=4,
            interleaved=apart)
Case('RotaryEmbedding', [R(2, 4, 5, 16), np.array([7]), cosine, sine])
for more in ({}, {'do_rotary': 1}, {'do_rotary': 1, 'rotary_interleaved': 1}, {'local_window_size': 2},
        {'softcap': 2.0},
             {'smooth_softmax': 1}, {'scale': 0.1}):
    for S, past in ((5, 0), (1, 7)):
        Case('GroupQueryAttention', [R(2, S, 64), R(2, S, 32), R(2, S, 32), R(2, 2, past, 16), R(2, 2, past, 16),
                                     np.full(2, S + past - 1, I32), np.array(S + past,
                                             I32), cosine, sine], (0, 1, 2, 3, 4),
             outputs=('y', 'pk', 'pv'), num_heads=4, kv_num_heads=2, **more)
Case('GroupQueryAttention', [R(2, 5, 128), None, None, R(2, 2, 0, 16), R(2, 2, 0, 16), np.full(2, 4, I32),
        np.array(5, I32), cosine,
                             sine], (0, 3, 4), outputs=('y', 'pk', 'pv'), num_heads=4, kv_num_heads=2, do_rotary=1)

# Packed weights.
N, K = 48, 128
for bits, block in ((4, 32), (8, 32), (4, 64)):
    B = rng.integers(0, 1 << bits, (N, K // block, block)).astype(U8)
    packed = (B[..., 0::2] | B[..., 1::2] << 4).astype(U8) if bits == 4 else B
    s, zeros = scales(N, K // block), rng.integers(0, 1 << bits, (N, K // block)).astype(U8)
    zp = (zeros[:, 0::2] | zeros[:, 1::2] << 4).astype(U8) if bits == 4 else zeros
    for level in (0, 4):
        for zero in (None, zp):
            c = Case('MatMulNBits', [R(2, 3, K), packed,
                    s.reshape(-1)] + ([] if zero is None else [zero.reshape(-1)]), K=K, N=N,
                     bits=bits, block_size=block, accuracy_level=level)
            # ONNX Runtime's sums of level 4 are in float32, in an order of its own, of whole numbers times scales.
            c.most = 4e-7 if level else 2e-7
            left = c.operands[0].reshape(-1, K // block, block)
            step = (abs(left).max(-1, keepdims=True) / f32(127)).astype(f32)
            left = (np.rint(left / step) * step.astype(f64) if level else left.astype(f64)).reshape(2, 3, K)
            w = ((B.astype(f64) - (1 << bits - 1 if zero is None else zeros[..., None])) * s[..., None]).reshape(N, K)
            c.near = left @ w.T if level else None
table, at = codes(20, 32), np.array([[3, 0, 19], [7, 7, 1]])
Case('GatherBlockQuantized', [table, at, scales(20, 2)], (1,), bits=8, block_size=16, gather_axis=0, quantize_axis=1)
Case('GatherBlockQuantized', [table, at, scales(20, 4), codes(20, 2)], (1,), bits=4, block_size=16, gather_axis=0,
        quantize_axis=1)
small = helper.make_tensor('', onnx.TensorProto.INT4, [20, 32], list(map(int, rng.integers(-8, 8, 640))))
Case('GatherBlockQuantized', [small, at, scales(20, 2)], (1,), block_size=16, gather_axis=0, quantize_axis=1)

E_, D_, F_ = 4, 16, 24
for k_, normal, act in ((1, 0, 'relu'), (2, 0, 'silu'), (2, 1, 'gelu'), (4, 1, 'identity')):
    Case('MoE', [R(6, D_), R(6, E_), R(E_, F_, D_) * f32(0.3), R(E_, F_), R(E_, D_, F_) * f32(0.3), R(E_, D_)], (0,
            1), k=k_,
         activation_type=act, normalize_routing_weights=normal)

# Kernels of codes, with their formulas.
full = [np.ascontiguousarray(v) for v in np.meshgrid(np.arange(256).astype(U8), np.arange(256).astype(U8))]
worth = lambda q, s, z: (q.astype(f32) - f32(z)) * f32(s)


def draw(big=1.0):
    return f32(rng.choice([0.5, 0.25, rng.uniform(0.01, 0.1)]) * big), U8(rng.integers(256))


def qadd(a, b, sa, za, sb, zb, sc, zc):
    ra, rb = f32(sa / sc), f32(sb / sc)
    return clip(np.rint(fma(a, ra, fma(b, rb, f32(f32(zc) - fma(ra, f32(za), f32(rb * f32(zb))))))))


def qmul(a, b, sa, za, sb, zb, sc, zc):
    v = f32(f32(sa * sb) / sc)
    return clip(np.rint(((a.astype(f32) - f32(za)) * (b.astype(f32) - f32(zb)) * v).astype(f32) + f32(zc)))


for turn in range(6):
    a, b = full
    (sa, za), (sb, zb), (sc, zc) = draw(), draw(), draw(2)
    one = [a, sa, za, b, sb, zb, sc, zc]
    Case('QLinearAdd', one, (0, 3), lambda p=(a, b, sa, za, sb, zb, sc, zc): [qadd(*p)])
    Case('QLinearMul', one, (0, 3), lambda p=(a, b, sa, za, sb, zb, sc, zc): [qmul(*p)])
    line, d = np.arange(256).astype(U8).reshape(1, -1), worth(np.arange(256).reshape(1, -1), sa, za)
    Case('QLinearLeakyRelu', [line, sa, za, sc, zc], (0,), lambda d=d, s=sc, z=zc: [clip(np.rint(np.where(d < 0,
            d * f32(0.1), d) / s) + f32(z))],
         alpha=0.1)
    Case('QLinearSigmoid', [line, sa, za, f32(sc / 64), zc], (0,),
         lambda d=d, s=f32(sc / 64), z=zc: [clip(np.rint((1 / (1 + np.exp(-d.astype(f64)))).astype(f32) / s) + f32(z))])
    Case('QLinearConcat', [sc, zc, line, sa, za, line, sb, zb], (2, 5),
         lambda p=((sa, za), (sb, zb)), s=sc, z=zc: [np.concatenate([clip(np.rint(worth(np.arange(256).reshape(1,
                 -1), *w) / s) + f32(z))
                                                                     for w in p], 1)], axis=1)
    X = codes(2, 6, 7, 7)
    total = X.astype(np.int64).sum((2, 3), keepdims=True) - 49 * int(za)
    Case('QLinearGlobalAveragePool', [X, sa, za, sc, zc], (0,),
         lambda t=total, s=f32(sa / f32(sc * f32(49))), z=zc: [clip(np.rint(t.astype(f32) * s) + f32(z))],
         channels_last=0)
    D = worth(X, sa, za)
    mean = (((D[:, :, :-1, :-1] + D[:, :, :-1, 1:]) + D[:, :, 1:, :-1]) + D[:, :, 1:, 1:]) / f32(4)
    Case('QLinearAveragePool', [X, sa, za, sc, zc], (0,), lambda m=mean, s=sc,
            z=zc: [clip(np.rint(m / s + f32(z)))], channels_last=0,
         kernel_shape=[2, 2])
    L = codes(64, 32)
    e = np.exp(L.astype(f64) * f64(sa) - (L.astype(f64) * f64(sa)).max(-1, keepdims=True))
    sp = f32([1 / 256, 1 / 255, 0.0035, 0.009, 1 / 255, 1 / 256][turn])
    Case('QLinearSoftmax', [L, sa, za, sp, U8(0)], (0,), lambda e=e, s=sp: [clip(np.rint(e / e.sum(-1,
            keepdims=True) * np.floor(f32(1) / s)))],
         opset=13, axis=-1)
    A, Wq, C = codes(16, 24), weights(24, 20), rng.integers(-2000, 2000, 20).astype(I32)
    sw, sy, zy = scales(20), f32(rng.uniform(1, 9) / 10), U8(rng.integers(256))
    acc = (A.astype(np.int64) - int(za)) @ Wq.astype(np.int64)
    Case('QGemm', [A, sa, za, Wq, sw[0], I8(0), C, sy, zy], (0,),
         lambda t=acc + C, s=f32(f32(sa * sw[0]) / sy), z=zy: [clip(np.rint(t.astype(f32) * s) + f32(z))])
    Case('QGemm', [A, sa, za, Wq, sw[0], I8(0), C], (0,), lambda t=acc + C, s=f32(sa * sw[0]): [t.astype(f32) * s])
    Case('MatMulIntegerToFloat', [A, Wq, sa, sw, za, None, bias[:20]], (0,),
         lambda t=acc, s=(sa * sw).astype(f32), b=bias[:20]: [((t.astype(f32) * s).astype(f32) + b).astype(f32)])
Case('DynamicQuantizeMatMul', [R(3, 24), weights(24, 20), scales(20), None, bias[:20]], (0,))
Case('DynamicQuantizeMatMul', [R(2, 3, 24), weights(24, 20), f32(0.01), I8(3)], (0,))
Case('QLinearWhere', [np.arange(65536).reshape(256, 256) % 3 == 0, full[0], f32(0.1), U8(3), full[1], f32(0.07),
        U8(100), f32(0.13),
                      U8(90)], (0, 1, 4))


def judge(c):
    """What is wrong with the case's outputs: a list of lines."""
    m, feeds = c.files()
    axes = ['--batch-axis', 'i4=none'] if any(v.ndim == 5 for v in feeds.values()) else []
    got = subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'm.npz', '--policy', 'float32', '--exact',
            '0', '--outputs', 'o',
                          '--decision', 'none'] + axes, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if got.returncode:
        return ['%s: %s' % (c.op, got.stderr.strip())]
    mine, wrong = np.load('o/float32.npz'), []
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    theirs = ort.InferenceSession('m.onnx', o, providers=['CPUExecutionProvider']).run(None, feeds)
    formula = c.formula() if c.formula else []
    for i, (name, w) in enumerate(zip([n.name for n in m.graph.output], theirs)):
        y = np.asarray(mine[name], f64).reshape(w.shape)
        exact = w.dtype.kind in 'ui' or (formula and formula[i] is not None)
        far = np.linalg.norm(y - w) / max(np.linalg.norm(w.astype(f64)), 1e-300)
        if (exact and (y != w).any()) or not far <= c.most:
            wrong.append('%s %s %s: %d of %d differ, %.2g' % (c.op, c.attributes, name, (y != w).sum(), w.size, far))
        if c.near is not None and not np.linalg.norm(y - c.near) <= c.most * np.linalg.norm(c.near):
            wrong.append('%s %s is far from the formula' % (c.op, c.attributes))
        if i < len(formula) and formula[i] is not None and (y != formula[i]).any():
            wrong.append('%s %s: %d of %d differ from the formula' % (c.op, name, (y != formula[i]).sum(), w.size))
    return wrong


text = open(os.path.join(tap.TOP, 'lib/import/operators.def'), encoding='utf-8').read()
rows = re.findall(r'^MICROSOFT\((\w+),', text, re.M)
of = {}
for c in CASES:
    of.setdefault(c.op, []).append(c)
ELSEWHERE = {'DynamicQuantizeLSTM': 't-quantised-lstm.py'}
tap.none([r for r in rows if r not in of and r not in ELSEWHERE], 'each of %d operators has a case' % len(rows))
for op in sorted(of):
    tap.none([line for c in of[op] for line in judge(c)], '%s: %d cases are ONNX Runtime\'s' % (op, len(of[op])))


def refuses(c):
    """What is wrong with how the case is refused that has an attribute which no operator has."""
    c.files()
    m = onnx.load('m.onnx')
    m.graph.node[0].attribute.append(helper.make_attribute('drawn_alpha', 3))
    onnx.save(m, 'm.onnx')
    got = subprocess.run([tap.HALFULP, 'validate', 'm.onnx', '--data', 'm.npz', '--policy', 'float32', '--exact',
            '0', '--decision', 'none'], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    good = got.returncode == 4 and "attribute 'drawn_alpha'" in got.stderr
    return [] if good else ['%s: %d %s' % (c.op, got.returncode, got.stderr.strip())]


tap.none([line for op in sorted(of) for line in refuses(of[op][0])],
    'an attribute that no code knows is refused by name')
tap.finish()
