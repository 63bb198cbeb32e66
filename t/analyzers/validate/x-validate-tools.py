#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Networks of torchvision, timm and transformers, exported by torch and converted by the tools of onnxruntime and
# onnxconverter-common: of each converted file --against gives ONNX Runtime's decisions, and a relative L2 error within
# 5 % of ONNX Runtime's. Weights are drawn, batch norms have statistics of their own.
import contextlib, io, json, logging, os, sys, warnings

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

warnings.filterwarnings('ignore')
logging.disable(logging.WARNING)
try:
    import numpy as np, onnx, onnxruntime as ort, timm, torch, torchvision, transformers
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
                                          quantize_static)
    from onnxruntime.transformers import float16 as ort16
except ImportError as why:
    tap.skip_all(str(why))
os.chdir(tap.home())
ort.set_default_logger_severity(4)
torch.manual_seed(36)
rng = np.random.default_rng(36)
N, BATCH = 64, 8


class Logits(torch.nn.Module):
    """A model of transformers by its inputs' order."""
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask).logits


def statistics(m):
    for x in m.modules():
        if isinstance(x, torch.nn.BatchNorm2d):
            x.running_mean.normal_(0, 0.2)
            x.running_var.uniform_(0.5, 2)
    return m


def networks():
    image = lambda side: {'x': rng.standard_normal((N, 3, side, side)).astype(np.float32)}
    yield 'resnet18', statistics(torchvision.models.resnet18(num_classes=40)), image(48)
    yield 'mobilenet', statistics(torchvision.models.mobilenet_v3_small(num_classes=30)), image(48)
    yield 'vit', timm.create_model('vit_tiny_patch16_224', img_size=32, patch_size=8, depth=3,
            num_classes=20), image(32)
    config = transformers.BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=128, max_position_embeddings=64, num_labels=7,
                                     attn_implementation='eager')
    lengths = rng.integers(6, 13, (N, 1))
    yield 'bert', Logits(transformers.BertForSequenceClassification(config)), {
        'ids': rng.integers(0, 500, (N, 12)), 'mask': (np.arange(12)[None] < lengths).astype(np.int64)}


def slices(data, first):
    return {k: v[first : first + BATCH] for k, v in data.items()}


class Reader(CalibrationDataReader):
    def __init__(self, data):
        self.left = [slices(data, i) for i in range(0, N, BATCH)]

    def get_next(self):
        return self.left.pop() if self.left else None


def occ(p, q, data):
    from onnxconverter_common import float16
    onnx.save(float16.convert_float_to_float16(onnx.load(p)), q)


TOOLS = {
    'static': lambda p, q, d: quantize_static(p, q, Reader(d)),
    'static-u8': lambda p, q, d: quantize_static(p, q, Reader(d), activation_type=QuantType.QUInt8, per_channel=True),
    'operators': lambda p, q, d: quantize_static(p, q, Reader(d), activation_type=QuantType.QUInt8,
                                                 quant_format=QuantFormat.QOperator),
    'dynamic': lambda p, q, d: quantize_dynamic(p, q),
    'occ': occ, 'ort16': lambda p, q, d: onnx.save(ort16.convert_float_to_float16(onnx.load(p)), q),
}


def run(path, data):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    s = ort.InferenceSession(path, o, providers=['CPUExecutionProvider'])
    half = {i.name for i in s.get_inputs() if i.type == 'tensor(float16)'}
    parts = []
    for i in range(0, N, BATCH):
        parts.append(s.run(None, {k: v.astype(np.float16) if k in half else v for k, v in slices(data,
                i).items()})[0])
    return np.concatenate(parts).astype(np.float64)


decisions = agreed = 0
for name, model, data in networks():
    p = name + '.onnx'
    model.eval()
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(model, tuple(torch.tensor(v[:2]) for v in data.values()), p, input_names=list(data),
                          output_names=['y'], dynamic_axes={k: {0: 'n'}
                                  for k in data}, opset_version=17, dynamo=False)
    np.savez(name + '.npz', **data)
    base = run(p, data)
    for tool, write in TOOLS.items():
        q = '%s.%s.onnx' % (name, tool)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                write(p, q, data)
            theirs = run(q, data)
        except Exception as why:
            tap.skip('%s, %s' % (name, tool), 'the tool or ONNX Runtime refuses it: ' + str(why).split('\n')[0][:100])
            continue
        words = ['--runtime', 'ort-cpu'] if tool in ('occ', 'ort16') else []
        got = tap.halfulp('validate', p, '--data', name + '.npz', '--policy', 'float32', '--exact', '0',
                '--against', q,
                          '--outputs', 'o-' + q, '--batch', str(BATCH), '--json', *words)
        if not tap.ok(got.returncode == 0, '%s, %s runs' % (name, tool), got.stderr):
            continue
        ours = np.load('o-%s/%s.npz' % (q, q))['y'].astype(np.float64)
        far = lambda y: np.linalg.norm(y - base) / np.linalg.norm(base)
        same = int((ours.argmax(1) == theirs.argmax(1)).sum())
        decisions += N
        agreed += same
        pairs = [v['pair'] for v in json.loads(got.stdout)['against'][0]['values']]
        tap.ok(abs(far(ours) / far(theirs) - 1) <= 0.05 and same >= 0.95 * N,
               '%s, %s: %d of %d decisions, %.4g off where ONNX Runtime is %.4g; %d of %d values paired' %
               (name, tool, same, N, far(ours), far(theirs), pairs.count('same'), len(pairs)))
tap.ok(agreed >= 0.99 * decisions > 0, '%d of all %d decisions are ONNX Runtime\'s' % (agreed, decisions))
tap.finish()
