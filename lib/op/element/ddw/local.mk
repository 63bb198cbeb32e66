# SPDX-License-Identifier: Apache-2.0

noinst_HEADERS += lib/op/element/ddw/ddw_apart.inc
noinst_HEADERS += lib/op/element/ddw/ddw_bounded.inc
noinst_HEADERS += lib/op/element/ddw/ddw_loops.inc
