/* SPDX-License-Identifier: Apache-2.0
   The records that a manifest holds. Each function returns an object that the caller owns. */
#ifndef HU_TRAINER_MANIFEST_PARTS_H
#define HU_TRAINER_MANIFEST_PARTS_H

#include "trainer/run/session.h"

json_t *hu_manifest_dataset(const hu_dataset *d);
/* What was read of the data: how many rows since a step, and their digest. */
json_t *hu_manifest_rows(size_t from, size_t rows, uint64_t digest);
json_t *hu_manifest_optimizer(const hu_optim_options *o);
/* The loss scaling; a floor or cap of 0 means none. */
json_t *hu_manifest_scaling(const hu_scaler *r);
/* What computes each product of a step; NULL where the back end does not say. */
json_t *hu_manifest_products(const hu_session *s);
#endif
