/* Driver libraries for tests: what both vendors' share.
 *
 * "Device memory" is host memory, a module is a copy of the blob that was loaded, and a launch runs the CPU build of the same kernel, or
 * an interpreter of the module's code, so results come back and can be compared. Every call is recorded; any call can be told to fail; misuse that a real driver would answer
 * with a crash or with silence (use after free, a copy past the end, a null argument) is written down as a problem. Each stream runs its
 * work in a thread of its own, so that a missing wait shows.
 *
 *   core.c     settings, faults, the record, loaded modules, and how tests reach all of it
 *   metadata.c kernels' arguments in AMD's code
 *   memory.c   allocations
 *   queue.c    streams and the order of their work
 *   capture.c  capture and graphs
 *   calls.c, launch.c  the calls that differ in name alone
 *   cuda.c, hip.c  the rest of each vendor
 */
#ifndef TEST_DRIVER_CORE_H
#define TEST_DRIVER_CORE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

enum { MAX_DEVICES = 4, MAX_SYMBOL = 256, MAX_ARGUMENTS = 64, MAX_CAPTURED = 8 };

/* Both vendors' headers have the same numbers. */
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_FAILED = 719,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    CAPTURE_WRONG_THREAD = 908,
    GRAPH_UPDATE_FAILURE = 910,
};

typedef int result;

/* ---- core.c ---- */

struct device {
    char arch[64]; /* "8.6" for CUDA, "gfx90a:sramecc+:xnack-" for HIP */
    int error;     /* what a kernel of this device broke it with; every later call gives it */
};

struct module {
    struct module *next;
    int device;
    char *image;
    size_t size;
    struct function *functions;
};

struct function {
    struct function *next;
    struct module *module;
    char symbol[MAX_SYMBOL];
    int arguments; /* -1 where the blob does not say */
    int sizes[MAX_ARGUMENTS];
};

struct settings {
    int devices;
    struct device device[MAX_DEVICES];
    int driver_version; /* 13000 is CUDA 13.0; HIP counts 70000000 for 7.0 */
    int delay;          /* the most microseconds that a stream waits before each piece of work */
    int quiet;          /* 1: nothing recorded, nothing fails; 2: launches are counted and not run either */
    unsigned long launches;
};

extern struct settings settings;

