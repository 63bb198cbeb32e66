# SPDX-License-Identifier: Apache-2.0
# The folders, bottom floor first in doc/architecture.md, by name here.

include $(top_srcdir)/analyzers/local.mk
include $(top_srcdir)/cuda/local.mk
include $(top_srcdir)/doc/local.mk
include $(top_srcdir)/lib/base/local.mk
include $(top_srcdir)/lib/number/local.mk
include $(top_srcdir)/lib/op/local.mk
include $(top_srcdir)/lib/program/local.mk
include $(top_srcdir)/lib/store/local.mk
include $(top_srcdir)/lib/sum/local.mk
include $(top_srcdir)/t/local.mk
include $(top_srcdir)/trainer/data/local.mk
