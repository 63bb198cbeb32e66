/* SPDX-License-Identifier: Apache-2.0
   A side's events and graphs (side.h). The host's are in shim_queue.cc. */
#include "cuda/device/launch.h"
#include "cuda/exec/side.h"

#ifdef __CUDACC__
static long launched;

/* Turns the result of a call of the CUDA runtime into a status; what says what was being done. */
static hu_status
checked(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return HU_OK;
	cudaGetLastError(); /* otherwise the next call would report this error, if it can be cleared at all */
	return hu_fail(e == cudaErrorMemoryAllocation ? HU_ENOMEM : HU_EDEVICE, "%s: %s (%s)", what,
		cudaGetErrorString(e), cudaGetErrorName(e));
}

hu_status
hu_gpu_launched(const char *kernel)
{
	cudaError_t e = cudaGetLastError();

	launched++;
	return e == cudaSuccess
		       ? HU_OK
		       : hu_fail(HU_EDEVICE, "kernel %s: %s (%s)", kernel, cudaGetErrorString(e), cudaGetErrorName(e));
}

static hu_status
graph_begin(void *queue)
{
	return checked(
		cudaStreamBeginCapture((cudaStream_t)queue, cudaStreamCaptureModeThreadLocal), "recording a step");
}

static hu_status
graph_end(void *queue, void **graph)
{
	cudaGraph_t g = NULL;
	cudaGraphExec_t x = NULL;
	hu_status st = checked(cudaStreamEndCapture((cudaStream_t)queue, &g), "recording a step");

	*graph = NULL;
	if (st == HU_OK)
		st = checked(cudaGraphInstantiateWithFlags(&x, g, 0), "making a graph of a step");
	if (g)
		cudaGraphDestroy(g);
	*graph = x;
	return st;
}

static hu_status
graph_launch(void *queue, void *graph)
{
	return checked(cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)queue), "launching a step's graph");
}

static void
graph_release(void *graph)
{
	cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

static hu_status
event_open(void **event)
{
	cudaEvent_t e;

	*event = NULL;
	HU_TRY(checked(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making an event"));
	*event = e;
	return HU_OK;
}

static void
event_close(void *event)
{
	cudaEventDestroy((cudaEvent_t)event);
}

static hu_status
event_record(void *queue, void *event)
{
	return checked(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)queue), "recording an event");
}

static hu_status
event_await(void *queue, void *event)
{
	return checked(cudaStreamWaitEvent((cudaStream_t)queue, (cudaEvent_t)event, 0), "ordering two streams");
}

static hu_status
event_wait(void *event)
{
	return checked(cudaEventSynchronize((cudaEvent_t)event), "waiting for the device");
}

static long
launches(void)
{
	return launched;
}

static hu_status
timer_open(void **event)
{
	cudaEvent_t e;

	*event = NULL;
	HU_TRY(checked(cudaEventCreate(&e), "making an event"));
	*event = e;
	return HU_OK;
}

static hu_status
timer_between(void *from, void *to, double *seconds)
{
	float ms = 0;
	hu_status st =
		checked(cudaEventElapsedTime(&ms, (cudaEvent_t)from, (cudaEvent_t)to), "reading the device's clock");

	*seconds = 1e-3 * (double)ms;
	return st;
}

#else
#define graph_begin hu_shim_graph_begin
#define graph_end hu_shim_graph_end
#define graph_launch hu_shim_graph_launch
#define graph_release hu_shim_graph_release
#define event_open hu_shim_event_open
#define event_close hu_shim_event_close
#define event_record hu_shim_event_record
#define event_await hu_shim_event_await
#define event_wait hu_shim_event_wait
#define launches hu_shim_launches
#define timer_open hu_shim_timer_open
#define timer_between hu_shim_timer_between
#endif

extern "C" const hu_queue_calls HU_SIDE(queues);
extern "C" const hu_queue_calls HU_SIDE(queues) = { graph_begin, graph_end, graph_launch, graph_release, event_open,
	event_close, event_record, event_await, event_wait, launches, timer_open, timer_between };
