/* Streams: each runs its work in order in a thread of its own.
 *
 * The default stream of a device waits for the work of its blocking streams, and they for its work, as both vendors' legacy default
 * stream does. What waits for something holds a `struct done` of it, which outlives streams and events.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct task {
    struct task *next;
    struct work *work;
    struct done *done;
    struct done *waits[64];
    int waiting;
};

pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct stream *streams;
static struct event *events;
static struct stream *defaults[MAX_DEVICES];

struct done *hold(struct done *done) {
    if (done != NULL) __atomic_add_fetch(&done->references, 1, __ATOMIC_SEQ_CST);
    return done;
}

void let_go(struct done *done) {
    if (done != NULL && __atomic_sub_fetch(&done->references, 1, __ATOMIC_SEQ_CST) == 0) free(done);
}

struct work *new_work(const char *name, int device, void (*run)(struct work *), const void *data, size_t size) {
    struct work *work = calloc(1, sizeof *work);
    strncpy(work->name, name, sizeof work->name - 1);
    work->device = device;
    work->run = run;
    work->data = malloc(size);
    memcpy(work->data, data, size);
    return work;
}

void drop_work(struct work *work) {
    if (work == NULL) return;
    if (work->graph != NULL) let_go_graph(work->graph);
    free(work->data);
    free(work);
}

/* The lock is held. Until here a destroyed stream with work left counts as one of the device's. */
static void unlink_stream(struct stream *stream) {
    for (struct stream **at = &streams; *at != NULL; at = &(*at)->next) {
        if (*at != stream) continue;
        *at = stream->next;
        break;
    }
    let_go(stream->latest);
    free(stream);
}

static void *serve(void *argument) {
    struct stream *stream = argument;
    unsigned seed = (unsigned)(uintptr_t)stream;
    pthread_mutex_lock(&queue_lock);
    for (;;) {
        while (stream->first == NULL && !stream->ending) pthread_cond_wait(&changed, &queue_lock);
        struct task *task = stream->first;
        if (task == NULL) break;
        for (int i = 0; i < task->waiting; i++) {
            while (!task->waits[i]->reached) pthread_cond_wait(&changed, &queue_lock);
            let_go(task->waits[i]);
        }
        while (stream->held) pthread_cond_wait(&changed, &queue_lock);
        pthread_mutex_unlock(&queue_lock);
        if (settings.delay > 0) usleep((unsigned)rand_r(&seed) % (unsigned)settings.delay);
        if (task->work != NULL) task->work->run(task->work);
        drop_work(task->work);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        pthread_mutex_lock(&queue_lock);
        task->done->nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
        task->done->reached = 1;
        let_go(task->done);
        stream->first = task->next;
        if (stream->first == NULL) stream->last = NULL;
        free(task);
        pthread_cond_broadcast(&changed);
    }
    unlink_stream(stream);
    pthread_mutex_unlock(&queue_lock);
    return NULL;
}

static struct stream *default_of(int device) {
    if (defaults[device] == NULL) {
        defaults[device] = calloc(1, sizeof *defaults[device]);
        defaults[device]->device = device;
        defaults[device]->is_default = 1;
    }
    return defaults[device];
}

static void wait_before(struct task *task, struct done *other) {
    if (other == NULL || other->reached) return;
    if (task->waiting == 64) problem("more streams than the test driver can order");
    else task->waits[task->waiting++] = hold(other);
}

/* The lock is held, and as long as it is the task does not begin. */
static struct task *enqueue_locked(struct stream *stream, struct work *work) {
    struct task *task = calloc(1, sizeof *task);
    task->work = work;
    task->done = calloc(1, sizeof *task->done);
    task->done->references = 1;
    if (stream->is_default) {
        for (struct stream *other = streams; other != NULL; other = other->next)
            if (other->device == stream->device && !other->non_blocking) wait_before(task, other->latest);
    } else if (!stream->non_blocking) {
        wait_before(task, default_of(stream->device)->latest);
    }
    if (stream->last == NULL) stream->first = task;
    else stream->last->next = task;
    stream->last = task;
    let_go(stream->latest);
    stream->latest = hold(task->done);
    if (!stream->has_thread) {
        stream->has_thread = 1;
        pthread_create(&stream->thread, NULL, serve, stream);
        pthread_detach(stream->thread);
    }
    pthread_cond_broadcast(&changed);
    return task;
}

void enqueue(struct stream *stream, struct work *work) {
    pthread_mutex_lock(&queue_lock);
    enqueue_locked(stream, work);
    pthread_mutex_unlock(&queue_lock);
}

struct done *latest_of(struct stream *stream) {
    pthread_mutex_lock(&queue_lock);
    struct done *done = hold(stream->latest);
    pthread_mutex_unlock(&queue_lock);
    return done;
}

