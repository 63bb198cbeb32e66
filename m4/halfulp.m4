# SPDX-License-Identifier: Apache-2.0
# Checks of our own: compiler flags, libraries, the flags that would change results, CUDA.

# HU_REFUSE_FAST_MATH: stops where the user's flags let the compiler change the
# value of an expression, or flush subnormals (at link time too: -ffast-math
# links start-up code that sets FTZ for the whole program).
AC_DEFUN([HU_REFUSE_FAST_MATH], [
for hu_flag in $CC $CPPFLAGS $CFLAGS $CXX $CXXFLAGS $LDFLAGS $LIBS; do
	AS_CASE([$hu_flag],
	  [-ffast-math|-Ofast|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math|-ffinite-math-only|-fno-signed-zeros|-ffp-contract=fast|-ffp-contract=on|-ffp-model=fast|-fsingle-precision-constant|-mfpmath=387|-mdaz-ftz],
	  [AC_MSG_ERROR([$hu_flag changes the results of floating-point operations, and every result here
  is a promise of bits. Leave it out of CC, CPPFLAGS, CFLAGS, CXX, CXXFLAGS, LDFLAGS and LIBS, then run configure again.])])
done])

# HU_CFLAG_TRY(FLAG, IF-TAKEN, IF-NOT): whether $CC takes FLAG without a warning.
AC_DEFUN([HU_CFLAG_TRY], [
hu_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $1"
AC_MSG_CHECKING([whether $CC takes $1])
AC_LINK_IFELSE([AC_LANG_PROGRAM()], [hu_taken=yes], [hu_taken=no])
CFLAGS=$hu_save_CFLAGS
AC_MSG_RESULT([$hu_taken])
AS_IF([test $hu_taken = yes], [$2], [$3])])

# HU_CFLAG_WHERE_KNOWN(VARIABLE, FLAG)
AC_DEFUN([HU_CFLAG_WHERE_KNOWN], [HU_CFLAG_TRY([$2], [AS_VAR_APPEND([$1], [" $2"])], [:])])

# HU_CFLAG_NEEDED(VARIABLE, FLAG)
AC_DEFUN([HU_CFLAG_NEEDED], [HU_CFLAG_TRY([$2], [AS_VAR_APPEND([$1], [" $2"])],
  [AC_MSG_ERROR([$CC does not take $2; gcc 12 and clang 14 do (see config.log)])])])

# HU_LIBRARY(HEADER, LIBRARY, FUNCTION, NAME, DEBIAN-PACKAGE, FEDORA-PACKAGE)
AC_DEFUN([HU_LIBRARY], [
hu_found=yes
AC_CHECK_HEADER([$1], [], [hu_found=no])
AS_IF([test $hu_found = yes], [AC_SEARCH_LIBS([$3], [$2], [], [hu_found=no])])
AS_IF([test $hu_found = no], [
	AC_MSG_ERROR([$4 is needed and was not found ($1, lib$2).
  Debian, Ubuntu: apt-get install $5      Fedora: dnf install $6
  or run ./bootstrap, which installs what is missing; if it lies elsewhere, say CPPFLAGS=-I... LDFLAGS=-L...])])])

# HU_PROTOC_C: sets PROTOC_C, which makes C of a protobuf schema; protoc itself does where protoc-c is no more.
AC_DEFUN([HU_PROTOC_C], [
AC_ARG_VAR([PROTOC_C], [makes C of a protobuf schema: protoc-c, or protoc with its plug-in protoc-gen-c])
AC_CHECK_PROGS([PROTOC_C], [protoc-c protoc])
AS_IF([test -z "$PROTOC_C"], [
	AC_MSG_ERROR([protobuf-c's compiler is needed and was not found (protoc-c).
  Debian, Ubuntu: apt-get install protobuf-c-compiler      Fedora: dnf install protobuf-c-compiler
  or run ./bootstrap, which installs what is missing; if it lies elsewhere, say PROTOC_C=...])])])

# HU_CUDA: --with-cuda=check|yes|no. Sets NVCC, CUDA_LIBS, CUDA_ARCH_FLAGS, CUDA_ANY_FLAGS and the conditional CUDA.
AC_DEFUN([HU_CUDA], [
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda=check|yes|no],
  [the CUDA back end: where nvcc and the driver of a GPU are found, wherever nvcc is, or never (default: check; no with --enable-asan)])],
  [], [AS_IF([test "x$enable_asan" = xyes], [with_cuda=no], [with_cuda=check])])
