# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += cuda/move/hop.cuh
noinst_HEADERS += cuda/move/index.cuh
noinst_HEADERS += cuda/move/move_sum.cuh
noinst_HEADERS += cuda/move/place.cuh
noinst_HEADERS += cuda/move/sort.cuh
noinst_HEADERS += cuda/move/triangle.cuh
noinst_HEADERS += cuda/move/turn.cuh
