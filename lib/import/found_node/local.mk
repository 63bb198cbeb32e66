# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/import/found_node/answers.c
libhalfulp_a_SOURCES += lib/import/found_node/asking.c
libhalfulp_a_SOURCES += lib/import/found_node/found.c
libhalfulp_a_SOURCES += lib/import/found_node/non_max.c
