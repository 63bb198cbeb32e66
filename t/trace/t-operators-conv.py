# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pooling and interpolation as the recorder has them (operators.py says how they are judged)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, judge, normal, torch  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional
x1, x2, x3 = normal(2, 4, 11), normal(2, 4, 7, 6), normal(2, 4, 4, 5, 3)
ROWS = [
    Row('conv1d', lambda x, w, b: F.conv1d(x, w, b, 2, 1), x1, normal(6, 4, 3), normal(6)),
    Row('conv1d_plain', lambda x, w: F.conv1d(x, w, None, 1, 2, 2), x1, normal(6, 4, 3)),
    Row('conv1d_depthwise', lambda x, w, b: F.conv1d(x, w, b, padding=3, groups=4), x1, normal(4, 1, 4), normal(4)),
    Row('conv2d', lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0)), x2, normal(6, 4, 3, 2), normal(6)),
    Row('conv2d_groups', lambda x, w, b: F.conv2d(x, w, b, 1, 1, 1, 2), x2, normal(6, 2, 3, 3), normal(6)),
    Row('conv2d_depthwise', lambda x, w, b: F.conv2d(x, w, b, 2, 1, 1, 4), x2, normal(8, 1, 3, 3), normal(8)),
    Row('conv3d', lambda x, w, b: F.conv3d(x, w, b, (1, 2, 1), 1), x3, normal(6, 4, 3, 2, 3), normal(6)),
    Row('conv3d_groups', lambda x, w: F.conv3d(x, w, None, 1, 1, (1, 2, 1), 2), x3, normal(6, 2, 2, 2, 2)),
    Row('turned1d', lambda x, w, b: F.conv_transpose1d(x, w, b, 2, 1, 1), x1, normal(4, 6, 4), normal(6)),
    Row('turned1d_plain', lambda x, w: F.conv_transpose1d(x, w, None, 2, 1, 1), x1, normal(4, 6, 4)),
    Row('turned2d', lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, (1, 0)), x2, normal(4, 5, 3, 4), normal(5)),
    Row('turned2d_groups', lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 0, 2), x2, normal(4, 3, 3, 3), normal(6)),
    Row('turned2d_plain', lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1, 2, 1), x2, normal(4, 3, 3, 3)),
    Row('turned3d', lambda x, w, b: F.conv_transpose3d(x, w, b, (2, 1, 2), 1), x3, normal(4, 3, 3, 2, 3), normal(3)),
    Row('avg_pool1d', lambda x: F.avg_pool1d(x, 3, 1, 1) * 2, x1),
    Row('avg_pool2d_one', lambda x: F.avg_pool2d(x, 2) * 2, normal(4, 6, 6)),
    Row('max_unpool', lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2) * 2, normal(2, 3, 4, 4)),
    Row('avg_pool3d', lambda x: F.avg_pool3d(x, 2, 1) * 2, x3, formats=('fp32',)),
    Row('avg_pool3d_padding', lambda x: (F.avg_pool3d(x, 3, 2, 1) * 2,
        F.avg_pool3d(x, 3, 1, 1, count_include_pad=False) * 2), x3, formats=('fp32',)),
    Row('adaptive_avg', lambda x: F.adaptive_avg_pool2d(x, (3, 4)) * 2, x2),
    Row('adaptive_avg_even', lambda x: F.adaptive_avg_pool2d(x, (7, 3)) * 2, x2),
    Row('adaptive_avg_more', lambda x: F.adaptive_avg_pool2d(x, (9, 4)) * 2, x2),
    Row('adaptive_avg1d', lambda x: F.adaptive_avg_pool1d(x, 4) * 2, x1),
    Row('adaptive_avg3d', lambda x: F.adaptive_avg_pool3d(x, (3, 2, 2)) * 2, x3),
    Row('max_pool1d', lambda x: F.max_pool1d(x, 3, 1, 1) * 2, x1),
    Row('max_pool2d', lambda x: F.max_pool2d(x, 3, 1, 1) * 2, x2),
    Row('max_pool2d_one', lambda x: F.max_pool2d(x, 3, 1, 1) * 2, normal(4, 7, 6)),
    Row('max_pool3d', lambda x: F.max_pool3d(x, 3, 1, 1) * 2, x3),
    Row('adaptive_max', lambda x: (F.adaptive_max_pool2d(x, (5, 4)) * 2, F.adaptive_max_pool1d(x[0], 4) * 2), x2),
    Row('adaptive_max3d', lambda x: F.adaptive_max_pool3d(x, (3, 2, 2)) * 2, x3),
    Row('linear', lambda x: F.interpolate(x, size=23, mode='linear') * 2, x1, compared=False),
    Row('bilinear', lambda x: F.interpolate(x, scale_factor=2, mode='bilinear') * 2, x2),
    Row('bilinear_corners', lambda x: F.interpolate(x, size=(4, 9), mode='bilinear', align_corners=True) * 2, x2),
    Row('bilinear_factor', lambda x: F.interpolate(x, scale_factor=1.7, mode='bilinear') * 2, x2, compared=False),
    Row('bicubic', lambda x: F.interpolate(x, size=(13, 11), mode='bicubic') * 2, x2, compared=False),
    Row('trilinear', lambda x: F.interpolate(x, scale_factor=2, mode='trilinear') * 2, x3),
    Row('antialias', lambda x: F.interpolate(x, size=(3, 4), mode='bilinear', antialias=True) * 2, x2,
        formats=('fp32',), compared=False),
]
judge('conv', ROWS)
finish()
