/* Whether races are looked for in this launch, and by whom: race.c and race_watch.c say it. */
#include "race.h"

bool rt_race_on, rt_race_wanted;
const struct watcher *rt_watcher;
