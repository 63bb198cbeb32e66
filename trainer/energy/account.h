/* SPDX-License-Identifier: Apache-2.0
   A run's energy as the manifest tells it: joules and watt-hours of the whole training, with
   data, tables and evaluation, and grams of CO2 where the grid's intensity was given. */
#ifndef HU_TRAINER_ACCOUNT_H
#define HU_TRAINER_ACCOUNT_H

#include "trainer/energy/energy.h"

#include <jansson.h>
#include <stdio.h>

typedef struct hu_account { hu_energy meter; double before, intensity; } hu_account;

/* Opens meter (hu_energy_open). intensity: grams of CO2 a kWh, negative where not given. */
hu_status hu_account_open(hu_account *a, const char *meter, const char *backend, double intensity);
/* Counts from here, on top of what manifest says of an interrupted run. */
void hu_account_begin(hu_account *a, const json_t *manifest);
void hu_account_close(hu_account *a);

/* Sets "energy" in manifest: meter, joules, watt_hours and, with an intensity, grams_co2; per reached accuracy
   (0..1; 0: none yet) their share. Where nothing can be read it says why, and no number. */
void hu_account_write(hu_account *a, json_t *manifest, double accuracy);

/* One line for people, from what was written last. */
void hu_account_print(const json_t *manifest, FILE *f);
#endif
