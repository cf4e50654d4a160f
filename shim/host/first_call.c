/*
 * What `cudla-sim doctor` runs to see the first call as a C program makes it: a host that is linked to
 * the vendor's library. Prints the status, the libpython that came with it, and the explanation.
 */
#include <stdio.h>
#include <string.h>

#include "cudla.h"
#include "cudla_sim.h"

static void print_libpython(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *path = strchr(line, '/');
        if (path != NULL && strstr(path, "/libpython3") != NULL) {
            printf("libpython %s", path); /* ends with a line feed */
            break;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

int main(void)
{
    char why[8192] = "";
    uint64_t version = 0;
    cudlaStatus status = cudlaGetVersion(&version);
    simExplain(why, sizeof why);
    printf("status %d\n", (int)status);
    print_libpython();
    if (status != cudlaSuccess) {
        printf("why %s\n", why);
    }
    return status == cudlaSuccess && version != 0 ? 0 : 1;
}
