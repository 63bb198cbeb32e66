#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Block formats by who computes so, against the programs of their makers, as far as this Python finds them: torchao
# (to_mx, nvfp4_quantize, maps of its optimizers), ModelOpt (MXFP4QTensor, MXFP8QTensor, NVFP4QTensor), Transformer
# Engine's reference of NVFP4, DeepGEMM's utils/math.py, fouroversix's reference and microxcaling (OCP). Each takes 2^18
# numbers of every kind below; what it decodes to must be what `halfulp op block_cast` decodes to, infinities where fp32
# ends and signs of zeros among it. References of two makers and microxcaling, which simulates, give +0 for -0 (and
# microxcaling's integers of MXINT8 have a -0): of those zeros are compared without their signs. AMD Quark's kernel is
# run by Triton's interpreter.
import importlib
import importlib.util
import os
import sys
import types
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok, skip, skip_all  # noqa: E402

os.environ['TRITON_INTERPRET'] = '1'  # before anyone imports Triton
try:
    import numpy as np
    import torch
except ImportError:
    skip_all('numpy and PyTorch, which makers\' programs are written for, are absent')

warnings.filterwarnings('ignore')
torch.set_num_threads(1)
where, COUNT, COLUMNS = home(), 1 << 18, 1024
FINITE = ['normal', 'bf16', 'wide', 'spread', 'ties', 'tiny', 'huge', 'zero']


