/* libcuda.so.1 for tests: the driver calls that Gompute makes, found by cuda-python through cuGetProcAddress_v2. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719,
};

typedef int result;

struct context {
    int device;
    int retained;
};

static struct context contexts[MAX_DEVICES];
static __thread struct context *current;

EXPORT int test_driver_retained(void) {
    int count = 0;
    for (int i = 0; i < MAX_DEVICES; i++) count += contexts[i].retained;
    return count;
}

#define CALL(name, ...)                                  \
    do {                                                 \
        int code = called(name, __VA_ARGS__);            \
        if (code) return code;                           \
        if (forked() || !started()) return NOT_INITIALIZED; \
    } while (0)

#define CALL_IN_CONTEXT(name, ...)                       \
    do {                                                 \
        CALL(name, __VA_ARGS__);                         \
        if (current == NULL || !current->retained) return INVALID_CONTEXT; \
    } while (0)

static result init(unsigned flags) {
    int code = called("cuInit", "%u", flags);
    if (code) return code;
    if (forked()) return NOT_INITIALIZED;
    if (settings.devices == 0) return NO_DEVICE;
    for (int i = 0; i < MAX_DEVICES; i++) contexts[i].device = i;
    start();
    return SUCCESS;
}

static result driver_get_version(int *version) {
    int code = called("cuDriverGetVersion", NULL);
    if (code) return code;
    *version = settings.driver_version ? settings.driver_version : 13000;
    return SUCCESS;
}

static result device_get_count(int *count) {
    CALL("cuDeviceGetCount", NULL);
    *count = settings.devices;
    return SUCCESS;
}

static result device_get(int *device, int ordinal) {
    CALL("cuDeviceGet", "%d", ordinal);
    if (ordinal < 0 || ordinal >= settings.devices) return INVALID_DEVICE;
    *device = ordinal;
    return SUCCESS;
}

static result device_get_name(char *name, int length, int device) {
    CALL("cuDeviceGetName", "%d", device);
    snprintf(name, (size_t)length, "Test Device %d", device);
    return SUCCESS;
}

static result device_get_attribute(int *value, int attribute, int device) {
    int major = 0, minor = 0;
    CALL("cuDeviceGetAttribute", "%d %d", attribute, device);
    sscanf(settings.device[device].arch, "%d.%d", &major, &minor);
    switch (attribute) {
    case 1: *value = 1024; return SUCCESS;       /* MAX_THREADS_PER_BLOCK */
    case 5: *value = 2147483647; return SUCCESS; /* MAX_GRID_DIM_X */
    case 6:                                      /* MAX_GRID_DIM_Y */
    case 7: *value = 65535; return SUCCESS;      /* MAX_GRID_DIM_Z */
    case 75: *value = major; return SUCCESS;     /* COMPUTE_CAPABILITY_MAJOR */
    case 76: *value = minor; return SUCCESS;     /* COMPUTE_CAPABILITY_MINOR */
    case 97: *value = 101376; return SUCCESS;    /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
    default: problem("cuDeviceGetAttribute: attribute %d is not emulated", attribute); return INVALID_VALUE;
    }
}

static result primary_context_retain(void **context, int device) {
    CALL("cuDevicePrimaryCtxRetain", "%d", device);
    contexts[device].retained++;
    *context = &contexts[device];
    return SUCCESS;
}

static result primary_context_release(int device) {
    CALL("cuDevicePrimaryCtxRelease", "%d", device);
    if (contexts[device].retained == 0) {
        problem("cuDevicePrimaryCtxRelease: device %d is not retained", device);
        return INVALID_CONTEXT;
    }
    contexts[device].retained--;
    return SUCCESS;
}

static result context_get_current(void **context) {
    CALL("cuCtxGetCurrent", NULL);
    *context = current;
    return SUCCESS;
}

static result context_set_current(void *context) {
    CALL("cuCtxSetCurrent", "%d", context == NULL ? -1 : ((struct context *)context)->device);
    current = context;
    return SUCCESS;
}

static result context_synchronize(void) {
    CALL_IN_CONTEXT("cuCtxSynchronize", NULL);
    return SUCCESS;
}

static result memory_get_info(size_t *available, size_t *total) {
    CALL_IN_CONTEXT("cuMemGetInfo", NULL);
    *total = (size_t)1 << 33;
    *available = *total - allocated();
    return SUCCESS;
}

