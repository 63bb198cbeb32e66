# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/import/grid_node/affine_grid.c
libhalfulp_a_SOURCES += lib/import/grid_node/grid.c
libhalfulp_a_SOURCES += lib/import/grid_node/grid_sample.c
