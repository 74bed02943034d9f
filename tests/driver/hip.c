/* libamdhip64.so for tests: the runtime calls that Gompute makes, found by hip-python through dlsym. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_BINARY_FOR_GPU = 209 };

const int free_of_nothing = SUCCESS;

static __thread int last_error;

static __thread int current;

int current_device(void) { return settings.devices ? current : -1; }

/* The last error stays until somebody asks for it, whatever succeeds meanwhile. */
int answer(int code) {
    if (code) last_error = code;
    return code;
}

EXPORT result hipGetLastError(void) {
    int code = last_error;
    called(__func__, NULL);
    last_error = SUCCESS;
    return code;
}

EXPORT int test_driver_last_error(void) { return last_error; }

/* hipDeviceProp_tR0600 as far as its last field that Gompute reads; the places are those of ROCm's hip_runtime_api.h. */
struct properties {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t total_memory;
    size_t shared_per_block;
    int registers;
    int warp_size;
    size_t pitch;
    int max_threads;
    int max_block[3];
    int max_grid[3];
    int clock;
    size_t constant_memory;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int overlap, processors, timeout, integrated, can_map, compute_mode;
    int texture[3 + 2 + 2 + 3 + 2 + 3 + 3 + 1 + 2 + 3 + 2]; /* maxTexture1D to maxTextureCubemapLayered */
    int surface[1 + 2 + 3 + 2 + 3 + 1 + 2];                 /* maxSurface1D to maxSurfaceCubemapLayered */
    size_t surface_alignment;
    int a[16]; /* concurrentKernels to localL1CacheSupported */
    size_t shared_per_processor;
    int b[12]; /* regsPerMultiprocessor to cooperativeMultiDeviceLaunch */
    size_t shared_optin;
    int c[4]; /* pageableMemoryAccessUsesHostPageTables to accessPolicyMaxWindowSize */
    size_t reserved_shared;
    int d[13]; /* hostRegisterSupported to unifiedFunctionPointers */
    int reserved[63];
    int hip_reserved[32];
    char gcn_arch_name[256];
};

EXPORT result hipInit(unsigned flags) {
    int code = called(__func__, "%u", flags);
    if (code) return answer(code);
    if (forked()) return answer(NOT_INITIALIZED);
    if (settings.devices == 0) return answer(NO_DEVICE);
    start();
    return answer(SUCCESS);
}

EXPORT result hipDriverGetVersion(int *version) {
    int code = called(__func__, NULL);
    if (code) return answer(code);
    *version = settings.driver_version ? settings.driver_version : 70226015;
    return answer(SUCCESS);
}

EXPORT result hipGetDevicePropertiesR0600(struct properties *properties, int device) {
    CALL("hipGetDeviceProperties", "%d", device);
    if (device < 0 || device >= settings.devices) return answer(INVALID_DEVICE);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "Test Device %d", device);
    snprintf(properties->gcn_arch_name, sizeof properties->gcn_arch_name, "%s", settings.device[device].arch);
    properties->total_memory = (size_t)1 << 33;
    properties->shared_per_block = 65536;
    properties->max_threads = 1024;
    properties->max_grid[0] = 2147483647;
    properties->max_grid[1] = properties->max_grid[2] = 65536;
    return answer(SUCCESS);
}

EXPORT result hipGetDevice(int *device) {
    CALL(__func__, NULL);
    *device = current;
    return answer(SUCCESS);
}

EXPORT result hipSetDevice(int device) {
    CALL(__func__, "%d", device);
    if (device < 0 || device >= settings.devices) return answer(INVALID_DEVICE);
    current = device;
    return answer(SUCCESS);
}

/* ---- modules ---- */

EXPORT result hipModuleLoadData(void **module, const unsigned char *image) {
    uint64_t sections;
    uint16_t machine, entry, count;
    CALL_ON(device, __func__, NULL);
    result why_not = forbidden();
    if (why_not) return answer(why_not);
    memcpy(&machine, image + 18, 2);
    if (memcmp(image, "\177ELF", 4) != 0) return answer(INVALID_IMAGE);
    if (machine != 224) return answer(NO_BINARY_FOR_GPU); /* EM_AMDGPU */
    memcpy(&sections, image + 40, 8);
    memcpy(&entry, image + 58, 2);
    memcpy(&count, image + 60, 2);
    *module = load(device, image, sections + (size_t)entry * count);
    return answer(SUCCESS);
}

EXPORT result hipModuleGetFunction(void **function, struct module *module, const char *symbol) {
    char descriptor[MAX_SYMBOL + 4];
    CALL_ON(device, __func__, "%s", symbol);
    if (!loaded(module) || module->device != device) return answer(INVALID_HANDLE);
    size_t length = (size_t)snprintf(descriptor, sizeof descriptor, "%s.kd", symbol) + 1;
    for (size_t i = 0; i + length <= module->size; i++) {
        /* A string table's entry: preceded by a null, ended by one. */
        if (i > 0 && module->image[i - 1] == 0 && memcmp(module->image + i, descriptor, length) == 0) {
            *function = find(module, symbol);
            return answer(SUCCESS);
        }
    }
    return answer(NOT_FOUND);
}

EXPORT result hipGraphExecUpdate(void *handle, void *other, void **node, int *reason) {
    CALL_ON(device, __func__, NULL);
    struct executable *executable = executable_of(handle);
    struct graph *graph = graph_of(other);
    if (executable == NULL || graph == NULL || node == NULL || reason == NULL) return answer(INVALID_VALUE);
    *node = NULL;
    *reason = update_executable(executable, graph) ? 0 : 2; /* hipGraphExecUpdateErrorTopologyChanged */
    return answer(*reason ? GRAPH_UPDATE_FAILURE : SUCCESS);
}

EXPORT const char *hipGetErrorString(int code) {
    switch (code) {
    case SUCCESS: return "no error";
    case INVALID_VALUE: return "invalid argument";
    case OUT_OF_MEMORY: return "out of memory";
    case NOT_INITIALIZED: return "initialization error";
    case NO_DEVICE: return "no ROCm-capable device is detected";
    case NO_BINARY_FOR_GPU: return "no kernel image is available for execution on the device";
    case NOT_READY: return "device not ready";
    case INVALID_HANDLE: return "invalid resource handle";
    case NOT_FOUND: return "named symbol not found";
    case GRAPH_UPDATE_FAILURE: return "the graph update was not performed because it included changes which violated constraints";
    case CAPTURE_UNSUPPORTED: return "operation not permitted when stream is capturing";
    case CAPTURE_INVALIDATED: return "operation failed due to a previous error during capture";
    case 700: return "an illegal memory access was encountered";
    case LAUNCH_FAILED: return "unspecified launch failure";
    default: return "unrecognized error";
    }
}
