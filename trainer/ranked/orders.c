/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/ranked/orders.h"

#include "lib/base/ranks/ranks.h"

hu_ranked_order
hu_ranked_order_next(hu_ranked_kind kind, long long number)
{
	hu_ranked_order o = { kind, number };

	hu_ranks_broadcast(0, &o, sizeof o);
	return o;
}
