# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/measured/epyc-avx512/torch-steps-1.tsv
EXTRA_DIST += doc/measured/epyc-avx512/torch-steps-2.tsv
