/* Capture and graphs, with the rules of both vendors' documentation.
 *
 * A graph runs its nodes in the order in which they were given: that order keeps every dependency, since an event can only be waited for
 * after it was recorded. What a captured stream knows of the others is counted, to find work that the origin never waits for.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_GLOBAL = 0, MODE_RELAXED = 2 };

struct graph {
    struct graph *next;
    int references, live;
    struct work **nodes;
    int count;
};

struct executable {
    struct executable *next;
    struct graph *graph;
};

struct capture {
    struct capture *next;
    struct stream *streams[MAX_CAPTURED];
    unsigned given[MAX_CAPTURED];
    int count, mode, code; /* code: why the capture is lost */
    pthread_t thread;
    struct graph *graph;
};

static struct capture *captures;
static struct graph *graphs;
static struct executable *executables;

/* ---- graphs ---- */

void hold_graph(struct graph *graph) { __atomic_add_fetch(&graph->references, 1, __ATOMIC_SEQ_CST); }

void let_go_graph(struct graph *graph) {
    if (__atomic_sub_fetch(&graph->references, 1, __ATOMIC_SEQ_CST) != 0) return;
    for (int i = 0; i < graph->count; i++) drop_work(graph->nodes[i]);
    free(graph->nodes);
    free(graph);
}

void run_graph(struct work *work) {
    for (int i = 0; i < work->graph->count; i++) work->graph->nodes[i]->run(work->graph->nodes[i]);
}