AC_ARG_VAR([NVCC], [CUDA's compiler])
AC_ARG_WITH([cuda-arch], [AS_HELP_STRING([--with-cuda-arch=LIST],
  [compute capabilities to compile for, e.g. 75,80,90a,120, and PTX of the newest plain one for what comes later; 80-virtual: PTX alone, which the driver compiles when it first runs (default: that of the GPU here, without one 80-virtual,90a)])],
  [], [with_cuda_arch=`nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d ' .' | grep -E '^(7@<:@5-9@:>@|@<:@89@:>@@<:@0-9@:>@|1@<:@0-2@:>@@<:@0-9@:>@)$' | sort -u | sed -n 's/^90$/90a/; 1,2p' | paste -sd, -`
	: "${with_cuda_arch:=80-virtual,90a}"])
AC_ARG_VAR([CUDA_ARCH_FLAGS], [its targets as nvcc's own options, instead of --with-cuda-arch])
AS_CASE([$with_cuda], [check|yes|no], [], [AC_MSG_ERROR([--with-cuda=$with_cuda: check, yes or no])])
hu_cuda=no
hu_cuda_summary="no (--with-cuda=no)"
# Kernels take minutes to compile, which nobody wants who has no GPU: without a driver they are compiled where that was asked for.
# HALFULP_DRIVER is the folder that the kernel's module shows itself in.
AS_IF([test $with_cuda = check && test ! -d "${HALFULP_DRIVER-/proc/driver/nvidia}" && ! nvidia-smi -L >/dev/null 2>&1], [
	with_cuda=no
	hu_cuda_summary="no (no GPU's driver is here; --with-cuda=yes compiles the kernels all the same)"])
AS_IF([test $with_cuda != no], [
	AC_PATH_PROG([NVCC], [nvcc], [], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin$PATH_SEPARATOR/opt/cuda/bin])
	hu_cuda_summary="no (no nvcc found)"
	AS_IF([test -n "$NVCC"], [
		hu_cuda_newest=0 hu_cuda_oldest=999 hu_cuda_codes= hu_cuda_ptx=no
		for hu_arch_asked in `echo "$with_cuda_arch" | tr ',' ' '`; do
			hu_arch=$hu_arch_asked
			AS_CASE([$hu_arch], [7[[5-9]]|8[[0-9]]|9[[0-9]]|1[[0-2]][[0-9]]],
			  [AS_IF([test $hu_arch -gt $hu_cuda_newest], [hu_cuda_newest=$hu_arch])
			   AS_VAR_APPEND([hu_cuda_list], [" -gencode arch=compute_$hu_arch,code=sm_$hu_arch"])],
			  [7[[5-9]]-virtual|8[[0-9]]-virtual|9[[0-9]]-virtual|1[[0-2]][[0-9]]-virtual],
			  [hu_arch=`echo $hu_arch | sed 's/-.*//'`
			   AS_VAR_APPEND([hu_cuda_list], [" -gencode arch=compute_$hu_arch,code=compute_$hu_arch"])],
			  [9[[0-9]]a|1[[0-2]][[0-9]][[af]]], [AS_VAR_APPEND([hu_cuda_list], [" -gencode arch=compute_$hu_arch,code=sm_$hu_arch"])],
			  [AC_MSG_ERROR([--with-cuda-arch=$with_cuda_arch: $hu_arch is no compute capability from 75 to 129, such as 80 or 90a])])
			AS_CASE([$hu_arch_asked], [*-virtual], [hu_cuda_ptx=yes],
			  [hu_arch=`echo $hu_arch | sed 's/@<:@af@:>@//'`
			   AS_CASE([$hu_arch_asked], [*@<:@0-9@:>@], [hu_cuda_ptx=yes])
			   AS_CASE([",$hu_cuda_codes,"], [*",sm_$hu_arch,"*], [], [hu_cuda_codes="$hu_cuda_codes${hu_cuda_codes:+,}sm_$hu_arch"])])
			AS_IF([test $hu_arch -lt $hu_cuda_oldest], [hu_cuda_oldest=$hu_arch])
		done
		AS_IF([test $hu_cuda_newest -gt 0], [hu_cuda_list=`echo "$hu_cuda_list" | sed "s/code=sm_$hu_cuda_newest\>/code=@<:@sm_$hu_cuda_newest,compute_$hu_cuda_newest@:>@/"`])
		# Where the code is the same for every device, machine code for all is made from the oldest's PTX, which takes one pass
		# of the compiler instead of one each.
		AS_IF([test $hu_cuda_ptx = yes], [hu_cuda_codes="$hu_cuda_codes${hu_cuda_codes:+,}compute_$hu_cuda_oldest"])
		AS_CASE(["$with_cuda_arch,$CUDA_ARCH_FLAGS"],
		  [*,*,], [CUDA_ANY_FLAGS="-gencode arch=compute_$hu_cuda_oldest,code=@<:@$hu_cuda_codes@:>@"],
		  [CUDA_ANY_FLAGS=${CUDA_ARCH_FLAGS-$hu_cuda_list}])
		: "${CUDA_ARCH_FLAGS=$hu_cuda_list}"
		AS_CASE(["$CUDA_ARCH_FLAGS"], [*sm_90a*], [AC_DEFINE([HU_CUDA_SM90A], [1], [kernels have code for sm_90a])])
		hu_nvcc_real=`readlink -f "$NVCC" 2>/dev/null || echo "$NVCC"`
		hu_cuda_home=`AS_DIRNAME(["$hu_nvcc_real"])`/..
		for hu_dir in "$hu_cuda_home/lib64" "$hu_cuda_home/lib" "$hu_cuda_home/targets/x86_64-linux/lib" "$hu_cuda_home/targets/sbsa-linux/lib"; do
			AS_IF([test -f "$hu_dir/libcudart_static.a"], [hu_cuda_lib=`cd "$hu_dir" && pwd`])
		done
		CUDA_LIBS="${hu_cuda_lib:+-L$hu_cuda_lib }-lcudart_static -lstdc++ -lpthread -ldl -lrt"
		AC_MSG_CHECKING([whether $NVCC makes a program that $CC links])
		cat >conftest.cu <<\_HU_CU
extern "C" int hu_cuda_works(void) { int n = 0; return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0; }
_HU_CU
		hu_cuda_summary="no ($NVCC does not work: config.log says why)"
		AS_IF([$NVCC $CUDA_ARCH_FLAGS -c conftest.cu -o conftest_cu.$ac_objext >&AS_MESSAGE_LOG_FD 2>&1], [
			hu_save_LIBS=$LIBS
			LIBS="conftest_cu.$ac_objext $CUDA_LIBS $LIBS"
			AC_LINK_IFELSE([AC_LANG_PROGRAM([int hu_cuda_works(void);], [return hu_cuda_works();])],
			  [hu_cuda=yes hu_cuda_summary="yes ($NVCC)"])
			LIBS=$hu_save_LIBS])
		rm -f conftest.cu conftest_cu.$ac_objext
		AC_MSG_RESULT([$hu_cuda])])
	AS_IF([test $with_cuda = yes && test $hu_cuda = no],
	  [AC_MSG_ERROR([--with-cuda=yes, but CUDA cannot be used here: $hu_cuda_summary])])])
AS_IF([test $hu_cuda = yes],
  [AC_DEFINE([HU_HAVE_CUDA], [1], [the CUDA back end is in this build])],
  [CUDA_LIBS=])
AC_SUBST([CUDA_LIBS])
AC_SUBST([CUDA_ANY_FLAGS])
AM_CONDITIONAL([CUDA], [test $hu_cuda = yes])])

# HU_SHIM: whether $CXX compiles the kernels for the host (cuda/base/shim.h). Sets SHIM_CXXFLAGS,
# SHIM_UNCHECKED (what the sanitizers leave out, behind ASAN_CFLAGS) and the conditional SHIM.
AC_DEFUN([HU_SHIM], [
SHIM_CXXFLAGS="-std=gnu++17 -ffp-contract=off -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-math-errno -fno-var-tracking -Wno-ignored-optimization-argument -Wno-unknown-warning-option -Wall -Wunused-parameter -Wshadow=local -Wframe-larger-than=65536"
AS_IF([test "x$enable_werror" = xyes], [SHIM_CXXFLAGS="$SHIM_CXXFLAGS -Werror"])
hu_shim=no
AC_MSG_CHECKING([whether ${CXX:-no C++ compiler} makes objects that $CC links])
cat >conftest_shim.cc <<\_HU_CC
template <class F> static int twice(F f, int at = __builtin_LINE()) { return f(2) + (at < 0); }
extern "C" int hu_shim_works(void) { int k = 3; return twice([[&](auto x) { return x * k; }]) - 6; }
_HU_CC
# clang's check of function types needs the C++ library, which $CC does not link
for hu_flag in "" -fno-sanitize=function; do
	AS_IF([test $hu_shim = no && $CXX $SHIM_CXXFLAGS $ASAN_CFLAGS $hu_flag $CPPFLAGS $CXXFLAGS -c conftest_shim.cc -o conftest_cc.$ac_objext >&AS_MESSAGE_LOG_FD 2>&1], [
		hu_save_LIBS=$LIBS
		hu_save_CFLAGS=$CFLAGS
		LIBS="conftest_cc.$ac_objext $LIBS"
		CFLAGS="$CFLAGS $ASAN_CFLAGS"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([int hu_shim_works(void);], [return hu_shim_works();])],
		  [hu_shim=yes SHIM_UNCHECKED=$hu_flag])
		LIBS=$hu_save_LIBS
		CFLAGS=$hu_save_CFLAGS])
done
rm -f conftest_shim.cc conftest_cc.$ac_objext
AC_MSG_RESULT([$hu_shim])
hu_shim_summary="not on the host: tests of kernels skip (no C++ compiler, or see config.log)"
AS_IF([test $hu_shim = yes], [
	hu_shim_summary="on the host too, for tests ($CXX)"
	AC_DEFINE([HU_HAVE_SHIM], [1], [the kernels are compiled for the host])])
AC_SUBST([SHIM_CXXFLAGS])
AC_SUBST([SHIM_UNCHECKED])
AM_CONDITIONAL([SHIM], [test $hu_shim = yes])])
