#include "core.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text {
    char *data;
    size_t length, capacity;
};

struct fault {
    struct fault *next;
    char call[64];
    int skip;  /* calls that still pass */
    int times; /* failures left; -1 for ever */
    int code;
};

struct block {
    struct block *next;
    char *address;
    size_t size;
    int live;
};

struct settings settings;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct text log_text, problem_text;
static struct fault *faults;
static struct block *blocks;
static struct module *modules;
static struct function *functions;
static void *kernels[16];
static int kernel_libraries;
static int quiet;
static int running, child;

static void append(struct text *text, const char *line, size_t length) {
    if (text->length + length + 2 > text->capacity) {
        text->capacity = 2 * (text->length + length) + 4096;
        text->data = realloc(text->data, text->capacity);
    }
    memcpy(text->data + text->length, line, length);
    text->length += length;
    text->data[text->length++] = '\n';
    text->data[text->length] = 0;
}

/* The file outlives the process, so it also shows calls made while the interpreter shuts down. */
static void append_to_file(const char *line) {
    const char *path = getenv("TEST_DRIVER_LOG");
    if (path == NULL) return;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (fd < 0) return;
    dprintf(fd, "%s\n", line);
    close(fd);
}

void problem(const char *format, ...) {
    char line[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(line, sizeof line, format, rest);
    va_end(rest);
    append(&problem_text, line, strlen(line));
    append_to_file(line);
}

int called(const char *name, const char *format, ...) {
    char line[512];
    int code = 0;
    if (quiet) return 0;
    size_t length = (size_t)snprintf(line, sizeof line, "%s", name);
    if (format != NULL) {
        va_list rest;
        line[length++] = ' ';
        va_start(rest, format);
        vsnprintf(line + length, sizeof line - length, format, rest);
        va_end(rest);
    }
    pthread_mutex_lock(&lock);
    append(&log_text, line, strlen(line));
    append_to_file(line);
    for (struct fault *fault = faults; fault != NULL && code == 0; fault = fault->next) {
        if (fault->times == 0 || (strcmp(fault->call, name) != 0 && strcmp(fault->call, "*") != 0)) continue;
        if (fault->skip > 0) {
            fault->skip--;
            continue;
        }
        if (fault->times > 0) fault->times--;
        code = fault->code;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static void in_child(void) { child = running; }

int forked(void) { return child; }

void start(void) {
    if (!running) pthread_atfork(NULL, NULL, in_child);
    running = 1;
}

int started(void) { return running; }

/* ---- memory ---- */

void *allocate(size_t size) {
    struct block *block = calloc(1, sizeof *block);
    block->address = malloc(size);
    if (block->address == NULL) {
        free(block);
        return NULL;
    }
    memset(block->address, 0xA5, size); /* fresh memory is not zero */
    block->size = size;
    block->live = 1;
    pthread_mutex_lock(&lock);
    block->next = blocks;
    blocks = block;
    pthread_mutex_unlock(&lock);
    return block->address;
}

int release(void *address) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL && !found; block = block->next) {
        if (block->address == address && block->live) {
            /* Kept, not freed: a later use must not read memory that malloc has given to somebody else. */
            memset(block->address, 0xDD, block->size);
            block->live = 0;
            found = 1;
        }
    }
    pthread_mutex_unlock(&lock);
    if (!found) problem("free of %p, which is no live allocation", address);
    return found;
}

int inside(const char *call, const void *address, size_t size) {
    int found = 0;
    const char *at = address;
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL && !found; block = block->next)
        found = block->live && at >= block->address && at + size <= block->address + block->size;
    pthread_mutex_unlock(&lock);
    if (!found) problem("%s: %p + %zu is not inside a live allocation", call, address, size);
    return found;
}

size_t allocated(void) {
    size_t sum = 0;
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL; block = block->next)
        if (block->live) sum += block->size;
    pthread_mutex_unlock(&lock);
    return sum;
}

/* ---- modules ---- */

struct module *load(int device, const void *image, size_t size) {
    struct module *module = calloc(1, sizeof *module);
    module->image = malloc(size + 1);
    memcpy(module->image, image, size);
    module->image[size] = 0;
    module->size = size;
    module->device = device;
    module->live = 1;
    pthread_mutex_lock(&lock);
    module->next = modules;
    modules = module;
    pthread_mutex_unlock(&lock);
    return module;
}

int unload(struct module *module) {
    if (module == NULL || !module->live) {
        problem("unload of a module that is not loaded");
        return 0;
    }
    module->live = 0;
    return 1;
}

