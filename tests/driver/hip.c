/* libamdhip64.so for tests: the runtime calls that Gompute makes, found by hip-python through dlsym. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_CONFIGURATION = 9,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    NO_BINARY_FOR_GPU = 209,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    LAUNCH_FAILURE = 719,
};

typedef int result;

static __thread int current;

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

#define CALL(name, ...)                                     \
    do {                                                    \
        int code = called(name, __VA_ARGS__);               \
        if (code) return code;                              \
        if (forked() || !started()) return NOT_INITIALIZED; \
    } while (0)

EXPORT result hipInit(unsigned flags) {
    int code = called("hipInit", "%u", flags);
    if (code) return code;
    if (forked()) return NOT_INITIALIZED;
    if (settings.devices == 0) return NO_DEVICE;
    start();
    return SUCCESS;
}

EXPORT result hipDriverGetVersion(int *version) {
    int code = called("hipDriverGetVersion", NULL);
    if (code) return code;
    *version = settings.driver_version ? settings.driver_version : 70226015;
    return SUCCESS;
}

EXPORT result hipGetDeviceCount(int *count) {
    CALL("hipGetDeviceCount", NULL);
    *count = settings.devices;
    return SUCCESS;
}

EXPORT result hipGetDevicePropertiesR0600(struct properties *properties, int device) {
    CALL("hipGetDeviceProperties", "%d", device);
    if (device < 0 || device >= settings.devices) return INVALID_DEVICE;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "Test Device %d", device);
    snprintf(properties->gcn_arch_name, sizeof properties->gcn_arch_name, "%s", settings.device[device].arch);
    properties->total_memory = (size_t)1 << 33;
    properties->shared_per_block = 65536;
    properties->max_threads = 1024;
    properties->max_grid[0] = 2147483647;
    properties->max_grid[1] = properties->max_grid[2] = 65536;
    return SUCCESS;
}

EXPORT result hipGetDevice(int *device) {
    CALL("hipGetDevice", NULL);
    *device = current;
    return SUCCESS;
}

EXPORT result hipSetDevice(int device) {
    CALL("hipSetDevice", "%d", device);
    if (device < 0 || device >= settings.devices) return INVALID_DEVICE;
    current = device;
    return SUCCESS;
}

EXPORT result hipDeviceSynchronize(void) {
    CALL("hipDeviceSynchronize", NULL);
    return SUCCESS;
}

EXPORT result hipMemGetInfo(size_t *available, size_t *total) {
    CALL("hipMemGetInfo", NULL);
    *total = (size_t)1 << 33;
    *available = *total - allocated();
    return SUCCESS;
}

EXPORT result hipMalloc(void **address, size_t size) {
    CALL("hipMalloc", "%zu", size);
    if (size == 0) return *address = NULL, SUCCESS;
    *address = allocate(size);
    return *address ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT result hipFree(void *address) {
    CALL("hipFree", NULL);
    return address == NULL || release(address) ? SUCCESS : INVALID_VALUE;
}

EXPORT result hipMemcpyHtoD(void *target, const void *source, size_t size) {
    CALL("hipMemcpyHtoD", "%zu", size);
    if (source == NULL || !inside("hipMemcpyHtoD", target, size)) return INVALID_VALUE;
    memcpy(target, source, size);
    return SUCCESS;
}

EXPORT result hipMemcpyDtoH(void *target, void *source, size_t size) {
    CALL("hipMemcpyDtoH", "%zu", size);
    if (target == NULL || !inside("hipMemcpyDtoH", source, size)) return INVALID_VALUE;
    memcpy(target, source, size);
    return SUCCESS;
}

/* ---- modules ---- */

EXPORT result hipModuleLoadData(void **module, const unsigned char *image) {
    uint64_t sections;
    uint16_t machine, entry, count;
    CALL("hipModuleLoadData", NULL);
    memcpy(&machine, image + 18, 2);
    if (memcmp(image, "\177ELF", 4) != 0) return INVALID_IMAGE;
    if (machine != 224) return NO_BINARY_FOR_GPU; /* EM_AMDGPU */
    memcpy(&sections, image + 40, 8);
    memcpy(&entry, image + 58, 2);
    memcpy(&count, image + 60, 2);
    *module = load(current, image, sections + (size_t)entry * count);
    return SUCCESS;
}

EXPORT result hipModuleUnload(void *module) {
    CALL("hipModuleUnload", NULL);
    return unload(module) ? SUCCESS : INVALID_HANDLE;
}

EXPORT result hipModuleGetFunction(void **function, struct module *module, const char *symbol) {
    char descriptor[MAX_SYMBOL + 4];
    CALL("hipModuleGetFunction", "%s", symbol);
    if (module == NULL || !module->live) return INVALID_HANDLE;
    size_t length = (size_t)snprintf(descriptor, sizeof descriptor, "%s.kd", symbol) + 1;
    for (size_t i = 0; i + length <= module->size; i++) {
        /* A string table's entry: preceded by a null, ended by one. */
        if (i > 0 && module->image[i - 1] == 0 && memcmp(module->image + i, descriptor, length) == 0) {
            *function = find(module, symbol, -1);
            return SUCCESS;
        }
    }
    return NOT_FOUND;
}

EXPORT result hipModuleLaunchKernel(struct function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                    void *stream, void **arguments, void **extra) {
    const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    CALL("hipModuleLaunchKernel", "%s grid=%u,%u,%u block=%u,%u,%u shared=%u", function ? function->symbol : "null", gx, gy, gz, bx, by, bz, shared);
    if (function == NULL || !function->module->live || function->module->device != current) return INVALID_HANDLE;
    if (stream != NULL || extra != NULL || arguments == NULL) return INVALID_VALUE;
    if (gx == 0 || gy == 0 || gz == 0 || bx == 0 || by == 0 || bz == 0 || bx * by * bz > 1024) return INVALID_CONFIGURATION;
    if ((uint64_t)gx * bx > UINT32_MAX || (uint64_t)gy * by > UINT32_MAX || (uint64_t)gz * bz > UINT32_MAX) return INVALID_CONFIGURATION;
    return execute(function, grid, block, shared, arguments) ? SUCCESS : LAUNCH_FAILURE;
}

EXPORT const char *hipGetErrorString(int code) {
    switch (code) {
    case SUCCESS: return "no error";
    case INVALID_VALUE: return "invalid argument";
    case OUT_OF_MEMORY: return "out of memory";
    case NOT_INITIALIZED: return "initialization error";
    case NO_DEVICE: return "no ROCm-capable device is detected";
    case NO_BINARY_FOR_GPU: return "no kernel image is available for execution on the device";
    case 700: return "an illegal memory access was encountered";
    case LAUNCH_FAILURE: return "unspecified launch failure";
    default: return "unrecognized error";
    }
}