static result memory_allocate(uint64_t *address, size_t size) {
    CALL_IN_CONTEXT("cuMemAlloc", "%zu", size);
    if (size == 0) return INVALID_VALUE;
    *address = (uint64_t)(uintptr_t)allocate(size);
    return *address ? SUCCESS : OUT_OF_MEMORY;
}

static result memory_free(uint64_t address) {
    CALL_IN_CONTEXT("cuMemFree", NULL);
    return release((void *)(uintptr_t)address) ? SUCCESS : INVALID_VALUE;
}

static result copy_to_device(uint64_t target, const void *source, size_t size) {
    CALL_IN_CONTEXT("cuMemcpyHtoD", "%zu", size);
    if (source == NULL || !inside("cuMemcpyHtoD", (void *)(uintptr_t)target, size)) return INVALID_VALUE;
    memcpy((void *)(uintptr_t)target, source, size);
    return SUCCESS;
}

static result copy_to_host(void *target, uint64_t source, size_t size) {
    CALL_IN_CONTEXT("cuMemcpyDtoH", "%zu", size);
    if (target == NULL || !inside("cuMemcpyDtoH", (void *)(uintptr_t)source, size)) return INVALID_VALUE;
    memcpy(target, (void *)(uintptr_t)source, size);
    return SUCCESS;
}

/* ---- modules ---- */

static size_t elf_size(const unsigned char *image) {
    uint64_t sections;
    uint16_t entry, count;
    memcpy(&sections, image + 40, 8);
    memcpy(&entry, image + 58, 2);
    memcpy(&count, image + 60, 2);
    return sections + (size_t)entry * count;
}

static int newest_ptx(int driver) {
    int major = driver / 1000, minor = driver % 1000 / 10;
    if (major >= 13) return 10 * (major - 4) + minor;
    if (major == 12) return 80 + minor - (minor >= 6);
    return 70 + minor;
}

static result module_load_data(void **module, const void *image, unsigned count, const int *options, void **values) {
    char *log = NULL;
    size_t room = 0;
    int ptx_major, ptx_minor, arch, major = 0, minor = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5) log = values[i];                       /* ERROR_LOG_BUFFER */
        if (options[i] == 6) room = (size_t)(uintptr_t)values[i];   /* ERROR_LOG_BUFFER_SIZE_BYTES */
    }
    if (log == NULL || room == 0) problem("cuModuleLoadDataEx: no error log buffer was passed");
    if (log != NULL) snprintf(log, room, "ptxas application ptx input, line 1; error   : made to fail by the test");
    CALL_IN_CONTEXT("cuModuleLoadDataEx", "%u options", count);
    if (log != NULL) log[0] = 0;
    if (memcmp(image, "\177ELF", 4) == 0) {
        *module = load(current->device, image, elf_size(image));
        return SUCCESS;
    }
    const char *version = strstr(image, ".version "), *target = strstr(image, ".target sm_");
    if (version == NULL || target == NULL || sscanf(version, ".version %d.%d", &ptx_major, &ptx_minor) != 2 || sscanf(target, ".target sm_%d", &arch) != 1)
        return INVALID_IMAGE;
    int newest = newest_ptx(settings.driver_version ? settings.driver_version : 13000);
    if (10 * ptx_major + ptx_minor > newest) {
        if (log != NULL) snprintf(log, room, "ptxas fatal   : Unsupported .version %d.%d; current version is '%d.%d'", ptx_major, ptx_minor, newest / 10, newest % 10);
        return UNSUPPORTED_PTX_VERSION;
    }
    sscanf(settings.device[current->device].arch, "%d.%d", &major, &minor);
    if (arch > 10 * major + minor) {
        if (log != NULL) snprintf(log, room, "ptxas fatal   : SM version specified by .target is higher than default SM version assumed");
        return INVALID_PTX;
    }
    *module = load(current->device, image, strlen(image));
    return SUCCESS;
}

static result module_unload(void *module) {
    CALL_IN_CONTEXT("cuModuleUnload", NULL);
    return unload(module) ? SUCCESS : INVALID_HANDLE;
}

