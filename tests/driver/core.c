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

struct settings settings;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct text log_text, problem_text;
static struct fault *faults;
static struct module *modules;
static int breaking;
static char breaking_symbol[MAX_SYMBOL];
static void *kernels[16];
static int kernel_libraries;
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
    pthread_mutex_lock(&lock);
    append(&problem_text, line, strlen(line));
    append_to_file(line);
    pthread_mutex_unlock(&lock);
}

int called(const char *name, const char *format, ...) {
    char line[512];
    int code = 0;
    if (settings.quiet) return 0;
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

/* ---- modules ---- */

struct module *load(int device, const void *image, size_t size) {
    struct module *module = calloc(1, sizeof *module);
    module->image = malloc(size + 1);
    memcpy(module->image, image, size);
    module->image[size] = 0;
    module->size = size;
    module->device = device;
    pthread_mutex_lock(&lock);
    module->next = modules;
    modules = module;
    pthread_mutex_unlock(&lock);
    return module;
}

int loaded(struct module *wanted) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (struct module *module = modules; module != NULL && !found; module = module->next) found = module == wanted;
    pthread_mutex_unlock(&lock);
    return found;
}

int unload(struct module *module) {
    if (!loaded(module)) {
        problem("unload of a module that is not loaded");
        return 0;
    }
    pthread_mutex_lock(&lock);
    for (struct module **at = &modules; *at != NULL; at = &(*at)->next) {
        if (*at != module) continue;
        *at = module->next;
        break;
    }
    pthread_mutex_unlock(&lock);
    while (module->functions != NULL) {
        struct function *function = module->functions;
        module->functions = function->next;
        free(function);
    }
    free(module->image);
    free(module);
    return 1;
}

/* Sizes of a kernel's arguments: PTX has them in its entry, AMD's code in its metadata, the tests' own blobs in a string "SYMBOL.args=8,4". */
static void read_arguments(const struct module *module, struct function *function) {
    char text[MAX_SYMBOL + 16];
    size_t length;
    function->arguments = -1;
    snprintf(text, sizeof text, ".entry %s(", function->symbol);
    const char *at = strstr(module->image, text);
    if (at != NULL) {
        const char *end = strchr(at, ')');
        function->arguments = 0;
        while ((at = strstr(at, ".param ")) != NULL && at < end && function->arguments < MAX_ARGUMENTS) {
            at += strlen(".param ");
            const char *size = strchr(at, '['), *next = strchr(at, ',');
            int bits = 8;
            if (size != NULL && size < end && (next == NULL || size < next)) function->sizes[function->arguments++] = atoi(size + 1);
            else if (sscanf(at, ".%*1[usbf]%d", &bits) == 1) function->sizes[function->arguments++] = bits / 8;
        }
        return;
    }
    length = (size_t)snprintf(text, sizeof text, "%s.args=", function->symbol);
    for (size_t i = 0; i + length <= module->size; i++) {
        if (memcmp(module->image + i, text, length) != 0) continue;
        char *number = module->image + i + length;
        function->arguments = 0;
        while (*number >= '0' && *number <= '9' && function->arguments < MAX_ARGUMENTS) {
            function->sizes[function->arguments++] = (int)strtol(number, &number, 10);
            if (*number == ',') number++;
        }
        return;
    }
    read_metadata(module, function);
}

struct function *find(struct module *module, const char *symbol) {
    struct function *function = calloc(1, sizeof *function);
    function->module = module;
    snprintf(function->symbol, sizeof function->symbol, "%s", symbol);
    read_arguments(module, function);
    pthread_mutex_lock(&lock);
    function->next = module->functions;
    module->functions = function;
    pthread_mutex_unlock(&lock);
    return function;
}

struct function *known(void *handle) {
    struct function *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct module *module = modules; module != NULL && found == NULL; module = module->next)
        for (struct function *function = module->functions; function != NULL && found == NULL; function = function->next)
            if (function == handle) found = function;
    pthread_mutex_unlock(&lock);
    if (found == NULL) problem("%p is no kernel of a loaded module", handle);
    return found;
}

entry *cpu_build(const char *symbol) {
    for (int i = 0; i < kernel_libraries; i++) {
        entry *found = (entry *)dlsym(kernels[i], symbol);
        if (found != NULL) return found;
    }
    problem("launch of %s: no CPU build of it was given", symbol);
    return NULL;
}

int breaks(const char *symbol) {
    pthread_mutex_lock(&lock);
    int code = strcmp(breaking_symbol, symbol) == 0 ? breaking : 0;
    pthread_mutex_unlock(&lock);
    return code;
}

void break_device(int device, int code) {
    pthread_mutex_lock(&lock);
    if (breaking != 0) settings.device[device].error = code;
    pthread_mutex_unlock(&lock);
}

void wipe(int device) {
    wipe_queues(device);
    wipe_graphs();
    wipe_memory(device);
    for (struct module *module = modules, *next; module != NULL; module = next) {
        next = module->next;
        if (module->device == device) unload(module);
    }
}

/* ---- control, called by the tests through ctypes ---- */

EXPORT void test_driver_wipe(void) { wipe(0); }

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

EXPORT void test_driver_forget_faults(void) {
    while (faults != NULL) {
        struct fault *fault = faults;
        faults = fault->next;
        free(fault);
    }
}

interpreter *interpret;

/* Launches go there from now on; NULL: to CPU builds again. */
EXPORT void test_driver_interpreter(interpreter *function) { interpret = function; }

EXPORT int test_driver_kernels(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || kernel_libraries == 16) return 0;
    kernels[kernel_libraries++] = library;
    return 1;
}

EXPORT const char *test_driver_log(void) { return log_text.data == NULL ? "" : log_text.data; }
EXPORT const char *test_driver_problems(void) { return problem_text.data == NULL ? "" : problem_text.data; }

/* How many of them there are: bytes, pinned, modules, streams, events, graphs, executables. */
EXPORT size_t test_driver_held(const char *what) {
    size_t count = 0;
    if (strcmp(what, "bytes") == 0) return allocated(DEVICE_MEMORY);
    if (strcmp(what, "pinned") == 0) return allocated(PINNED_MEMORY);
    if (strcmp(what, "streams") == 0) return (size_t)count_streams();
    if (strcmp(what, "events") == 0) return (size_t)count_events();
    if (strcmp(what, "graphs") == 0) return (size_t)count_graphs();
    if (strcmp(what, "executables") == 0) return (size_t)count_executables();
    for (struct module *module = modules; module != NULL; module = module->next) count++;
    return count;
}

/* 1: no record and no fault; 2: launches are only counted: for timing. */
EXPORT void test_driver_quiet(int how) { settings.quiet = how; }
EXPORT unsigned long test_driver_launches(void) { return settings.launches; }

/* The most microseconds that a stream waits before each piece of work. */
EXPORT void test_driver_delay(int microseconds) { settings.delay = microseconds; }

/* Has every later launch of a kernel break its device: calls give the code once it has run. 0 mends all, and what was launched until then. */
EXPORT void test_driver_break(const char *symbol, int code) {
    pthread_mutex_lock(&lock);
    snprintf(breaking_symbol, sizeof breaking_symbol, "%s", symbol);
    breaking = code;
    for (int i = 0; i < MAX_DEVICES && code == 0; i++) settings.device[i].error = 0;
    pthread_mutex_unlock(&lock);
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
    test_driver_forget_faults();
    kernel_libraries = 0;
    settings.delay = settings.quiet = 0;
    test_driver_break("", 0);
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