struct done *done_of(struct event *event) {
    pthread_mutex_lock(&queue_lock);
    struct done *done = hold(event->done);
    pthread_mutex_unlock(&queue_lock);
    return done;
}

void record(struct event *event, struct stream *stream) {
    pthread_mutex_lock(&queue_lock);
    let_go(event->done);
    event->capture = NULL;
    event->done = hold(enqueue_locked(stream, NULL)->done);
    pthread_mutex_unlock(&queue_lock);
}

/* The wait is work too: the stream is not done before it. */
void wait_after(struct stream *stream, struct event *event) {
    pthread_mutex_lock(&queue_lock);
    if (event->done != NULL) wait_before(enqueue_locked(stream, NULL), event->done);
    pthread_mutex_unlock(&queue_lock);
}

void wait_for(struct done *done) {
    if (done == NULL) return;
    pthread_mutex_lock(&queue_lock);
    while (!done->reached) pthread_cond_wait(&changed, &queue_lock);
    pthread_mutex_unlock(&queue_lock);
    let_go(done);
}

int is_reached(struct done *done) {
    if (done == NULL) return 1;
    pthread_mutex_lock(&queue_lock);
    int reached = done->reached;
    pthread_mutex_unlock(&queue_lock);
    let_go(done);
    return reached;
}

void wait_for_device(int device) {
    struct done *all[256];
    int count = 0;
    pthread_mutex_lock(&queue_lock);
    for (struct stream *stream = streams; stream != NULL && count < 255; stream = stream->next)
        if (stream->device == device && stream->latest != NULL) all[count++] = hold(stream->latest);
    if (default_of(device)->latest != NULL) all[count++] = hold(default_of(device)->latest);
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < count; i++) wait_for(all[i]);
}

/* ---- streams and events as handles ---- */

struct stream *stream_of(int device, void *handle) {
    struct stream *found = NULL;
    pthread_mutex_lock(&queue_lock);
    if ((uintptr_t)handle <= 1) found = default_of(device); /* 1 is its other name */
    for (struct stream *stream = streams; stream != NULL && found == NULL; stream = stream->next)
        if (stream == handle && stream->device == device && !stream->ending) found = stream;
    pthread_mutex_unlock(&queue_lock);
    if (found == NULL) problem("%p is no stream of device %d", handle, device);
    return found;
}

struct stream *new_stream(int device, int non_blocking) {
    struct stream *stream = calloc(1, sizeof *stream);
    stream->device = device;
    stream->non_blocking = non_blocking;
    pthread_mutex_lock(&queue_lock);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&queue_lock);
    return stream;
}

void end_stream(struct stream *stream) {
    pthread_mutex_lock(&queue_lock);
    stream->ending = 1;
    stream->held = 0;
    if (!stream->has_thread) unlink_stream(stream); /* else its thread does, when the work is done */
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&queue_lock);
}

struct event *event_of(void *handle) {
    struct event *found = NULL;
    pthread_mutex_lock(&queue_lock);
    for (struct event *event = events; event != NULL && found == NULL; event = event->next)
        if (event == handle) found = event;
    pthread_mutex_unlock(&queue_lock);
    if (found == NULL) problem("%p is no event", handle);
    return found;
}

struct event *new_event(int device, int timing) {
    struct event *event = calloc(1, sizeof *event);
    event->device = device;
    event->timing = timing;
    pthread_mutex_lock(&queue_lock);
    event->next = events;
    events = event;
    pthread_mutex_unlock(&queue_lock);
    return event;
}

void end_event(struct event *event) {
    pthread_mutex_lock(&queue_lock);
    for (struct event **at = &events; *at != NULL; at = &(*at)->next) {
        if (*at != event) continue;
        *at = event->next;
        break;
    }
    pthread_mutex_unlock(&queue_lock);
    let_go(event->done);
    free(event);
}

/* Whether a stream's work stays where it is. */
EXPORT void test_driver_hold(struct stream *stream, int on) {
    pthread_mutex_lock(&queue_lock);
    stream->held = on;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&queue_lock);
}

int count_streams(void) {
    int count = 0;
    pthread_mutex_lock(&queue_lock);
    for (struct stream *stream = streams; stream != NULL; stream = stream->next) count += !stream->ending;
    pthread_mutex_unlock(&queue_lock);
    return count;
}

int count_events(void) {
    int count = 0;
    pthread_mutex_lock(&queue_lock);
    for (struct event *event = events; event != NULL; event = event->next) count++;
    pthread_mutex_unlock(&queue_lock);
    return count;
}

void wipe_queues(int device) {
    wait_for_device(device);
    for (struct event *event = events, *next; event != NULL; event = next) {
        next = event->next;
        if (event->device == device) end_event(event);
    }
    for (struct stream *stream = streams, *next; stream != NULL; stream = next) {
        next = stream->next;
        if (stream->device == device && !stream->ending) end_stream(stream);
    }
}
