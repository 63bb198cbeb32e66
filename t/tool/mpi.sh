# SPDX-License-Identifier: Apache-2.0
# For tests with several ranks: $mpirun, the command that starts them on this machine however few cores it has, as root
# too. Source it after tap.sh; without MPI in this build or mpirun on this machine the test skips.
mpi_module=${HALFULP%/*}/halfulp-mpi.so
test -f "$mpi_module" || skip_all "this build has no MPI"
command -v mpirun >/dev/null || skip_all "there is no mpirun"
# Open MPI: no complaint about root and about more ranks than cores, ranks that wait leave the core to others, shared
# memory without the kernel's help, which containers forbid
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
	OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
# the leak sanitizer: what is MPI's own, which is known by functions in libraries without frame pointers
export LSAN_OPTIONS=suppressions=$top/t/tool/mpi-leaks.txt:print_suppressions=0
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}fast_unwind_on_malloc=0
mpirun=mpirun
$mpirun -n 1 true >/dev/null 2>&1 || skip_all "mpirun starts nothing here: $($mpirun -n 1 true 2>&1 | grep -v '^-*$' | head -n 1)"
