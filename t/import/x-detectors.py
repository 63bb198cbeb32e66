#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Detectors of torchvision with drawn weights, exported by torch: shapes follow from their values, and what validate
# gives of each image in float32 is what onnxruntime gives: the same labels in the same order, boxes and scores within
# 1e-5 of the largest, or within what onnxruntime's own move by where the image changes in its last place, or where it
# optimises the file. HALFULP names the program; ONLY, an environment variable, some of the networks.
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/import'))
import tap

try:
    from ort_tools import *

    import torch, torchvision
except ImportError as e:
    tap.skip_all('no %s' % e.name)
os.chdir(tap.home())
torch.manual_seed(4)
torch.set_num_threads(1)
rng = numpy.random.default_rng(4)
d = torchvision.models.detection
SMALL = dict(weights=None, weights_backbone=None, num_classes=5, min_size=64, max_size=96)
FOUND = dict(topk_candidates=40, detections_per_img=12)
REGIONS = dict(rpn_post_nms_top_n_test=20, rpn_pre_nms_top_n_test=50, box_detections_per_img=10)
NETS = {
    'fasterrcnn': lambda: d.fasterrcnn_mobilenet_v3_large_320_fpn(**SMALL, **REGIONS),
    'ssdlite': lambda: d.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5, **FOUND),
    'retinanet': lambda: d.retinanet_resnet50_fpn_v2(**SMALL, **FOUND),
    'fcos': lambda: d.fcos_resnet50_fpn(**SMALL, **FOUND),
    'maskrcnn': lambda: d.maskrcnn_resnet50_fpn(**SMALL, **REGIONS),
}
IMAGES = 4


class Lists(torch.nn.Module):
    def __init__(self, m):
        super().__init__()
        self.m = m

    def forward(self, x):
        r = self.m([x[0]])
        r = r[0] if isinstance(r, list) else r[1][0]
        return tuple(r[k] for k in ('boxes', 'labels', 'scores', 'masks') if k in r)


def drawn(m):
    """Weights that make scores of several sizes: those that torchvision draws make them all alike."""
    for x in m.modules():
        if isinstance(x, torch.nn.BatchNorm2d):
            x.running_mean.normal_(0, 0.2)
            x.running_var.uniform_(0.5, 2)
    for name, p in m.named_parameters():
        if p.ndim > 1:
            p.data.normal_(0, 1.4 / (p[0].numel() ** 0.5))
    return m.eval()


for name in (os.environ.get('ONLY') or ' '.join(NETS)).split():
    m = Lists(drawn(NETS[name]()))
    x = rng.random((IMAGES, 3, 64, 80)).astype(f32)
    outs = ['boxes', 'labels', 'scores', 'masks'][: 4 if name == 'maskrcnn' else 3]
    how = {'dynamo': False, 'opset_version': 17, 'input_names': ['x'], 'output_names': outs}
    with torch.no_grad():
        quiet(torch.onnx.export, m, (torch.tensor(x[:1]),), name + '.onnx', **how)
    numpy.savez('x.npz', x=x)
    p = subprocess.run([tap.HALFULP, 'validate', name + '.onnx', '--data', 'x.npz', '--policy', 'fp16', '--outputs',
        'o'], capture_output=True, text=True)
    if p.returncode:
        tap.ok(False, name, [p.stderr])
        continue
    z, wrong, lengths = numpy.load('o/float32.npz'), [], set()
    session = {}
    for level in 'ORT_DISABLE_ALL', 'ORT_ENABLE_ALL':
        o = onnxruntime.SessionOptions()
        o.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        session[level] = onnxruntime.InferenceSession(name + '.onnx', o, providers=['CPUExecutionProvider'])
    s = session['ORT_DISABLE_ALL']
    for i in range(IMAGES):
        one = x[i : i + 1]
        near = s.run(outs, {'x': one * f32(1 + 2**-23)}), session['ORT_ENABLE_ALL'].run(outs, {'x': one})
        for k, want, *others in zip(outs, s.run(outs, {'x': one}), *near):
            moved = max([numpy.abs(v - want).max(initial=0) for v in others if v.shape == want.shape], default=0)
            got = z[k][z[k + '.input'] == i]
            lengths.add(len(want))
            far = numpy.abs(got - want).max(initial=0) if got.shape == want.shape else numpy.inf
            if not far <= (0 if k == 'labels' else max(1e-5 * numpy.abs(want).max(initial=0), moved)):
                wrong.append('image %d: %s of shape %s for %s, %g off' % (i, k, got.shape, want.shape, far))
    tap.none(wrong, '%s in float32, lists of %s boxes' % (name, sorted(lengths)))
tap.finish()
