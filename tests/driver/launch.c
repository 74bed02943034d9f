/* Launches: the kernel's CPU build, or its code in an interpreter, on a stream. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

ENTRY(cuModuleUnload, hipModuleUnload)(void *module) {
    CALL_ON(device, __func__, NULL);
    UNSAFE;
    wait_for_device(device);
    return answer(unload(module) ? SUCCESS : INVALID_HANDLE);
}

static void no_build(void **arguments, void *launch, uint64_t begin, uint64_t end) { (void)arguments, (void)launch, (void)begin, (void)end; }

struct launch {
    const char *image; /* for an interpreter; unloading the module waits for its launches */
    entry *kernel;
    struct {
        uint64_t grid[3], block[3], shared;
        void *scratch;
        uint64_t scratch_size, scratch_needed;
    } shape;
    int arguments, breaks;
    size_t offsets[MAX_ARGUMENTS];
    char symbol[MAX_SYMBOL];
    _Alignas(16) char values[];
};

static void run_launch(struct work *work) {
    struct launch *launch = work->data;
    void *arguments[MAX_ARGUMENTS];
    for (int i = 0; i < launch->arguments; i++) arguments[i] = launch->values + launch->offsets[i];
    launch->shape.scratch = NULL;
    launch->shape.scratch_size = launch->shape.scratch_needed = 0;
    launch->kernel(arguments, &launch->shape, 0, UINT64_MAX);
    if (launch->shape.scratch_needed != 0) {
        launch->shape.scratch_size = launch->shape.scratch_needed;
        launch->shape.scratch = aligned_alloc(64, (launch->shape.scratch_size + 63) / 64 * 64);
        launch->shape.scratch_needed = 0;
        launch->kernel(arguments, &launch->shape, 0, UINT64_MAX);
        free(launch->shape.scratch);
    }
    if (launch->breaks) break_device(work->device, launch->breaks);
}

static void run_interpreted(struct work *work) {
    struct launch *launch = work->data;
    void *arguments[MAX_ARGUMENTS];
    for (int i = 0; i < launch->arguments; i++) arguments[i] = launch->values + launch->offsets[i];
    interpret(launch->image, launch->symbol, launch->shape.grid, launch->shape.block, launch->shape.shared, arguments);
}

/* The arguments are copied, as a driver does: it knows their sizes from the code. */
static result launch(struct function *function, struct stream *stream, const unsigned grid[3], const unsigned block[3], unsigned shared, void **arguments) {
    size_t size = sizeof(struct launch);
    for (int i = 0; i < function->arguments; i++) size += ((size_t)function->sizes[i] + 15) / 16 * 16;
    struct launch *all = calloc(1, size);
    for (int i = 0; i < 3; i++) all->shape.grid[i] = grid[i], all->shape.block[i] = block[i];
    all->shape.shared = shared;
    all->arguments = function->arguments;
    memcpy(all->symbol, function->symbol, sizeof all->symbol);
    all->breaks = breaks(function->symbol); /* of now: what was launched before keeps its way, whenever it runs */
    all->image = function->module->image;
    all->kernel = interpret != NULL ? no_build : cpu_build(function->symbol);
    size_t end = 0;
    for (int i = 0; i < function->arguments && all->kernel != NULL; i++) {
        if (arguments[i] == NULL) {
            problem("launch of %s: argument %d is null", function->symbol, i);
            all->kernel = NULL;
            break;
        }
        all->offsets[i] = end;
        memcpy(all->values + end, arguments[i], (size_t)function->sizes[i]);
        end += ((size_t)function->sizes[i] + 15) / 16 * 16;
    }
    result code = LAUNCH_FAILED;
    if (all->kernel != NULL) {
        struct work *work = new_work(function->symbol, stream->device, interpret != NULL ? run_interpreted : run_launch, all, size);
        code = submit(stream, work);
    }
    free(all);
    return code;
}

static int only_counted(void) {
    if (settings.quiet != 2) return 0;
    __atomic_add_fetch(&settings.launches, 1, __ATOMIC_RELAXED);
    return 1;
}

static result launch_checked(const char *call, void *handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                             void *queue, void **arguments, void **extra) {
    const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    struct function *function = known(handle);
    CALL_ON(device, call, "%s grid=%u,%u,%u block=%u,%u,%u shared=%u", function ? function->symbol : "null", gx, gy, gz, bx, by, bz, shared);
    if (function == NULL || function->module->device != device) return answer(INVALID_HANDLE);
    STREAM(stream, queue);
    if (extra != NULL || (arguments == NULL && function->arguments != 0)) return answer(INVALID_VALUE);
    if (function->arguments < 0) {
        problem("launch of %s: its blob does not say its arguments", function->symbol);
        return answer(INVALID_VALUE);
    }
    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || block[i] == 0) return answer(INVALID_VALUE);
    if (bx * by * bz > 1024 || gx > 2147483647u || gy > 65536 || gz > 65536) return answer(INVALID_VALUE);
#ifdef CUDA
    if (gy == 65536 || gz == 65536) return answer(INVALID_VALUE);
#else
    for (int i = 0; i < 3; i++)
        if ((uint64_t)grid[i] * block[i] > UINT32_MAX) return answer(INVALID_VALUE);
#endif
    return answer(launch(function, stream, grid, block, shared, arguments));
}

ENTRY(cuLaunchKernel, hipModuleLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                             void *queue, void **arguments, void **extra) {
    return only_counted() ? SUCCESS : launch_checked(__func__, function, gx, gy, gz, bx, by, bz, shared, queue, arguments, extra);
}

#ifdef CUDA
struct launch_config {
    unsigned gx, gy, gz, bx, by, bz, shared;
    void *queue, *attributes;
    unsigned count;
};

static result launch_by_config(const char *call, const struct launch_config *c, void *function, void **arguments, void **extra) {
    if (only_counted()) return SUCCESS;
    if (c == NULL || c->count != 0) return answer(INVALID_VALUE);
    return launch_checked(call, function, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, c->queue, arguments, extra);
}

EXPORT result cuLaunchKernelEx(const struct launch_config *config, void *function, void **arguments, void **extra) {
    return launch_by_config(__func__, config, function, arguments, extra);
}

/* With the default stream of the thread, which here is the default stream. */
EXPORT result cuLaunchKernelEx_ptsz(const struct launch_config *config, void *function, void **arguments, void **extra) {
    return launch_by_config(__func__, config, function, arguments, extra);
}
#endif