/* Parameters that the PTX entry declares; -1 for a cubin, 0 - 2 when there is no such entry. */
static int parameters(const char *ptx, const char *symbol) {
    char entry[MAX_SYMBOL + 16];
    snprintf(entry, sizeof entry, ".entry %s(", symbol);
    const char *at = strstr(ptx, entry);
    if (at == NULL) return -2;
    const char *end = strchr(at, ')');
    int count = 0;
    while ((at = strstr(at + 1, ".param")) != NULL && at < end) count++;
    return count;
}

static result module_get_function(void **function, struct module *module, const char *symbol) {
    CALL_IN_CONTEXT("cuModuleGetFunction", "%s", symbol);
    if (module == NULL || !module->live) return INVALID_HANDLE;
    int count = -1;
    if (memcmp(module->image, "\177ELF", 4) != 0 && (count = parameters(module->image, symbol)) == -2) return NOT_FOUND;
    *function = find(module, symbol, count);
    return SUCCESS;
}

static result function_set_attribute(void *function, int attribute, int value) {
    CALL_IN_CONTEXT("cuFuncSetAttribute", "%d %d", attribute, value);
    return function == NULL ? INVALID_HANDLE : SUCCESS;
}

static result launch_kernel(struct function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                            void **arguments, void **extra) {
    const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    CALL_IN_CONTEXT("cuLaunchKernel", "%s grid=%u,%u,%u block=%u,%u,%u shared=%u", function ? function->symbol : "null", gx, gy, gz, bx, by, bz, shared);
    if (function == NULL || !function->module->live || function->module->device != current->device) return INVALID_HANDLE;
    if (stream != NULL || extra != NULL || (arguments == NULL && function->arguments != 0)) return INVALID_VALUE;
    if (gx == 0 || gy == 0 || gz == 0 || gx > 2147483647u || gy > 65535 || gz > 65535) return INVALID_VALUE;
    if (bx == 0 || by == 0 || bz == 0 || bx * by * bz > 1024) return INVALID_VALUE;
    return execute(function, grid, block, shared, arguments) ? SUCCESS : LAUNCH_FAILED;
}

/* ---- names ---- */

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
};

static result get_error_name(int code, const char **name) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return *name = errors[i].name, SUCCESS;
    return *name = NULL, INVALID_VALUE;
}

static result get_error_string(int code, const char **text) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return *text = errors[i].text, SUCCESS;
    return *text = NULL, INVALID_VALUE;
}

EXPORT result cuGetProcAddress_v2(const char *symbol, void **address, int version, uint64_t flags, int *status) {
    static const struct {
        const char *name;
        void *address;
    } table[] = {
        {"cuGetProcAddress", (void *)cuGetProcAddress_v2},
        {"cuInit", (void *)init},
        {"cuDriverGetVersion", (void *)driver_get_version},
        {"cuDeviceGetCount", (void *)device_get_count},
        {"cuDeviceGet", (void *)device_get},
        {"cuDeviceGetName", (void *)device_get_name},
        {"cuDeviceGetAttribute", (void *)device_get_attribute},
        {"cuDevicePrimaryCtxRetain", (void *)primary_context_retain},
        {"cuDevicePrimaryCtxRelease", (void *)primary_context_release},
        {"cuCtxGetCurrent", (void *)context_get_current},
        {"cuCtxSetCurrent", (void *)context_set_current},
        {"cuCtxSynchronize", (void *)context_synchronize},
        {"cuMemGetInfo", (void *)memory_get_info},
        {"cuMemAlloc", (void *)memory_allocate},
        {"cuMemFree", (void *)memory_free},
        {"cuMemcpyHtoD", (void *)copy_to_device},
        {"cuMemcpyDtoH", (void *)copy_to_host},
        {"cuModuleLoadDataEx", (void *)module_load_data},
        {"cuModuleUnload", (void *)module_unload},
        {"cuModuleGetFunction", (void *)module_get_function},
        {"cuFuncSetAttribute", (void *)function_set_attribute},
        {"cuLaunchKernel", (void *)launch_kernel},
        {"cuGetErrorName", (void *)get_error_name},
        {"cuGetErrorString", (void *)get_error_string},
    };
    (void)version, (void)flags;
    *address = NULL;
    if (status != NULL) *status = 1; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, symbol) != 0) continue;
        *address = table[i].address;
        if (status != NULL) *status = 0;
        return SUCCESS;
    }
    return NOT_FOUND;
}
