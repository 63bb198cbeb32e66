/* SPDX-License-Identifier: Apache-2.0
   A side's events and graphs (side.h). The host's are in shim_queue.cc. */
#include "cuda/base/launch.h"
#include "cuda/fuse/side.h"

#ifdef __CUDACC__
static long launched;

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
	return hu_gpu_checked(
		cudaStreamBeginCapture((cudaStream_t)queue, cudaStreamCaptureModeThreadLocal), "recording a step");
}

static hu_status
graph_end(void *queue, void **graph)
{
	cudaGraph_t g = NULL;
	cudaGraphExec_t x = NULL;
	hu_status st = hu_gpu_checked(cudaStreamEndCapture((cudaStream_t)queue, &g), "recording a step");

	*graph = NULL;
	if (st == HU_OK)
		st = hu_gpu_checked(cudaGraphInstantiateWithFlags(&x, g, 0), "making a graph of a step");
	if (g)
		cudaGraphDestroy(g);
	*graph = x;
	return st;
}

static hu_status
graph_launch(void *queue, void *graph)
{
	return hu_gpu_checked(cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)queue), "launching a step's graph");
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
	HU_TRY(hu_gpu_checked(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making an event"));
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
	return hu_gpu_checked(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)queue), "recording an event");
}

static hu_status
event_await(void *queue, void *event)
{
	return hu_gpu_checked(cudaStreamWaitEvent((cudaStream_t)queue, (cudaEvent_t)event, 0), "ordering two streams");
}

static hu_status
event_wait(void *event)
{
	return hu_gpu_checked(cudaEventSynchronize((cudaEvent_t)event), "waiting for the device");
}

static hu_status
event_done(void *event, int *done)
{
	cudaError_t e = cudaEventQuery((cudaEvent_t)event);

	*done = e == cudaSuccess;
	if (e == cudaErrorNotReady) {
		(void)cudaGetLastError(); /* it is no error, and no kernel's */
		e = cudaSuccess;
	}
	return hu_gpu_checked(e, "asking the device");
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
	HU_TRY(hu_gpu_checked(cudaEventCreate(&e), "making an event"));
	*event = e;
	return HU_OK;
}

static hu_status
timer_between(void *from, void *to, double *seconds)
{
	float ms = 0;
	hu_status st = hu_gpu_checked(
		cudaEventElapsedTime(&ms, (cudaEvent_t)from, (cudaEvent_t)to), "reading the device's clock");

	*seconds = 1e-3 * (double)ms;
	return st;
}

#define CALL(name) name
#else
#define CALL(name) hu_shim_##name
#endif

extern "C" const hu_queue_calls HU_SIDE(queues);
extern "C" const hu_queue_calls HU_SIDE(queues) = { CALL(graph_begin), CALL(graph_end), CALL(graph_launch),
	CALL(graph_release), CALL(event_open), CALL(event_close), CALL(event_record), CALL(event_await),
	CALL(event_wait), CALL(event_done), CALL(launches), CALL(timer_open), CALL(timer_between) };
#undef CALL
