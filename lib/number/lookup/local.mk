# SPDX-License-Identifier: Apache-2.0

libhalfulp_a_SOURCES += lib/number/lookup/format_mode_find.c
