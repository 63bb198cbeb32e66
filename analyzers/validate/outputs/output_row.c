/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/outputs/output_row.h"

#include <math.h>

#define OUTPUT(name, kind, member, place, means, ...)                                                                  \
	HU_FIELD_OF(hu_output_row, name, kind, member, place, means, __VA_ARGS__)
static const hu_table_field field[] = {
	OUTPUT("policy", TEXT, policy, SHOWN, "the policy"),
	OUTPUT("output", TEXT, output, ANYWHERE, "the output"),
	OUTPUT("rel_l2", MEASURED, rel_l2, ANYWHERE, "the error's L2 norm over that of float32's output", .digits = 3),
	OUTPUT("sqnr_db", MEASURED, sqnr_db, ANYWHERE, "the same in dB", .heading = "sqnr dB", .digits = -1),
	OUTPUT("max_error", MEASURED, max_error, ANYWHERE, "the largest error", .digits = 3, .rank = 1),
	OUTPUT("nonfinite", COUNT, nonfinite, ANYWHERE, "how many elements are not finite", .rank = 2),
	OUTPUT("signed_share", MEASURED, signed_share, WRITTEN, "the mean error over the root of the mean square"),
	OUTPUT("outward_share", MEASURED, outward_share, WRITTEN, "the same of errors away from zero"),
	OUTPUT("bias_t", MEASURED, bias_t, WRITTEN, "the larger T of both"),
};
const hu_fields hu_output_table = HU_FIELDS(field, hu_output_row);

hu_output_row
hu_output_row_of(const char *policy, const char *output, const hu_distance *d)
{
	int measured = !d->whole, errs = measured && !isnan(d->bias_t);

	return (hu_output_row){ .policy = policy,
		.output = output,
		.rel_l2 = measured ? d->rel_l2 : NAN,
		.sqnr_db = measured ? d->sqnr_db : NAN,
		.max_error = measured ? d->max_error : NAN,
		.signed_share = errs ? d->signed_share : NAN,
		.outward_share = errs ? d->outward_share : NAN,
		.bias_t = errs ? d->bias_t : NAN,
		.nonfinite = (long long)d->nonfinite };
}
