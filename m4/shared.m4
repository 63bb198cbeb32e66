# SPDX-License-Identifier: Apache-2.0
# HU_SHARED: --enable-shared, whether libhalfulp.so is built. It has a version script and a stand-in for gcc's OpenMP
# runtime (dynamic/serial.c), so it takes gcc and a linker for ELF, and no sanitizers. Sets PIC_CFLAGS and the
# conditional SHARED.
AC_DEFUN([HU_SHARED], [
AC_ARG_ENABLE([shared], [AS_HELP_STRING([--enable-shared], [also build libhalfulp.so, the library for C and C++ programs])])
hu_shared_summary="no (--enable-shared builds libhalfulp.so)"
AS_IF([test "x$enable_shared" = xyes], [
	AC_MSG_CHECKING([whether libhalfulp.so can be built])
	hu_save_CFLAGS=$CFLAGS hu_save_LDFLAGS=$LDFLAGS
	CFLAGS="$CFLAGS -fPIC -fvisibility=hidden"
	LDFLAGS="$LDFLAGS -shared -Wl,--version-script=conftest.map -Wl,-z,defs"
	echo '{ global: a_name; local: *; };' >conftest.map
	AC_LINK_IFELSE([AC_LANG_SOURCE([[#if !defined(__GNUC__) || defined(__clang__) || !defined(__ELF__)
#error another compiler
#endif
__attribute__((visibility("default"))) int a_name(void) { return 0; }]])], [hu_shared=yes], [hu_shared=no])
	CFLAGS=$hu_save_CFLAGS LDFLAGS=$hu_save_LDFLAGS
	rm -f conftest.map
	test -z "$ASAN_CFLAGS" || hu_shared=no
	AC_MSG_RESULT([$hu_shared])
	AS_IF([test $hu_shared = yes], [hu_shared_summary="yes (libhalfulp.so)"],
	  [AC_MSG_ERROR([--enable-shared takes gcc and a linker for ELF, and no sanitizers])])], [hu_shared=no])
AS_IF([test $hu_shared = yes], [PIC_CFLAGS="-fPIC -fvisibility=hidden"])
AC_SUBST([PIC_CFLAGS])
AM_CONDITIONAL([SHARED], [test $hu_shared = yes])])