#define FIND(list, type)                                                          \
    struct type *found = NULL;                                                    \
    pthread_mutex_lock(&queue_lock);                                              \
    for (struct type *one = list; one != NULL && found == NULL; one = one->next) \
        if (one == handle) found = one;                                           \
    pthread_mutex_unlock(&queue_lock);                                            \
    if (found == NULL) problem("%p is no " #type, handle);                        \
    return found

#define UNLINK(list, type, what)                                       \
    pthread_mutex_lock(&queue_lock);                                   \
    for (struct type **at = &list; *at != NULL; at = &(*at)->next) {   \
        if (*at != what) continue;                                     \
        *at = what->next;                                              \
        break;                                                         \
    }                                                                  \
    pthread_mutex_unlock(&queue_lock)

#define COUNT(list, type)                                                    \
    int count = 0;                                                           \
    pthread_mutex_lock(&queue_lock);                                         \
    for (struct type *one = list; one != NULL; one = one->next) count++;     \
    pthread_mutex_unlock(&queue_lock);                                       \
    return count

struct graph *graph_of(void *handle) { FIND(graphs, graph); }
struct executable *executable_of(void *handle) { FIND(executables, executable); }
int count_graphs(void) { COUNT(graphs, graph); }
int count_executables(void) { COUNT(executables, executable); }

void end_graph(struct graph *graph) {
    UNLINK(graphs, graph, graph);
    let_go_graph(graph);
}

struct executable *new_executable(struct graph *graph) {
    struct executable *executable = calloc(1, sizeof *executable);
    hold_graph(graph);
    executable->graph = graph;
    pthread_mutex_lock(&queue_lock);
    executable->next = executables;
    executables = executable;
    pthread_mutex_unlock(&queue_lock);
    return executable;
}

struct graph *graph_of_executable(struct executable *executable) { return executable->graph; }

void end_executable(struct executable *executable) {
    UNLINK(executables, executable, executable);
    let_go_graph(executable->graph);
    free(executable);
}

int update_executable(struct executable *executable, struct graph *graph) {
    int same = executable->graph->count == graph->count;
    for (int i = 0; same && i < graph->count; i++) same = strcmp(executable->graph->nodes[i]->name, graph->nodes[i]->name) == 0;
    if (!same) return 0;
    hold_graph(graph);
    let_go_graph(executable->graph);
    executable->graph = graph;
    return 1;
}

/* The tests that break a device use one. */
void wipe_graphs(void) {
    while (executables != NULL) end_executable(executables);
    while (graphs != NULL) end_graph(graphs);
}

/* ---- capture ---- */

static result lose(struct capture *capture, int code) {
    if (capture->code == 0) capture->code = CAPTURE_INVALIDATED;
    return code;
}

result invalidate(struct stream *stream, int code) { return lose(stream->capture, code); }

result forbidden(void) {
    result code = SUCCESS;
    pthread_mutex_lock(&queue_lock);
    for (struct capture *capture = captures; capture != NULL; capture = capture->next) {
        if (capture->mode == MODE_RELAXED || (capture->mode != MODE_GLOBAL && !pthread_equal(capture->thread, pthread_self()))) continue;
        code = lose(capture, CAPTURE_UNSUPPORTED);
    }
    pthread_mutex_unlock(&queue_lock);
    return code;
}

static result append(struct stream *stream, struct work *work) {
    struct capture *capture = stream->capture;
    if (capture->code) return capture->code;
    struct graph *graph = capture->graph;
    graph->nodes = realloc(graph->nodes, sizeof *graph->nodes * (size_t)(graph->count + 1));
    graph->nodes[graph->count++] = work;
    stream->seen[stream->place] = ++capture->given[stream->place];
    return SUCCESS;
}

result submit(struct stream *stream, struct work *work) {
    result code = SUCCESS;
    pthread_mutex_lock(&queue_lock);
    int captured = stream->capture != NULL;
    if (captured) {
        code = append(stream, work);
    } else if (stream->is_default) {
        /* The default stream would wait for a blocking stream that is not running. */
        for (struct capture *capture = captures; capture != NULL; capture = capture->next)
            for (int i = 0; i < capture->count; i++)
                if (capture->streams[i]->device == stream->device && !capture->streams[i]->non_blocking) code = lose(capture, CAPTURE_IMPLICIT);
    }
    pthread_mutex_unlock(&queue_lock);
    if (code) drop_work(work);
    else if (!captured) enqueue(stream, work);
    return code;
}

static void join(struct capture *capture, struct stream *stream) {
    if (capture->count == MAX_CAPTURED) {
        problem("more streams in a capture than the test driver can count");
        return;
    }
    stream->capture = capture;
    stream->place = capture->count;
    memset(stream->seen, 0, sizeof stream->seen);
    capture->streams[capture->count++] = stream;
}

result begin_capture(struct stream *stream, int mode) {
    if (stream->is_default) return CAPTURE_UNSUPPORTED;
    if (stream->capture != NULL) return ILLEGAL_STATE;
    struct capture *capture = calloc(1, sizeof *capture);
    capture->mode = mode;
    capture->thread = pthread_self();
    capture->graph = calloc(1, sizeof *capture->graph);
    capture->graph->references = 1;
    pthread_mutex_lock(&queue_lock);
    join(capture, stream);
    capture->next = captures;
    captures = capture;
    pthread_mutex_unlock(&queue_lock);
    return SUCCESS;
}

static struct graph *finish(struct capture *capture) {
    struct graph *graph = capture->graph;
    pthread_mutex_lock(&queue_lock);
    for (int i = 0; i < capture->count; i++) capture->streams[i]->capture = NULL;
    pthread_mutex_unlock(&queue_lock);
    UNLINK(captures, capture, capture);
    free(capture);
    return graph;
}

result end_capture(struct stream *stream, struct graph **graph) {
    struct capture *capture = stream->capture;
    *graph = NULL;
    if (capture == NULL) return ILLEGAL_STATE;
    if (capture->streams[0] != stream) return CAPTURE_UNMATCHED;
    if (capture->mode != MODE_RELAXED && !pthread_equal(capture->thread, pthread_self())) return CAPTURE_WRONG_THREAD;
    int code = capture->code;
    for (int i = 0; i < capture->count && !code; i++)
        if (stream->seen[i] < capture->given[i]) code = CAPTURE_UNJOINED;
    struct graph *made = finish(capture);
    if (code) {
        let_go_graph(made);
        return code;
    }
    made->live = 1;
    pthread_mutex_lock(&queue_lock);
    made->next = graphs;
    graphs = made;
    pthread_mutex_unlock(&queue_lock);
    *graph = made;
    return SUCCESS;
}

void give_up_capture(struct stream *stream) {
    struct capture *capture = stream->capture;
    if (capture == NULL) return;
    if (capture->streams[0] == stream) let_go_graph(finish(capture));
    else problem("a stream ends while another's capture has it");
}

result record_captured(struct stream *stream, struct event *event) {
    struct capture *capture = stream->capture;
    if (capture->code) return capture->code;
    event->capture = capture;
    memcpy(event->seen, stream->seen, sizeof event->seen);
    return SUCCESS;
}

static int alive(struct capture *wanted) {
    int found = 0;
    pthread_mutex_lock(&queue_lock);
    for (struct capture *capture = captures; capture != NULL && !found; capture = capture->next) found = capture == wanted;
    pthread_mutex_unlock(&queue_lock);
    return found;
}

/* Of a stream or of an event that is captured. */
result wait_captured(struct stream *stream, struct event *event) {
    struct capture *capture = event->capture;
    if (capture == NULL || !alive(capture)) return stream->capture ? lose(stream->capture, CAPTURE_ISOLATION) : CAPTURED_EVENT;
    if (capture->code) return capture->code;
    if (stream->capture == NULL) {
        if (stream->is_default) return lose(capture, CAPTURE_IMPLICIT);
        pthread_mutex_lock(&queue_lock);
        join(capture, stream);
        pthread_mutex_unlock(&queue_lock);
    } else if (stream->capture != capture) {
        return lose(capture, CAPTURE_ISOLATION);
    }
    for (int i = 0; i < capture->count; i++)
        if (stream->seen[i] < event->seen[i]) stream->seen[i] = event->seen[i];
    return SUCCESS;
}
