/* libcuda.so.1 for tests: the driver calls that Gompute makes, found by cuda-python through cuGetProcAddress_v2. */
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INVALID_PTX = 218,
    UNSUPPORTED_PTX_VERSION = 222,
};

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

const int free_of_nothing = INVALID_VALUE;

int answer(int code) { return code; }

int current_device(void) { return current == NULL || !current->retained ? -1 : current->device; }

EXPORT result cuInit(unsigned flags) {
    int code = called(__func__, "%u", flags);
    if (code) return code;
    if (forked()) return NOT_INITIALIZED;
    if (settings.devices == 0) return NO_DEVICE;
    for (int i = 0; i < MAX_DEVICES; i++) contexts[i].device = i;
    start();
    return SUCCESS;
}

EXPORT result cuDriverGetVersion(int *version) {
    int code = called(__func__, NULL);
    if (code) return code;
    *version = settings.driver_version ? settings.driver_version : 13000;
    return SUCCESS;
}

EXPORT result cuDeviceGet(int *device, int ordinal) {
    CALL(__func__, "%d", ordinal);
    if (ordinal < 0 || ordinal >= settings.devices) return INVALID_DEVICE;
    *device = ordinal;
    return SUCCESS;
}

EXPORT result cuDeviceGetName(char *name, int length, int device) {
    CALL(__func__, "%d", device);
    snprintf(name, (size_t)length, "Test Device %d", device);
    return SUCCESS;
}

EXPORT result cuDeviceGetAttribute(int *value, int attribute, int device) {
    int major = 0, minor = 0;
    CALL(__func__, "%d %d", attribute, device);
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

EXPORT result cuDevicePrimaryCtxRetain(void **context, int device) {
    CALL(__func__, "%d", device);
    contexts[device].retained++;
    *context = &contexts[device];
    return SUCCESS;
}

EXPORT result cuDevicePrimaryCtxRelease(int device) {
    CALL(__func__, "%d", device);
    if (contexts[device].retained == 0) {
        problem("cuDevicePrimaryCtxRelease: device %d is not retained", device);
        return INVALID_CONTEXT;
    }
    if (--contexts[device].retained == 0 && settings.device[device].error) {
        /* The context goes, with what broke it and with what could not be given back for it. */
        settings.device[device].error = 0;
        wipe(device);
    }
    return SUCCESS;
}

EXPORT result cuCtxGetCurrent(void **context) {
    CALL(__func__, NULL);
    *context = current;
    return SUCCESS;
}

EXPORT result cuCtxSetCurrent(void *context) {
    CALL(__func__, "%d", context == NULL ? -1 : ((struct context *)context)->device);
    current = context;
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

EXPORT result cuModuleLoadDataEx(void **module, const void *image, unsigned count, const int *options, void **values) {
    char *log = NULL;
    size_t room = 0;
    int ptx_major, ptx_minor, arch, major = 0, minor = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5) log = values[i];                       /* ERROR_LOG_BUFFER */
        if (options[i] == 6) room = (size_t)(uintptr_t)values[i];   /* ERROR_LOG_BUFFER_SIZE_BYTES */
    }
    if (log == NULL || room == 0) problem("cuModuleLoadDataEx: no error log buffer was passed");
    if (log != NULL) snprintf(log, room, "ptxas application ptx input, line 1; error   : made to fail by the test");
    CALL_ON(device, __func__, "%u options", count);
    result why_not = forbidden();
    if (why_not) return why_not;
    if (log != NULL) log[0] = 0;
    if (memcmp(image, "\177ELF", 4) == 0) {
        *module = load(device, image, elf_size(image));
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
    sscanf(settings.device[device].arch, "%d.%d", &major, &minor);
    if (arch > 10 * major + minor) {
        if (log != NULL) snprintf(log, room, "ptxas fatal   : SM version specified by .target is higher than default SM version assumed");
        return INVALID_PTX;
    }
    *module = load(device, image, strlen(image));
    return SUCCESS;
}

EXPORT result cuModuleGetFunction(void **function, struct module *module, const char *symbol) {
    char entry[MAX_SYMBOL + 16];
    CALL_ON(device, __func__, "%s", symbol);
    if (!loaded(module) || module->device != device) return INVALID_HANDLE;
    snprintf(entry, sizeof entry, ".entry %s(", symbol);
    if (memcmp(module->image, "\177ELF", 4) != 0 && strstr(module->image, entry) == NULL) return NOT_FOUND;
    *function = find(module, symbol);
    return SUCCESS;
}

EXPORT result cuFuncSetAttribute(void *function, int attribute, int value) {
    CALL_ON(device, __func__, "%d %d", attribute, value);
    return known(function) == NULL ? INVALID_HANDLE : SUCCESS;
}

struct update {
    int reason;
    void *node, *from;
};

EXPORT result cuGraphExecUpdate(void *handle, void *other, struct update *update) {
    CALL_ON(device, __func__, NULL);
    struct executable *executable = executable_of(handle);
    struct graph *graph = graph_of(other);
    if (executable == NULL || graph == NULL || update == NULL) return INVALID_VALUE;
    memset(update, 0, sizeof *update);
    if (update_executable(executable, graph)) return SUCCESS;
    update->reason = 2; /* CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED */
    return GRAPH_UPDATE_FAILURE;
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
    {ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not begun in this stream"},
    {CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "operation would make the legacy stream depend on a capturing blocking stream"},
    {CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
    {CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "attempt to terminate a thread-local capture sequence from another thread"},
    {GRAPH_UPDATE_FAILURE, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update was not performed because it included changes which violated constraints"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
};

EXPORT result cuGetErrorName(int code, const char **name) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return *name = errors[i].name, SUCCESS;
    return *name = NULL, INVALID_VALUE;
}

EXPORT result cuGetErrorString(int code, const char **text) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return *text = errors[i].text, SUCCESS;
    return *text = NULL, INVALID_VALUE;
}

EXPORT result cuGetProcAddress_v2(const char *symbol, void **address, int version, uint64_t flags, int *status) {
    static void *self;
    Dl_info information;
    (void)version, (void)flags;
    if (self == NULL && dladdr((void *)cuGetProcAddress_v2, &information)) self = dlopen(information.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    *address = strcmp(symbol, "cuGetProcAddress") == 0 ? (void *)cuGetProcAddress_v2 : dlsym(self, symbol);
    if (status != NULL) *status = *address == NULL; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    return *address == NULL ? NOT_FOUND : SUCCESS;
}
