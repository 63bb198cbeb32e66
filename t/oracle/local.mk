# SPDX-License-Identifier: Apache-2.0

t_libtap_a_SOURCES += t/oracle/dd-elementary.c
noinst_HEADERS += t/oracle/dd-elementary.h
noinst_HEADERS += t/oracle/dd-turns.inc
noinst_HEADERS += t/oracle/dd.h
t_libtap_a_SOURCES += t/oracle/oracle-arith.c
noinst_HEADERS += t/oracle/oracle-arith.h
t_libtap_a_SOURCES += t/oracle/oracle.c
noinst_HEADERS += t/oracle/oracle.h
t_libtap_a_SOURCES += t/oracle/pattern.c
noinst_HEADERS += t/oracle/pattern.h
t_libtap_a_SOURCES += t/oracle/screen.c
noinst_HEADERS += t/oracle/screen.h
t_libtap_a_SOURCES += t/oracle/some-formats.c
noinst_HEADERS += t/oracle/some-formats.h
