# SPDX-License-Identifier: Apache-2.0
# The folders, bottom floor first in doc/architecture.md, by name here.

include $(top_srcdir)/analyzers/local.mk
include $(top_srcdir)/bench/local.mk
include $(top_srcdir)/cuda/local.mk
include $(top_srcdir)/doc/local.mk
include $(top_srcdir)/doc/examples/local.mk
include $(top_srcdir)/lib/base/local.mk
include $(top_srcdir)/lib/exact/local.mk
include $(top_srcdir)/lib/number/local.mk
include $(top_srcdir)/lib/op/local.mk
include $(top_srcdir)/lib/program/local.mk
include $(top_srcdir)/lib/store/local.mk
include $(top_srcdir)/lib/sum/local.mk
include $(top_srcdir)/reports/local.mk
include $(top_srcdir)/reports/figures/local.mk
include $(top_srcdir)/t/local.mk
include $(top_srcdir)/t/golden/local.mk
include $(top_srcdir)/t/judge/independent/local.mk
include $(top_srcdir)/t/tool/mutation/local.mk
include $(top_srcdir)/t/papers/local.mk
include $(top_srcdir)/t/silicon/local.mk
include $(top_srcdir)/t/stub/local.mk
include $(top_srcdir)/trainer/local.mk
include $(top_srcdir)/trainer/bench/local.mk
include $(top_srcdir)/trainer/data/local.mk
include $(top_srcdir)/trainer/device/local.mk
include $(top_srcdir)/trainer/energy/local.mk
include $(top_srcdir)/trainer/model/local.mk
include $(top_srcdir)/trainer/optim/local.mk