/* Records a call and says whether it must fail: 0, or the code to answer with. `NULL` as format records the name alone. */
int called(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
void problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* 1 when the process is a fork of the one that started the driver. */
int forked(void);
void start(void);
int started(void);

struct module *load(int device, const void *image, size_t size);
int unload(struct module *module);
int loaded(struct module *module);
struct function *find(struct module *module, const char *symbol);
struct function *known(void *function); /* NULL, and a problem, where it is none */

void read_metadata(const struct module *module, struct function *function); /* metadata.c */

/* The CPU build of a kernel; NULL, and a problem, when there is none by that name. */
typedef void entry(void **arguments, void *launch, uint64_t begin, uint64_t end);
entry *cpu_build(const char *symbol);
/* Runs a module's code in place of a CPU build, where the tests have set it. */
typedef void interpreter(const char *image, const char *symbol, const uint64_t *grid, const uint64_t *block, uint64_t shared, void **arguments);
extern interpreter *interpret;
/* The error with which a launch given now breaks its device, where the tests want that of this kernel; 0 where not. */
int breaks(const char *symbol);
/* Makes that error stick, unless all is mended by now. */
void break_device(int device, int code);
/* Everything of a device is gone. */
void wipe(int device);

/* ---- each vendor ---- */

int current_device(void); /* of this thread, -1 where it has none */
int answer(int code);     /* what a call gives, noted where the vendor keeps it */
extern const int free_of_nothing; /* what freeing a null address gives */

#define CALL(...)                                                   \
    do {                                                            \
        int failure = called(__VA_ARGS__);                          \
        if (failure) return answer(failure);                        \
        if (forked() || !started()) return answer(NOT_INITIALIZED); \
    } while (0)

#define CALL_ON(device, ...)                                                    \
    CALL(__VA_ARGS__);                                                          \
    const int device = current_device();                                        \
    if (device < 0) return answer(INVALID_CONTEXT);                             \
    if (settings.device[device].error) return answer(settings.device[device].error)

/* The calls that differ in name alone. */
#ifdef CUDA
#define ENTRY(cuda, hip) EXPORT result cuda
#else
#define ENTRY(cuda, hip) EXPORT result hip
#endif

/* A call that waits or changes what the device has: no capture of this thread may be under way. */
#define UNSAFE                              \
    do {                                    \
        result why_not = forbidden();       \
        if (why_not) return answer(why_not); \
    } while (0)

#define STREAM(name, handle)                            \
    struct stream *name = stream_of(device, handle);    \
    if (name == NULL) return answer(INVALID_HANDLE)

#define EVENT(name, handle)                             \
    struct event *name = event_of(handle);              \
    if (name == NULL) return answer(INVALID_HANDLE)

/* ---- memory.c ---- */

enum kind_of_memory { DEVICE_MEMORY, PINNED_MEMORY };

void *allocate(int device, enum kind_of_memory kind, size_t size);
int release(enum kind_of_memory kind, void *address);
int inside(const char *call, const void *address, size_t size); /* 0, and a problem, where the range is no live device memory */
void move_bytes(char *target, const char *source, size_t size);
void fill_bytes(char *target, unsigned pattern, unsigned width, size_t count);
size_t allocated(enum kind_of_memory kind);
void wipe_memory(int device);

/* ---- queue.c ---- */

/* That something is done; counted by those who look at it. */
struct done {
    int references, reached;
    uint64_t nanoseconds;
};

/* A piece of work. `data` is freed after its last run. */
struct work {
    char name[MAX_SYMBOL];
    int device;
    void (*run)(struct work *work);
    void *data;
    struct graph *graph;
};

struct stream {
    struct stream *next;
    int device, non_blocking, is_default, ending, held;
    pthread_t thread;
    int has_thread;
    struct task *first, *last;
    struct done *latest;         /* of the last work that was given; for others latest_of */
    struct capture *capture;
    int place;                   /* among the capture's streams */
    unsigned seen[MAX_CAPTURED]; /* how much of each captured stream's work comes before what this one is given next */
};

struct event {
    struct event *next;
    int device, timing;
    struct done *done; /* NULL: never recorded; for others done_of */
    struct capture *capture;
    unsigned seen[MAX_CAPTURED];
};

extern pthread_mutex_t queue_lock;

struct stream *stream_of(int device, void *handle); /* NULL, and a problem, where it is none of that device */
struct event *event_of(void *handle);
struct stream *new_stream(int device, int non_blocking);
void end_stream(struct stream *stream);
void enqueue(struct stream *stream, struct work *work);
/* Of what was given last; held, since another thread's call may put its own in its place at any time. NULL where there is none. */
struct done *latest_of(struct stream *stream);
struct done *done_of(struct event *event);
void record(struct event *event, struct stream *stream);
void wait_after(struct stream *stream, struct event *event);
/* These two let go of what they are given. */
void wait_for(struct done *done);
void wait_for_device(int device);
int is_reached(struct done *done);
struct done *hold(struct done *done);
void let_go(struct done *done);
struct work *new_work(const char *name, int device, void (*run)(struct work *), const void *data, size_t size); /* copies the data */
void drop_work(struct work *work);
void wipe_queues(int device);
int count_streams(void);
int count_events(void);
struct event *new_event(int device, int timing);
void end_event(struct event *event);

/* ---- capture.c ---- */

/* Gives the work to the stream, or to its graph. */
result submit(struct stream *stream, struct work *work);
/* The code for a call that this thread's capture forbids, which it also ends; 0 where there is none. */
result forbidden(void);
result begin_capture(struct stream *stream, int mode);
result end_capture(struct stream *stream, struct graph **graph);
result record_captured(struct stream *stream, struct event *event);
result wait_captured(struct stream *stream, struct event *event);
result invalidate(struct stream *stream, int code);
void give_up_capture(struct stream *stream);

struct graph *graph_of(void *handle);
struct executable *executable_of(void *handle);
struct executable *new_executable(struct graph *graph);
struct graph *graph_of_executable(struct executable *executable);
void end_graph(struct graph *graph);
void end_executable(struct executable *executable);
int update_executable(struct executable *executable, struct graph *graph);
void hold_graph(struct graph *graph);
void let_go_graph(struct graph *graph);
void run_graph(struct work *work);
void wipe_graphs(void);
int count_graphs(void);
int count_executables(void);

#endif
