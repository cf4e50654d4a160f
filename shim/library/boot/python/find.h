/* Which interpreter this library belongs to, and the shared library of that interpreter. */
#ifndef CUDLA_SIM_PYTHON_FIND_H
#define CUDLA_SIM_PYTHON_FIND_H

#include <stddef.h>

enum { SIM_PYTHON_VERSION_SIZE = 16 };

/* "3.11" of ".../lib/python3.11/..." or ".../bin/python3.11"; 0 when there is none. */
int sim_python_version_in(const char *path, char *version);

/* The folder that holds the package cudla_sim (site-packages); 0, or -1. */
int sim_python_package_folder(char *folder, size_t size);

/* The interpreter whose environment is used; 0, or -1 and why there is none. */
int sim_python_choose(char *executable, size_t size, char *why, size_t why_size);

/*
 * The libpython of `executable`, loaded so that extensions see it; NULL and `why` when there is
 * none.
 */
void *sim_python_library(const char *executable, char *why, size_t why_size);

/* Python is in this process already: the host is one, or is linked to one. */
void *sim_python_here(void);

#endif
