# SPDX-License-Identifier: Apache-2.0

# protobuf-c's compiler writes these from onnx.proto, in the build folder
nodist_libhalfulp_a_SOURCES += lib/store/onnx/onnx.pb-c.c lib/store/onnx/onnx.pb-c.h
BUILT_SOURCES = lib/store/onnx/onnx.pb-c.h
CLEANFILES = lib/store/onnx/onnx.pb-c.c lib/store/onnx/onnx.pb-c.h
lib/store/onnx/onnx.pb-c.c: lib/store/onnx/onnx.proto
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(PROTOC_C) --c_out=. -I$(srcdir) $(srcdir)/lib/store/onnx/onnx.proto
lib/store/onnx/onnx.pb-c.h: lib/store/onnx/onnx.pb-c.c
	@test -f $@ || { rm -f lib/store/onnx/onnx.pb-c.c; $(MAKE) $(AM_MAKEFLAGS) lib/store/onnx/onnx.pb-c.c; }
# BUILT_SOURCES are made first by `make all` and `make check` alone
$(libhalfulp_a_OBJECTS): | lib/store/onnx/onnx.pb-c.h

libhalfulp_a_SOURCES += lib/store/onnx/axis.c
libhalfulp_a_SOURCES += lib/store/onnx/cut.c
libhalfulp_a_SOURCES += lib/store/onnx/edit.c
noinst_HEADERS += lib/store/onnx/edit.h
libhalfulp_a_SOURCES += lib/store/onnx/external.c
libhalfulp_a_SOURCES += lib/store/onnx/graph.c
libhalfulp_a_SOURCES += lib/store/onnx/inner.c
libhalfulp_a_SOURCES += lib/store/onnx/node.c
libhalfulp_a_SOURCES += lib/store/onnx/onnx.c
noinst_HEADERS += lib/store/onnx/onnx.h
EXTRA_DIST += lib/store/onnx/onnx.proto
libhalfulp_a_SOURCES += lib/store/onnx/order.c
noinst_HEADERS += lib/store/onnx/parts.h
libhalfulp_a_SOURCES += lib/store/onnx/rewrite.c
noinst_HEADERS += lib/store/onnx/rewrite.h
libhalfulp_a_SOURCES += lib/store/onnx/tensor.c
noinst_HEADERS += lib/store/onnx/types.def
