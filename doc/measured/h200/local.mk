# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += doc/measured/h200/probe.tsv
