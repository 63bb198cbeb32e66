# SPDX-License-Identifier: Apache-2.0
# MPI, for the module halfulp-mpi.so alone: the program loads it where mpirun has started it.

# HU_MPI_MODULE: --with-mpi=check|yes|no; MPICC names the compiler. Defines HU_MPI and sets the conditional MPI, and MPI_CC,
# which compiles and links the module.
AC_DEFUN([HU_MPI_MODULE], [
AC_ARG_WITH([mpi], [AS_HELP_STRING([--with-mpi=check|yes|no],
  [MPI, to train and analyze with several processes: where it is found, in any case, never (default: check)])],
  [], [with_mpi=check])
AC_ARG_VAR([MPICC], [compiler of an MPI, such as mpicc; without one, pkg-config is asked for ompi-c and mpich])
hu_mpi=no
hu_mpi_summary="no (--with-mpi=no)"
AS_IF([test "x$with_mpi" != xno], [
	AS_IF([test "x$MPICC" = x], [AC_PATH_PROGS([MPICC], [mpicc mpicc.openmpi mpicc.mpich])])
	hu_save_CC=$CC hu_save_LIBS=$LIBS
	LIBS=
	for hu_try in "${MPICC:-none}" ompi-c mpich; do
		AS_CASE([$hu_try],
			[none], [continue],
			[ompi-c|mpich], [MPI_FLAGS=`pkg-config --cflags --libs $hu_try 2>/dev/null` || continue; MPI_CC=$hu_save_CC],
			[MPI_FLAGS= MPI_CC=$hu_try])
		CC=$MPI_CC LIBS=$MPI_FLAGS
		AC_MSG_CHECKING([for MPI by $hu_try])
		AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <mpi.h>], [MPI_Init(0, 0);])], [hu_mpi=yes], [hu_mpi=no])
		AC_MSG_RESULT([$hu_mpi])
		AS_IF([test $hu_mpi = yes], [hu_mpi_summary="yes ($hu_try)"; break])
	done
	CC=$hu_save_CC LIBS=$hu_save_LIBS
	AS_IF([test $hu_mpi = no], [
		hu_mpi_summary="none found; train and the analyzers run as one process"
		AS_IF([test "x$with_mpi" != xcheck], [AC_MSG_ERROR([--with-mpi=$with_mpi: no MPI was found by MPICC, mpicc or pkg-config.
  Debian, Ubuntu: apt-get install libopenmpi-dev openmpi-bin      Fedora: dnf install openmpi-devel
  or leave the option out: the program then runs as one process])])])])
AS_IF([test $hu_mpi = yes], [AC_DEFINE([HU_MPI], [1], [the module halfulp-mpi.so is built])])
AC_SUBST([MPI_CC])
AC_SUBST([MPI_FLAGS])
AM_CONDITIONAL([MPI], [test $hu_mpi = yes])])
