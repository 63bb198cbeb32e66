/* SPDX-License-Identifier: Apache-2.0
   A run's energy in its manifest: joules and watt-hours of the whole training, including data, tables and evaluation,
   and grams of CO2 where the carbon intensity of the grid was given. */
#ifndef HU_TRAINER_ACCOUNT_H
#define HU_TRAINER_ACCOUNT_H

#include "trainer/energy/energy.h"

#include <jansson.h>
#include <stdio.h>

typedef struct hu_account { hu_energy meter; double before, intensity; } hu_account;

/* Opens meter by hu_energy_open. intensity is in grams of CO2 per kWh, negative where not given. */
hu_status hu_account_open(hu_account *a, const char *meter, const char *backend, double intensity);
/* Starts counting, on top of the energy that manifest records of an interrupted run. */
void hu_account_begin(hu_account *a, const json_t *manifest, size_t from);
void hu_account_close(hu_account *a);

/* Sets "energy" in manifest: meter, joules, watt_hours and, with an intensity, grams_co2; and, where accuracy is above
   0, watt-hours and grams divided by it. Where no meter can be read it records the reason and no number. */
void hu_account_write(hu_account *a, json_t *manifest, double accuracy);

/* Prints one line from what was written last. */
void hu_account_print(const json_t *manifest, FILE *f);
#endif
