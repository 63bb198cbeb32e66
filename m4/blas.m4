# SPDX-License-Identifier: Apache-2.0
# The exact engine's BLAS, which it loads when it first wants one, and Arb, for a benchmark.

# HU_CBLAS: --with-blas=check|yes|no|NAME. Defines HU_BLAS, the library's name as in -lNAME, or "none".
AC_DEFUN([HU_CBLAS], [
AC_ARG_WITH([blas], [AS_HELP_STRING([--with-blas=check|yes|no|NAME],
  [a CBLAS for exact products: one where it is found, in any case, never, or -lNAME (default: check; any of openblas, blis, mkl_rt, cblas, blas)])],
  [], [with_blas=check])
hu_blas=none
hu_blas_summary="none (--with-blas=no)"
AS_IF([test "x$with_blas" != xno], [
	AS_CASE([$with_blas], [check|yes], [hu_names="openblas blis mkl_rt cblas blas"], [hu_names=$with_blas])
	AC_SEARCH_LIBS([dlopen], [dl])
	for hu_name in $hu_names; do
		AS_CASE([$hu_name], [*/*], [hu_link=$hu_name], [hu_link=-l$hu_name])
		hu_save_LIBS=$LIBS
		LIBS="$hu_link $LIBS"
		AC_MSG_CHECKING([for cblas_dgemm in $hu_name])
		AC_LINK_IFELSE([AC_LANG_PROGRAM([char cblas_dgemm(void);], [return cblas_dgemm();])], [hu_found=yes], [hu_found=no])
		AC_MSG_RESULT([$hu_found])
		LIBS=$hu_save_LIBS
		AS_IF([test $hu_found = yes], [hu_blas=$hu_name; break])
	done
	hu_blas_summary="$hu_blas (loaded when the exact engine first wants it)"
	AS_IF([test $hu_blas = none], [
		hu_blas_summary="none found; the engine's own kernels do it all"
		AS_IF([test "x$with_blas" != xcheck], [AC_MSG_ERROR([--with-blas=$with_blas: no library with cblas_dgemm was found ($hu_names).
  Debian, Ubuntu: apt-get install libopenblas-dev      Fedora: dnf install openblas-devel
  or leave the option out: the exact engine has kernels of its own])])])])
AC_DEFINE_UNQUOTED([HU_BLAS], ["$hu_blas"], [the CBLAS that the exact engine loads])])

# HU_ARB_BENCH: Arb or FLINT 3, for bench/exact alone. Defines HU_ARB and sets ARB_CPPFLAGS, ARB_LIBS.
AC_DEFUN([HU_ARB_BENCH], [
hu_arb=no
hu_save_CPPFLAGS=$CPPFLAGS
hu_save_LIBS=$LIBS
for hu_try in "arb_mat.h|-lflint-arb -lflint" "arb_mat.h|-larb -lflint" "flint/arb_mat.h|-lflint"; do
	hu_header=`echo "$hu_try" | sed 's/|.*//'`
	LIBS="`echo "$hu_try" | sed 's/.*|//'` $hu_save_LIBS"
	AC_MSG_CHECKING([for Arb as <$hu_header> (benchmark only)])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <$hu_header>], [arb_mat_t a; arb_mat_init(a, 1, 1); arb_mat_mul(a, a, a, 64);])], [hu_arb=yes])
	AC_MSG_RESULT([$hu_arb])
	AS_IF([test $hu_arb = yes], [ARB_LIBS=`echo "$hu_try" | sed 's/.*|//'`; break])
done
LIBS=$hu_save_LIBS
AS_IF([test $hu_arb = yes], [ARB_CPPFLAGS="-DHU_ARB='<$hu_header>'"])
AC_SUBST([ARB_CPPFLAGS])
AC_SUBST([ARB_LIBS])])
