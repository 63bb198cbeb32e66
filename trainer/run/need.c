/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/run/need.h"

#include "cuda/exec/backend.h"
#include "lib/base/thread.h"
#include "lib/program/exec.h"
#include "trainer/model/loss/loss.h"
#include "trainer/run/session.h"

#include <string.h>

/* Returns the bytes that a session takes on the host: the data, the order of its rows, and for a batch the row numbers,
   every array as floats, the weights of its labels, and the labels of the batch that is fed ahead. */
static double
fed(const hu_config *c, const hu_dataset *data)
{
	hu_model_sizes sizes = hu_config_sizes(c, data);
	double n = (double)(data->n_train + data->n_eval), row = 0, floats = 0;
	const char *labels = hu_config_is_masked(c) ? "mask" : "labels";

	for (int i = 0; i < data->narray; i++) {
		const hu_data_array *a = &data->array[i];
		row += (double)hu_array_row_bytes(a);
		floats += (double)hu_count(a->shape) * (strcmp(a->name, labels) ? 1 : 3);
	}
	floats *= (double)hu_loss_views(&sizes);
	return n * (row + sizeof(size_t)) + (double)c->batch * (floats * sizeof(float) + sizeof(size_t));
}

static hu_status
emulated(const hu_config *c, const hu_dataset *data, double *bytes)
{
	hu_model_sizes sizes = hu_config_sizes(c, data);
	hu_programs p;
	int threads = hu_threads();

	HU_TRY(hu_build(&p, c, &sizes));
	*bytes = hu_exec_bytes(p.train, threads) + hu_exec_bytes(p.eval, threads) + fed(c, data) + HU_NEED_PROCESS +
		 (double)threads * HU_NEED_THREAD;
	hu_programs_release(&p);
	return HU_OK;
}

/* Computes a bound where this build has no device that counts: every tensor of both programs as codes in blocks of 256
   bytes; inputs and casts twice, since those of the next step are made while the last step's still exist; and the
   working memory of the emulation's largest product. */
static hu_status
packed(const hu_config *c, const hu_dataset *data, double *bytes)
{
	hu_model_sizes sizes = hu_config_sizes(c, data);
	hu_programs p;

	HU_TRY(hu_build(&p, c, &sizes));
	*bytes = 0;
	for (int k = 0; k < 2; k++) {
		const hu_program *q = k ? p.eval : p.train;
		double tensors = 0;
		for (int i = 0; i < q->nt; i++) {
			int cast = q->t[i].producer >= 0 && q->c[q->t[i].producer].op->role == HU_ROLE_CAST,
			    input = q->t[i].producer < 0 && !q->t[i].state;
			*bytes += (1 + (cast || input)) * (hu_info_bytes(&q->t[i]) + 256);
			tensors += (double)hu_count(q->t[i].shape) * (double)hu_element_size(q->t[i].format);
		}
		*bytes += hu_exec_bytes(q, 1) - tensors;
	}
	hu_programs_release(&p);
	return HU_OK;
}

int
hu_need_counts(void)
{
	return hu_backend_counted("shim") != NULL;
}

hu_status
hu_need_device(const hu_config *c, const hu_dataset *data, double *bytes)
{
	return hu_need_counts() ? hu_need(c, data, "shim", bytes) : packed(c, data, bytes);
}

hu_status
hu_need(const hu_config *c, const hu_dataset *data, const char *backend, double *bytes)
{
	hu_session s = { .config = c, .data = *data };

	if (!strcmp(backend, "cpu"))
		return emulated(c, data, bytes);
	s.backend = hu_backend_counted(backend);
	if (!s.backend)
		return hu_fail(HU_EUNABLE, "back end %s: this build has no device to count memory on", backend);
	s.backend->peak(1);
	hu_status st = hu_session_machines(&s);
	*bytes = (double)s.backend->peak(1);
	memset(&s.data, 0, sizeof s.data); /* data belongs to the caller */
	hu_session_close(&s);
	return st;
}
