#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Thirty networks of torchvision, timm, transformers and diffusers, exported by torch's two exporters: what validate
# predicts of each tool's file from the float32 file alone, and by --against of the file itself, beside onnxruntime
# with the tool's own file: 99 % of its decisions, and a relative L2 error within 5 % of onnxruntime's. Prints a table.
# Weights are drawn, and norms have statistics of their own. HALFULP names the program; ONLY, an environment variable,
# some of the networks.
import importlib.util, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap
from ort_tools import *

try:
    import diffusers, timm, torch, torchvision, transformers
    from onnxconverter_common import float16
    import strangers, strangers_further
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
torch.manual_seed(40)
rng = numpy.random.default_rng(40)
INPUTS, BATCH = 32, 8
torch.set_num_threads(1)


class Result(torch.nn.Module):
    """A model whose result is one tensor, by the order of its inputs."""

    def __init__(self, model, names, pick):
        super().__init__()
        self.model, self.names, self.pick = model, names, pick

    def forward(self, *x):
        return self.pick(self.model(**dict(zip(self.names, x))))


def image(side, channels=3):
    return {'x': rng.standard_normal((INPUTS, channels, side, side)).astype(f32)}


def words(length, vocabulary):
    held = numpy.arange(length)[None] < rng.integers(length // 2, length + 1, (INPUTS, 1))
    return {
        'input_ids': rng.integers(0, vocabulary, (INPUTS, length)),
        'attention_mask': held.astype(numpy.int64),
    }


def timm_net(name, **sizes):
    return timm.create_model(name, num_classes=12, **sizes)


def text(config, kind, **sizes):
    t = transformers
    c = getattr(t, config)(attn_implementation='eager', **sizes)
    return Result(getattr(t, kind)(c), ['input_ids', 'attention_mask'], lambda y: y.logits)


def unet():
    m = diffusers.UNet2DModel(
        sample_size=16,
        in_channels=3,
        out_channels=3,
        block_out_channels=(16, 32),
        layers_per_block=1,
        norm_num_groups=8,
        down_block_types=('DownBlock2D', 'AttnDownBlock2D'),
        up_block_types=('AttnUpBlock2D', 'UpBlock2D'),
    )
    return Result(m, ['sample', 'timestep'], lambda y: y.sample)


# Name: the network, its inputs, torch's newer exporter (where onnxscript is) or the older one, the axis of decisions;
# None: there are none.
NETS = {
    'squeezenet': lambda: (torchvision.models.squeezenet1_1(num_classes=12), image(64), 0, 1),
    'regnet': lambda: (timm_net('regnetx_002'), image(48), 1, 1),
    'convnext': lambda: (timm_net('convnext_atto'), image(64), 0, 1),
    'ghostnet': lambda: (timm_net('ghostnet_050'), image(64), 0, 1),
    'mixer': lambda: (timm_net('mixer_s32_224', img_size=64, num_blocks=3), image(64), 1, 1),
    'levit': lambda: (timm_net('levit_128s', img_size=64), image(64), 0, 1),
    'distilbert': lambda: (
        text(
            'DistilBertConfig',
            'DistilBertForSequenceClassification',
            vocab_size=300,
            dim=64,
            hidden_dim=128,
            n_layers=3,
            n_heads=4,
            max_position_embeddings=32,
            num_labels=6,
        ),
        words(16, 300),
        0,
        1,
    ),
    'electra': lambda: (
        text(
            'ElectraConfig',
            'ElectraForTokenClassification',
            vocab_size=300,
            embedding_size=32,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            num_labels=5,
        ),
        words(16, 300),
        0,
        2,
    ),
    'gpt-neox': lambda: (
        text(
            'GPTNeoXConfig',
            'GPTNeoXForSequenceClassification',
            vocab_size=300,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            num_labels=5,
            pad_token_id=0,
        ),
        words(16, 300),
        0,
        1,
    ),
    'unet': lambda: (unet(), image(16), 0, None),
} | strangers.NETS | strangers_further.NETS


def converted(p, q, **options):
    onnx.save(float16.convert_float_to_float16(onnx.load(p), **options), q)


def static(p, q, f, **options):
    quantize_static(p, q, Reader(f), **options)


U8 = {'activation_type': QuantType.QUInt8}
OPERATOR = {'quant_format': QuantFormat.QOperator}
# Scheme: the tool, and the optimisation level that onnxruntime runs its file at.
TOOLS = {
    'occ-fp16:ort-cpu-disable_all': (lambda p, q, f: converted(p, q), 'ORT_DISABLE_ALL'),
    'occ-fp16:ort-cpu': (lambda p, q, f: converted(p, q), 'ORT_ENABLE_ALL'),
    'ort-static': (lambda p, q, f: static(p, q, f), 'ORT_DISABLE_ALL'),
    'ort-static:ort-cpu': (lambda p, q, f: static(p, q, f), 'ORT_ENABLE_ALL'),
    'ort-static:ort-cpu:activation_type=uint8': (lambda p, q, f: static(p, q, f, **U8), 'ORT_ENABLE_ALL'),
    'ort-static:qoperator:activation_type=uint8': (
        lambda p, q, f: static(p, q, f, **(U8 | OPERATOR)),
        'ORT_ENABLE_ALL',
    ),
    'ort-dynamic': (lambda p, q, f: quantize_dynamic(p, q), 'ORT_ENABLE_ALL'),
}


def statistics(m):
    for x in m.modules():
        if isinstance(x, torch.nn.BatchNorm2d):
            x.running_mean.normal_(0, 0.2)
            x.running_var.uniform_(0.5, 2)
    return m.eval()


def export(model, data, newer, path):
    names = list(data)
    some = tuple(torch.tensor(v[:2]) for v in data.values())
    if newer and importlib.util.find_spec('onnxscript'):
        free = tuple({0: torch.export.Dim.DYNAMIC} for k in names)
        how = {'dynamo': True, 'dynamic_shapes': free, 'opset_version': 18}
        torch.onnx.export(model, some, input_names=names, output_names=['y'], **how).save(path)
    else:
        how = {'dynamo': False, 'dynamic_axes': {k: {0: 'n'} for k in names + ['y']}, 'opset_version': 17}
        torch.onnx.export(model, some, path, input_names=names, output_names=['y'], **how)


def held(got, ort, float32, axis):
    """Decisions that agree, and both distances to float32."""
    g, y, x = (v['y'] for v in (got, ort, float32))
    g = g.reshape(y.shape)
    same = 1 if axis is None else (g.argmax(axis) == y.argmax(axis)).mean()
    return same, rel(g, x), rel(y, x)


rows = []
for name in (os.environ.get('ONLY') or ' '.join(NETS)).split():
    net, data, newer, axis = NETS[name]()
    if name == 'unet':
        data = {'sample': data['x'], 'timestep': rng.integers(0, 1000, INPUTS)}
    p = name + '.onnx'
    with torch.no_grad():
        quiet(export, statistics(net), data, newer, p)
    feeds = batches(data, BATCH)
    float32 = run(p, feeds)
    for tool, (write, level) in TOOLS.items():
        q, what = 'tool.onnx', '%s: %s' % (name, tool)
        half = 'fp16' in tool
        cast = lambda v: v.astype(numpy.float16) if half and v.dtype == f32 else v
        try:
            quiet(write, p, q, feeds)
            ort = run(q, [{k: cast(v) for k, v in f.items()} for f in feeds], level)
        except Exception as e:
            got, said = predict(tool, data, BATCH, p)
            rows.append((name, tool, 'refused: ' + str(e).split('\n')[0][:80]))
            tap.ok(got is None, what + ': it fails, and validate refuses', [str(e)[:200], said])
            continue
        ways = {'scheme': (tool,)}
        runtime = ['--runtime', 'ort-cpu:' + level[4:].lower().removeprefix('enable_')]
        ways['file'] = ('float32', '--against', q, *runtime)
        for way, (scheme, *more) in ways.items():
            got, said = predict(scheme, data, BATCH, p, *more)
            if got is None:
                rows.append((name, tool, way, said.strip()[-100:]))
                tap.ok(False, '%s by %s' % (what, way), said)
                continue
            same, ours, theirs = held(got, ort, float32, axis)
            rows.append((name, tool, way, '%.4f' % same, '%.4g' % ours, '%.4g' % theirs))
            right = same >= 0.99 and abs(ours - theirs) <= 0.05 * theirs + 1e-6
            says = '%.4f of the decisions, %.4g off where onnxruntime is %.4g' % (same, ours, theirs)
            tap.ok(right, '%s by %s: %s' % (what, way, says))
for row in rows:
    print('# | %s |' % ' | '.join(row))
tap.finish()