struct function *find(struct module *module, const char *symbol, int arguments) {
    struct function *function = calloc(1, sizeof *function);
    function->module = module;
    function->arguments = arguments;
    snprintf(function->symbol, sizeof function->symbol, "%s", symbol);
    pthread_mutex_lock(&lock);
    function->next = functions;
    functions = function;
    pthread_mutex_unlock(&lock);
    return function;
}

struct launch {
    uint64_t grid[3], block[3], shared;
};

int execute(const struct function *function, const unsigned grid[3], const unsigned block[3], unsigned shared, void **arguments) {
    struct launch launch = {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared};
    for (int i = 0; i < function->arguments; i++) {
        if (arguments[i] == NULL) {
            problem("launch of %s: argument %d is null", function->symbol, i);
            return 0;
        }
    }
    for (int i = 0; i < kernel_libraries; i++) {
        void (*entry)(void **, struct launch *, uint64_t, uint64_t) =
            (void (*)(void **, struct launch *, uint64_t, uint64_t))dlsym(kernels[i], function->symbol);
        if (entry == NULL) continue;
        entry(arguments, &launch, 0, UINT64_MAX);
        return 1;
    }
    problem("launch of %s: no CPU build of it was given", function->symbol);
    return 0;
}

/* ---- control, called by the tests through ctypes ---- */

EXPORT void test_driver_device(int ordinal, const char *arch) {
    snprintf(settings.device[ordinal].arch, sizeof settings.device[ordinal].arch, "%s", arch);
    if (settings.devices <= ordinal) settings.devices = ordinal + 1;
}

EXPORT void test_driver_devices(int count) { settings.devices = count; }
EXPORT void test_driver_version(int version) { settings.driver_version = version; }

/* Lets `skip` calls of that name ("*": of any) pass and fails the next `times` (-1: all) with `code`. */
EXPORT void test_driver_fail(const char *call, int skip, int times, int code) {
    struct fault *fault = calloc(1, sizeof *fault);
    snprintf(fault->call, sizeof fault->call, "%s", call);
    fault->skip = skip;
    fault->times = times;
    fault->code = code;
    fault->next = faults;
    faults = fault;
}

EXPORT void test_driver_forget_faults(void) { faults = NULL; }

EXPORT int test_driver_kernels(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || kernel_libraries == 16) return 0;
    kernels[kernel_libraries++] = library;
    return 1;
}

EXPORT const char *test_driver_log(void) { return log_text.data == NULL ? "" : log_text.data; }
EXPORT const char *test_driver_problems(void) { return problem_text.data == NULL ? "" : problem_text.data; }
EXPORT size_t test_driver_allocated(void) { return allocated(); }

EXPORT int test_driver_modules(void) {
    int count = 0;
    for (struct module *module = modules; module != NULL; module = module->next) count += module->live;
    return count;
}

/* No record and no fault: for timing. */
EXPORT void test_driver_quiet(int on) { quiet = on; }

/* For a test that makes an unload fail. */
EXPORT void test_driver_forget_modules(void) {
    for (struct module *module = modules; module != NULL; module = module->next) module->live = 0;
}

EXPORT void test_driver_forget_log(void) {
    log_text.length = 0;
    if (log_text.data != NULL) log_text.data[0] = 0;
}

/* Back to one device without faults, kernels or records; live memory and modules stay, so that a leak of one test shows in the next. */
EXPORT void test_driver_reset(void) {
    test_driver_forget_log();
    problem_text.length = 0;
    if (problem_text.data != NULL) problem_text.data[0] = 0;
    faults = NULL;
    kernel_libraries = 0;
}

/* For processes that cannot call the control functions first: TEST_DRIVER_SETUP="device 0 8.6;kernels /path;fail cuInit 100". */
__attribute__((constructor)) static void from_environment(void) {
    const char *setup = getenv("TEST_DRIVER_SETUP");
    if (setup == NULL) return;
    char *copy = strdup(setup), *state = NULL;
    for (char *word = strtok_r(copy, ";", &state); word != NULL; word = strtok_r(NULL, ";", &state)) {
        char text[256];
        int number;
        if (sscanf(word, "device %d %255s", &number, text) == 2) test_driver_device(number, text);
        else if (sscanf(word, "devices %d", &number) == 1) test_driver_devices(number);
        else if (sscanf(word, "version %d", &number) == 1) test_driver_version(number);
        else if (sscanf(word, "fail %255s %d", text, &number) == 2) test_driver_fail(text, 0, -1, number);
        else if (sscanf(word, "kernels %255s", text) == 1) test_driver_kernels(text);
        else problem("setup not understood: %s", word);
    }
    free(copy);
}