def drawn(kind, block):
    """COUNT numbers of a kind; those of a block are scaled alike by some kinds."""
    g = np.random.default_rng(3)
    x = g.standard_normal(COUNT)

    def scaled(low, high):
        return 2.0 ** g.integers(low, high, COUNT // block).repeat(block)

    if kind == 'bf16':
        x = torch.from_numpy(x.astype('f4')).to(torch.bfloat16).float().numpy()
    elif kind == 'wide':
        x *= scaled(-40, 40)
    elif kind == 'spread':
        x *= 2.0 ** g.integers(-12, 12, COUNT)
    elif kind == 'ties':
        x = g.integers(-448, 449, COUNT) / 2.0 ** g.integers(0, 8, COUNT) * scaled(-20, 20)
    elif kind == 'tiny':
        x *= scaled(-149, -110)
    elif kind == 'huge':
        x = np.clip(x * scaled(110, 128), -3.4e38, 3.4e38)
    elif kind == 'zero':
        x *= (g.random(COUNT // block) < 0.5).repeat(block)
    elif kind in ('inf', 'nan'):
        x[g.random(COUNT) < 1 / 64] = float(kind)
    return np.ascontiguousarray(x.astype('f4').reshape(-1, COLUMNS))


def ours(x, name):
    """x in a block format; map:NAME:SIZE is a map of codes."""
    np.save(os.path.join(where, 'x.npy'), x)
    kind, _, rest = name.partition(':')
    words = ['--set', 'blocks=' + name]
    if kind == 'map':
        words = ['--set', 'map=' + rest.split(':')[0], '--set', 'size=' + rest.split(':')[1]]
    ran = halfulp('op', 'map_cast' if kind == 'map' else 'block_cast', '--in', 'a=x.npy', *words, '--out', 'y.npy',
                  cwd=where)  # fmt: skip
    if ran.returncode:
        ok(False, name, ran.stderr)
        finish()
    return np.load(os.path.join(where, 'y.npy'))


def held(maker, name, block, theirs, kinds, signed=True, zeros=True, short=False):
    """short: the program takes bfloat16 alone."""
    for kind in kinds:
        x = drawn(kind, block) if signed else np.abs(drawn(kind, block))
        x = torch.from_numpy(x).bfloat16().float().numpy() if short else x
        y, z = ours(x, name), theirs(torch.from_numpy(x.copy())).float().numpy()
        apart = (y != z) | (zeros & (np.signbit(y) != np.signbit(z)))
        apart &= ~(np.isnan(y) & np.isnan(z))
        first = int(np.argmax(apart))
        ok(not apart.any(), '%s, %s: %d of %d elements differ from %s' % (name, kind, apart.sum(), COUNT, maker),
           'of %r halfulp makes %r, it %r' % (x.flat[first], y.flat[first], z.flat[first]))  # fmt: skip


def found(name, of):
    """A maker's module, where this Python can import it."""
    try:
        return importlib.import_module(name)
    except Exception as e:  # noqa: BLE001 (a package may fail in many ways without its GPU)
        skip(of, 'it cannot be imported here: ' + str(e).split('\n')[0][:80])
        return None


def folder(package):
    spec = importlib.util.find_spec(package)
    return list(spec.submodule_search_locations)[0] if spec and spec.submodule_search_locations else None


def one_file(package, path, **stubs):
    """A file of a package whose other modules need a GPU; stubs are modules in their place."""
    at = folder(package)
    if not at or not os.path.exists(os.path.join(at, path)):
        skip(package, 'it is not installed here')
        return None
    for name, members in stubs.items():
        m = types.ModuleType(name.replace('__', '.'))
        m.__path__ = [os.path.join(at, *name.split('__')[1:])]
        m.__dict__.update(members)
        sys.modules[m.__name__] = m
        if '.' in m.__name__:
            setattr(sys.modules[m.__name__.rpartition('.')[0]], m.__name__.rpartition('.')[2], m)
    name = package + '.' + path[:-3].replace('/', '.')
    spec = importlib.util.spec_from_file_location(name, os.path.join(at, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def decoded(elements, scales, block, whole=1.0):
    """Elements times their block's scale and the array's, rounded once to float."""
    v = elements.double().reshape(-1, block) * scales.double().reshape(-1, 1) * float(whole)
    return v.float().reshape(-1, COLUMNS)


def torchao():
    mx, mode = found('torchao.prototype.mx_formats.mx_tensor', 'torchao'), None
    if not mx:
        return
    mode = importlib.import_module('torchao.prototype.mx_formats.config').ScaleCalculationMode
    nv = importlib.import_module('torchao.prototype.mx_formats.nvfp4_tensor')
    kernels = importlib.import_module('torchao.prototype.mx_formats.kernels')
    # torchao 0.18 halves blocks whose scale is 2^-127, or makes them 0, and scales a block with an infinity by 2^119.
    later = hasattr(mx, '_f32_to_e8m0_rceil')
    kinds = [k for k in FINITE if later or k not in ('tiny', 'huge')] + (['inf', 'nan'] if later else ['nan'])
    elements = [('mxfp8', torch.float8_e4m3fn), ('mxfp8e5m2', torch.float8_e5m2), ('mxfp4', torch.float4_e2m1fn_x2),
                ('mxfp6e2m3', mx.DTYPE_FP6_E2M3), ('mxfp6e3m2', mx.DTYPE_FP6_E3M2)]  # fmt: skip
    for name, kind in elements:
        for word, how in (('', mode.FLOOR), (':rceil', mode.RCEIL), (':even', mode.EVEN), (':ceil', mode.CEIL)):
            def cast(x):
                scale, data = mx.to_mx(x, kind, 32, scaling_mode=how)
                return mx.to_dtype(data, scale, kind, 32, torch.float32)
            held('torchao', name + ':torchao' + word, 32, cast, kinds)

    def cast_nv(x):
        whole = nv.per_tensor_amax_to_scale(x.abs().max())
        scale, data = nv.nvfp4_quantize(x, 16, whole)
        return decoded(kernels.f4_unpacked_to_f32(kernels.unpack_uint4(data)), scale.float(), 16, whole)
    held('torchao', 'nvfp4:torchao', 16, cast_nv, FINITE + ['inf', 'nan'])

    # The moments of its optimizers of 8 and 4 bits.
    maps = found('torchao.optim.quant_utils', 'torchao\'s optimizers')
    for name, signed, bits, size in (('dynamic8', True, 8, 256), ('dynamic8u', False, 8, 256),
                                     ('dynamic4', True, 4, 128)):  # fmt: skip
        def cast_map(x):
            codes = torch.tensor(maps.create_dynamic_map(signed, bits - 1, bits))
            part, scale = maps.scale_tensor(x.reshape(-1), size)
            code = (maps.quantize_8bit_with_qmap if bits == 8 else maps.quantize_4bit_with_qmap)(part, codes)
            return (codes[code.long()].reshape(-1, size) * scale.reshape(-1, 1)).reshape(x.shape)
        held('torchao', 'map:%s:%d' % (name, size), size, cast_map, FINITE + ['nan'], signed)


def modelopt():
    mx4 = found('modelopt.torch.quantization.qtensor.mxfp4_tensor', 'ModelOpt')
    if not mx4:
        return
    mx8 = importlib.import_module('modelopt.torch.quantization.qtensor.mxfp8_tensor')
    nv = importlib.import_module('modelopt.torch.quantization.qtensor.nvfp4_tensor')
    for name, quantize in (('mxfp4', lambda x: mx4.MXFP4QTensor.quantize(x, 32)), ('mxfp8', mx8.MXFP8QTensor.quantize)):
        def cast(x):
            data, scale = quantize(x)
            return data.dequantize(torch.float32, scale=scale, block_sizes={-1: 32})
        held('ModelOpt', name + ':modelopt', 32, cast, FINITE)

    def cast_nv(x):
        data, scale, whole = nv.NVFP4QTensor.quantize(x, 16)
        one = torch.ones_like(scale.float())
        q = data.dequantize(torch.float32, scale=one, double_scale=torch.ones(()), block_sizes={-1: 16})
        return decoded(q, scale.float(), 16, whole)
    held('ModelOpt', 'nvfp4:modelopt', 16, cast_nv, FINITE)


def transformer_engine():
    class Gemm:
        FPROP = DGRAD = WGRAD = 0

    class Quantizer:
        pass

    own, held_as = 'transformer_engine__pytorch', {'QuantizedTensorStorage': object, 'Quantizer': Quantizer}
    utils = one_file('transformer_engine', 'pytorch/custom_recipes/reference_utils.py')
    if not utils:
        return
    te = one_file('transformer_engine', 'pytorch/custom_recipes/reference_nvfp4.py', transformer_engine={},
                  **{own: {}, own + '__custom_recipes': {'reference_utils': utils},
                     own + '__custom_recipes__gemm': {'GEMMType': Gemm, 'MMParams': object},
                     own + '__quantized_tensor': held_as})  # fmt: skip

    def cast(x, most=448, **more):
        whole = x.abs().max()
        q, scale = te.NVFP4QuantizerRef._quantize_blockwise_reference(
            x, whole, 16, 1, pow_2_scales=False, eps=0.0, **more)  # fmt: skip
        tensor = np.float32(whole / np.float32(6 * most))
        return decoded(te.cast_from_fp4x2(q, torch.float32), scale.float(), 16, tensor)
    held('Transformer Engine', 'nvfp4:te', 16, cast, FINITE + ['nan'], zeros=False)
    for mode in ('MAE', 'MSE'):
        def four(x):
            return cast(x, 256, nvfp4_use_4over6=True, nvfp4_e4m3_max=256, nvfp4_4over6_err_mode=mode)
        held('Transformer Engine', 'nvfp4:te:46=' + mode.lower(), 16, four, FINITE, zeros=False)


def deepgemm():
    dg = one_file('deep_gemm', 'utils/math.py')
    if not dg:
        return

    def cast8(x, powers, block):
        q, scale = dg.per_token_cast_to_fp8(x, powers, block)
        return decoded(q.float(), scale, block)

    def cast4(x):
        packed, scale = dg.per_token_cast_to_fp4(x, True, 32)
        return dg.cast_back_from_fp4(packed, scale, 32)
    held('DeepGEMM', 'fp8block:deepgemm', 128, lambda x: cast8(x, False, 128), FINITE + ['inf', 'nan'])
    held('DeepGEMM', 'mxfp8:deepgemm', 32, lambda x: cast8(x, True, 32), FINITE + ['inf', 'nan'])
    held('DeepGEMM', 'mxfp4:deepgemm', 32, cast4, FINITE + ['inf'])


def fouroversix():
    ref = one_file('fouroversix', 'quantize/pytorch/reference.py', fouroversix={}, fouroversix__kernels={},
                   fouroversix__quantize={}, fouroversix__quantize__pytorch={})  # fmt: skip
    if not ref:
        return

    def cast(x, rule, most):
        whole, blocks = x.abs().max(), x.reshape(-1, 16)
        if rule == 'static_6':
            q, scale = ref.generic_block_scaled_quantization(
                blocks, whole, fp4_format=ref.DataType.nvfp4, scale_rule=ref.ScaleRule(rule),
                round_style=ref.RoundStyle.nearest)  # fmt: skip
        else:
            q, scale = ref.nvfp4_fouroversix_block_scaled_quantization(
                blocks, whole, scale_rule=ref.ScaleRule(rule), round_style=ref.RoundStyle.nearest)  # fmt: skip
        # Its elements are not saturated before they are packed: under a scale of few bits 8 would become -0.
        return decoded(q.clamp(-6, 6), scale.float(), 16, np.float32(whole / np.float32(6 * most)))
    kinds = [k for k in FINITE if k not in ('tiny', 'huge')]
    held('fouroversix', 'nvfp4:quotient', 16, lambda x: cast(x, 'static_6', 448), kinds, zeros=False)
    # Nor are they before their errors are compared, so that blocks with such scales differ, as in 'wide' and 'ties';
    # PyTorch adds absolute errors in an order of its own, which decides some of 16384 blocks of 'spread'.
    for rule, word in (('mse', 'mse'), ('mae', 'mae'), ('abs_max', 'max')):
        kinds = ['normal', 'bf16', 'zero'] + ['spread'] * (rule != 'mae')
        held('fouroversix', 'nvfp4:fouroversix:46=' + word, 16, lambda x: cast(x, rule, 256), kinds, zeros=False)


def microxcaling():
    mx = found('mx.mx_ops', 'microxcaling')
    if not mx:
        return
    for name, element in (('mxfp8', 'fp8_e4m3'), ('mxfp8e5m2', 'fp8_e5m2'), ('mxfp6e2m3', 'fp6_e2m3'),
                          ('mxfp6e3m2', 'fp6_e3m2'), ('mxfp4', 'fp4_e2m1'), ('mxint8', 'int8')):  # fmt: skip
        held('microxcaling', name, 32, lambda x: mx._quantize_mx(
            x, 8, elem_format=element, block_size=32, axes=[-1], round='even', shared_exp_method='max'),
            FINITE + ['inf', 'nan'], zeros=False)  # fmt: skip


def quark():
    # Its pointers are the CPU's. NaN is not compared: the kernel passes it over and stores 6 times the scale, its other
    # program makes the block NaN, as halfulp does. Nor are tiny numbers, which the interpreter reads otherwise.
    if not found('triton', 'AMD Quark'):
        return
    kernel = one_file('quark', 'torch/kernel/mx/triton.py')
    if not kernel:
        return
    way = kernel.DequantScaleRoundingMode
    e2m1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])

    def cast(x, mode):
        packed, scale, _ = kernel.downcast_to_mxfp(
            x.bfloat16(), torch.uint8, axis=-1, DEQUANT_SCALE_ROUNDING_MODE=mode)  # fmt: skip
        pairs = torch.stack((e2m1[(packed & 15).long()], e2m1[(packed >> 4).long()]), -1)
        return decoded(pairs, 2.0 ** (scale.double() - 127), 32)
    # Its two other rules have their own ways with infinities, which huge numbers are in bfloat16.
    for word, mode, kinds in (('', way.EVEN, ['huge', 'inf']), (':rceil', way.ROUND_UP, []),
                              (':ratio', way.ROUND_DOWN, [])):  # fmt: skip
        held('AMD Quark', 'mxfp4:quark' + word, 32, lambda x: cast(x, mode),
             ['bf16', 'wide', 'spread', 'ties', 'zero', *kinds], short=True)  # fmt: skip


for maker in (torchao, modelopt, transformer_engine, deepgemm, fouroversix, microxcaling, quark):
    maker()
finish()
