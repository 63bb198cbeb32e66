/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/energy/account.h"

#include <string.h>

static const double WATT_HOUR = 3600; /* in joules */

hu_status
hu_account_open(hu_account *a, const char *meter, const char *backend, double intensity)
{
	memset(a, 0, sizeof *a);
	a->intensity = intensity;
	return hu_energy_open(&a->meter, meter, backend);
}

void
hu_account_begin(hu_account *a, const json_t *manifest, size_t from)
{
	const json_t *before = json_object_get(manifest, "energy"),
		     *grid = json_object_get(before, "grams_co2_per_kwh"), *joules = json_object_get(before, "joules");

	if (a->intensity < 0 && grid)
		a->intensity = json_number_value(grid);
	/* A process that was killed behind a checkpoint's last byte has told no manifest what it took. */
	size_t recorded = (size_t)json_integer_value(json_object_get(manifest, "steps_done"));
	if (a->meter.meter && ((before && !joules) || recorded < from)) {
		hu_energy_close(&a->meter);
		snprintf(a->meter.why, sizeof a->meter.why,
			"the part of the run before it was resumed was not measured");
	}
	a->before = json_number_value(joules);
	hu_energy_read(&a->meter);
	hu_energy_mark(&a->meter);
}

void
hu_account_close(hu_account *a)
{
	hu_energy_close(&a->meter);
}

void
hu_account_write(hu_account *a, json_t *manifest, double accuracy)
{
	double joules = hu_energy_read(&a->meter);
	json_t *e = json_object();

	json_object_set_new(manifest, "energy", e);
	if (!(joules >= 0)) {
		json_object_set_new(e, "meter", json_string("not available"));
		json_object_set_new(
			e, "why", json_string(*a->meter.why ? a->meter.why : "the counter stopped answering"));
		return;
	}
	joules += a->before;
	json_object_set_new(e, "meter", json_string(a->meter.what));
	json_object_set_new(e, "joules", json_real(joules));
	json_object_set_new(e, "watt_hours", json_real(joules / WATT_HOUR));
	if (accuracy > 0)
		json_object_set_new(e, "watt_hours_per_accuracy", json_real(joules / WATT_HOUR / accuracy));
	if (a->intensity < 0)
		return;
	double grams = joules / (1000 * WATT_HOUR) * a->intensity;
	json_object_set_new(e, "grams_co2_per_kwh", json_real(a->intensity));
	json_object_set_new(e, "grams_co2", json_real(grams));
	if (accuracy > 0)
		json_object_set_new(e, "grams_co2_per_accuracy", json_real(grams / accuracy));
}

void
hu_account_print(const json_t *manifest, FILE *f)
{
	const json_t *e = json_object_get(manifest, "energy"), *grams = json_object_get(e, "grams_co2"),
		     *each = json_object_get(e, "grams_co2_per_accuracy");
	const char *meter = json_string_value(json_object_get(e, "meter"));

	if (!meter)
		return;
	if (!json_is_number(json_object_get(e, "joules"))) {
		fprintf(f, "Energy: not available: %s\n", json_string_value(json_object_get(e, "why")));
		return;
	}
	fprintf(f, "Energy: %.4g Wh in all (%s)", json_number_value(json_object_get(e, "watt_hours")), meter);
	if (grams)
		fprintf(f, "; %.4g g of CO2 at %g g a kWh", json_number_value(grams),
			json_number_value(json_object_get(e, "grams_co2_per_kwh")));
	if (each)
		fprintf(f, ", %.4g g a percentage point of accuracy", json_number_value(each) / 100);
	fputc('\n', f);
}
