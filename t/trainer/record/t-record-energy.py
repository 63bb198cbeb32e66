# SPDX-License-Identifier: Apache-2.0
# Joules of a training beside a counter that rises by 5 J at a time: those of each step, of the run, and what follows.
import math
import os
import sys
import threading

from recorded_runs import at, table, train

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, none  # noqa: E402

# A counter that somebody else moves on by 5 J again and again; between its ticks a step has its share by time
zone = at('powercap', 'intel-rapl:0')
os.makedirs(zone)
for key, value in (('name', 'package-0'), ('max_energy_range_uj', '262143328850'), ('energy_uj', '1000')):
    open(os.path.join(zone, key), 'w').write(value + '\n')
stop = threading.Event()


def count():
    number = 1000
    while not stop.is_set():
        number += 5000000
        open(os.path.join(zone, 'next'), 'w').write('%d\n' % number)
        os.replace(os.path.join(zone, 'next'), os.path.join(zone, 'energy_uj'))


counter = threading.Thread(target=count, daemon=True)
counter.start()
m, out = train('energy', '--model', 'mlp', '--data', 'size=8,eval=8,train=64', '--batch', '16', '--steps', '12',
               '--trace', 'steps=none', '--policy', 'float32', '--meter', 'rapl', '--meter', 'grid=250',
               env={'HALFULP_POWERCAP': at('powercap'), 'OMP_NUM_THREADS': '1'})
stop.set()
counter.join()
wrong, all_of_it = [], 0
for r in table(at('energy', 'metrics.tsv')):
    joules = math.nan if r['joules'] == '-' else float(r['joules'])
    all_of_it += joules
    if not (
        joules >= 0
        and math.isclose(float(r['joules_per_sample']), joules / 16, rel_tol=1e-6)
        and math.isclose(float(r['watts']) * float(r['ms']), 1e3 * joules, rel_tol=1e-4, abs_tol=1e-6)
    ):
        wrong.append(
            'step %s: %s joules, %s an image, %s watts of %s ms'
            % (r['step'], r['joules'], r['joules_per_sample'], r['watts'], r['ms'])
        )
none(wrong + (['no joule'] if not all_of_it > 0 else []),
     'every step has its joules, and joules an image and watts follow')
e = m['energy']
used = [float(r['utilisation']) for r in table(at('energy', 'metrics.tsv')) if r['utilisation'] != '-']
cores = os.sysconf('SC_NPROCESSORS_ONLN')
none(([used] if not used or not all(0 <= u <= 1 for u in used) or sum(used) / len(used) > 1.3 / cores and cores > 1
      else []), 'one thread uses its share of %d processors' % cores)
accuracy = float(table(at('energy', 'metrics.tsv'))[-1]['eval_accuracy'])
each = ', %.4g g a percentage point of accuracy' % (e['grams_co2'] / accuracy / 100) if accuracy else 'Energy'
none(([e, out, accuracy] if accuracy and not math.isclose(e['grams_co2_per_accuracy'], e['grams_co2'] / accuracy)
      or accuracy and not math.isclose(e['watt_hours_per_accuracy'], e['watt_hours'] / accuracy) or each not in out
      else []), 'CO2 and energy over the accuracy')
none(([e] if not (e.get('joules', 0) >= all_of_it * (1 - 1e-9) and math.isclose(e['watt_hours'], e['joules'] / 3600)
                  and math.isclose(e['grams_co2'], e['joules'] / 3.6e6 * 250) and e['grams_co2_per_kwh'] == 250
                  and 'RAPL, 1 counter ' in e['meter'] and 'Energy: %.4g Wh in all' % e['watt_hours'] in out
                  and '%.4g g of CO2 at 250 g a kWh' % e['grams_co2'] in out) else []),
     'and the whole run at least theirs; watt-hours and CO2 follow')
finish()
