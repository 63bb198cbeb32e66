# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/analysis.md
EXTRA_DIST += doc/architecture.md
EXTRA_DIST += doc/cluster.md
EXTRA_DIST += doc/defaults.md
EXTRA_DIST += doc/demo.sh
EXTRA_DIST += doc/formats.md
EXTRA_DIST += doc/gate.md
dist_man_MANS += doc/halfulp.1
EXTRA_DIST += doc/kernels.md
EXTRA_DIST += doc/kernels.svg
EXTRA_DIST += doc/onnx-expected.tsv
EXTRA_DIST += doc/onnx.md
EXTRA_DIST += doc/operating-curve.tsv
EXTRA_DIST += doc/papers.md
EXTRA_DIST += doc/torch.md
EXTRA_DIST += doc/why-it-paid.md
