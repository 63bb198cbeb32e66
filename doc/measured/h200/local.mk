# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/measured/h200/digests.tsv
EXTRA_DIST += doc/measured/h200/gemm.tsv
EXTRA_DIST += doc/measured/h200/parity.tsv
EXTRA_DIST += doc/measured/h200/parts.tsv
EXTRA_DIST += doc/measured/h200/probe.tsv
EXTRA_DIST += doc/measured/h200/ranks.tsv
EXTRA_DIST += doc/measured/h200/torch-steps.tsv
EXTRA_DIST += doc/measured/h200/train-published.tsv
