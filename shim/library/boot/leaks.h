/* What LeakSanitizer, where the program has it, needs of threads that enter Python. */
#ifndef CUDLA_SIM_LEAKS_H
#define CUDLA_SIM_LEAKS_H

/* Whether the program has LeakSanitizer in it. */
int sim_has_leak_sanitizer(void);

/* Once a thread, before it touches what Python's extensions keep for each thread. */
void sim_clear_of_page_starts(void);

#endif
