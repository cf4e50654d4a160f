/* placeholder */
#include "rt.h"
bool rt_race_on;
void rt_race_begin(bool on) { rt_race_on = on && false; }
void rt_race_slice_end(uint32_t t) { (void)t; }
void rt_race_acquire(uint32_t o) { (void)o; }
void rt_race_release(uint32_t o) { (void)o; }
void rt_race_everyone(void) {}
