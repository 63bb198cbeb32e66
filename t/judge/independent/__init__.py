# SPDX-License-Identifier: Apache-2.0
# The tables of analyze computed again from a run's files alone, by doc/formats.md and doc/analysis.md: number (formats,
# intervals), files, calls (exact results), sums (summation models), step (the exact step), judge (figures), a file a
# table.
