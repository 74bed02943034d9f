/* A driver library for tests: what cuda.c and hip.c share.
 *
 * "Device memory" is host memory, a module is a copy of the blob that was loaded, and a launch runs the CPU build of the same kernel, so
 * results come back and can be compared. Every call is recorded; any call can be told to fail; misuse that a real driver would answer
 * with a crash or with silence (use after free, a copy past the end, a null argument) is written down as a problem.
 */
#ifndef TEST_DRIVER_CORE_H
#define TEST_DRIVER_CORE_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

enum { MAX_DEVICES = 4, MAX_SYMBOL = 256, MAX_ARGUMENTS = 64 };

struct device {
    char arch[64]; /* "8.6" for CUDA, "gfx90a:sramecc+:xnack-" for HIP */
};

struct module {
    struct module *next;
    int live;
    int device;
    char *image;
    size_t size;
};

struct function {
    struct function *next;
    struct module *module;
    char symbol[MAX_SYMBOL];
    int arguments; /* as the blob declares them, -1 where it does not say */
};

struct settings {
    int devices;
    struct device device[MAX_DEVICES];
    int driver_version; /* 13000 is CUDA 13.0; HIP counts 70000000 for 7.0 */
};

extern struct settings settings;

/* Records a call and says whether it must fail: 0, or the code to answer with. `NULL` as format records the name alone. */
int called(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
void problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* 1 when the process is a fork of the one that started the driver. */
int forked(void);
void start(void);
int started(void);

/* Memory. Each answers 0 where the address or the range is not a live allocation, and records the problem. */
void *allocate(size_t size);
int release(void *address);
int inside(const char *call, const void *address, size_t size);
size_t allocated(void);

struct module *load(int device, const void *image, size_t size);
int unload(struct module *module);
struct function *find(struct module *module, const char *symbol, int arguments);

/* Runs the CPU build of the kernel; 0 when there is none by that name, and records the problem. */
int execute(const struct function *function, const unsigned grid[3], const unsigned block[3], unsigned shared, void **arguments);

#endif
