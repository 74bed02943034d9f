/* The calls that both vendors have under different names. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

ENTRY(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
    CALL(__func__, NULL);
    *count = settings.devices;
    return answer(SUCCESS);
}

ENTRY(cuCtxSynchronize, hipDeviceSynchronize)(void) {
    CALL_ON(device, __func__, NULL);
    UNSAFE;
    wait_for_device(device);
    return answer(settings.device[device].error);
}

ENTRY(cuMemGetInfo, hipMemGetInfo)(size_t *available, size_t *total) {
    CALL_ON(device, __func__, NULL);
    *total = (size_t)1 << 33;
    *available = *total - allocated(DEVICE_MEMORY);
    return answer(SUCCESS);
}

/* ---- memory ---- */

ENTRY(cuMemAlloc, hipMalloc)(void **address, size_t size) {
    CALL_ON(device, __func__, "%zu", size);
    UNSAFE;
    *address = NULL;
    if (size == 0) return answer(free_of_nothing);
    *address = allocate(device, DEVICE_MEMORY, size);
    return answer(*address ? SUCCESS : OUT_OF_MEMORY);
}

/* Waits for the device's work, as both do. */
ENTRY(cuMemFree, hipFree)(void *address) {
    CALL_ON(device, __func__, NULL);
    UNSAFE;
    if (address == NULL) return answer(free_of_nothing);
    for (int other = 0; other < settings.devices; other++) wait_for_device(other);
    return answer(release(DEVICE_MEMORY, address) ? SUCCESS : INVALID_VALUE);
}

ENTRY(cuMemHostAlloc, hipHostMalloc)(void **address, size_t size, unsigned flags) {
    CALL_ON(device, __func__, "%zu %u", size, flags);
    UNSAFE;
    if (size == 0) return answer(INVALID_VALUE);
    *address = allocate(device, PINNED_MEMORY, size);
    return answer(*address ? SUCCESS : OUT_OF_MEMORY);
}

ENTRY(cuMemFreeHost, hipHostFree)(void *address) {
    CALL_ON(device, __func__, NULL);
    UNSAFE;
    return answer(release(PINNED_MEMORY, address) ? SUCCESS : INVALID_VALUE);
}

struct copy {
    char *target;
    const char *source;
    size_t size;
    const char *call;
    int target_on_device, source_on_device;
};

static void run_copy(struct work *work) {
    struct copy *copy = work->data;
    /* Again, since the memory may have been freed since the call. */
    if (copy->target_on_device && !inside(copy->call, copy->target, copy->size)) return;
    if (copy->source_on_device && !inside(copy->call, copy->source, copy->size)) return;
    move_bytes(copy->target, copy->source, copy->size);
}

static result copy(const char *call, struct stream *stream, void *target, int target_on_device, const void *source, int source_on_device, size_t size) {
    struct copy all = {target, source, size, call, target_on_device, source_on_device};
    if (target == NULL || source == NULL) return INVALID_VALUE;
    if (target_on_device && !inside(call, target, size)) return INVALID_VALUE;
    if (source_on_device && !inside(call, source, size)) return INVALID_VALUE;
    return submit(stream, new_work(call, stream->device, run_copy, &all, sizeof all));
}

/* On the default stream, and done when the call returns. */
static result copy_and_wait(const char *call, int device, void *target, int to_device, const void *source, size_t size) {
    struct stream *stream = stream_of(device, NULL);
    result code = copy(call, stream, target, to_device, source, !to_device, size);
    if (code) return code;
    wait_for(latest_of(stream));
    return settings.device[device].error;
}

ENTRY(cuMemcpyHtoD, hipMemcpyHtoD)(void *target, const void *source, size_t size) {
    CALL_ON(device, __func__, "%zu", size);
    UNSAFE;
    return answer(copy_and_wait(__func__, device, target, 1, source, size));
}

ENTRY(cuMemcpyDtoH, hipMemcpyDtoH)(void *target, void *source, size_t size) {
    CALL_ON(device, __func__, "%zu", size);
    UNSAFE;
    return answer(copy_and_wait(__func__, device, target, 0, source, size));
}

ENTRY(cuMemcpyHtoDAsync, hipMemcpyHtoDAsync)(void *target, const void *source, size_t size, void *handle) {
    CALL_ON(device, __func__, "%zu", size);
    STREAM(stream, handle);
    return answer(copy(__func__, stream, target, 1, source, 0, size));
}

ENTRY(cuMemcpyDtoHAsync, hipMemcpyDtoHAsync)(void *target, void *source, size_t size, void *handle) {
    CALL_ON(device, __func__, "%zu", size);
    STREAM(stream, handle);
    return answer(copy(__func__, stream, target, 0, source, 1, size));
}

ENTRY(cuMemcpyDtoDAsync, hipMemcpyDtoDAsync)(char *target, char *source, size_t size, void *handle) {
    CALL_ON(device, __func__, "%zu", size);
    STREAM(stream, handle);
    if (target < source + size && source < target + size) {
        problem("%s: the ranges overlap", __func__);
        return answer(INVALID_VALUE);
    }
    return answer(copy(__func__, stream, target, 1, source, 1, size));
}

/* CUDA is given contexts, HIP numbers of devices; neither is looked at, since all memory is one. */
#ifdef CUDA
EXPORT result cuMemcpyPeerAsync(char *target, void *to, char *source, void *from, size_t size, void *handle) {
    if (to == NULL || from == NULL) problem("%s: a null context", __func__);
#else
EXPORT result hipMemcpyPeerAsync(char *target, int to, char *source, int from, size_t size, void *handle) {
    if (to < 0 || to >= settings.devices || from < 0 || from >= settings.devices) return answer(INVALID_DEVICE);
#endif
    CALL_ON(device, __func__, "%zu", size);
    STREAM(stream, handle);
    return answer(copy(__func__, stream, target, 1, source, 1, size));
}

struct fill {
    char *target;
    unsigned pattern, width;
    size_t count;
};

static void run_fill(struct work *work) {
    struct fill *fill = work->data;
    if (!inside(work->name, fill->target, fill->width * fill->count)) return;
    fill_bytes(fill->target, fill->pattern, fill->width, fill->count);
}

static result fill(const char *call, int device, void *handle, char *target, unsigned pattern, unsigned width, size_t count) {
    struct fill all = {target, pattern, width, count};
    struct stream *stream = stream_of(device, handle);
    if (stream == NULL) return INVALID_HANDLE;
    if ((uintptr_t)target % width != 0 || !inside(call, target, width * count)) return INVALID_VALUE;
    return submit(stream, new_work(call, device, run_fill, &all, sizeof all));
}

ENTRY(cuMemsetD8Async, hipMemsetD8Async)(void *target, unsigned char value, size_t count, void *handle) {
    CALL_ON(device, __func__, "%u %zu", value, count);
    return answer(fill(__func__, device, handle, target, value, 1, count));
}

ENTRY(cuMemsetD16Async, hipMemsetD16Async)(void *target, unsigned short value, size_t count, void *handle) {
    CALL_ON(device, __func__, "%u %zu", value, count);
    return answer(fill(__func__, device, handle, target, value, 2, count));
}

ENTRY(cuMemsetD32Async, hipMemsetD32Async)(void *target, unsigned value, size_t count, void *handle) {
    CALL_ON(device, __func__, "%u %zu", value, count);
    return answer(fill(__func__, device, handle, target, value, 4, count));
}

/* ---- streams ---- */

ENTRY(cuStreamCreate, hipStreamCreateWithFlags)(void **handle, unsigned flags) {
    CALL_ON(device, __func__, "%u", flags);
    if (flags > 1) return answer(INVALID_VALUE);
    *handle = new_stream(device, flags == 1);
    return answer(SUCCESS);
}

ENTRY(cuStreamDestroy, hipStreamDestroy)(void *handle) {
    CALL_ON(device, __func__, NULL);
    STREAM(stream, handle);
    if (stream->is_default) return answer(INVALID_HANDLE);
    give_up_capture(stream);
    end_stream(stream);
    return answer(SUCCESS);
}

ENTRY(cuStreamSynchronize, hipStreamSynchronize)(void *handle) {
    CALL_ON(device, __func__, NULL);
    STREAM(stream, handle);
    if (stream->capture != NULL) return answer(invalidate(stream, CAPTURE_UNSUPPORTED));
    UNSAFE;
    wait_for(latest_of(stream));
    return answer(settings.device[device].error);
}

ENTRY(cuStreamQuery, hipStreamQuery)(void *handle) {
    CALL_ON(device, __func__, NULL);
    STREAM(stream, handle);
    if (stream->capture != NULL) return answer(invalidate(stream, CAPTURE_UNSUPPORTED));
    return answer(is_reached(latest_of(stream)) ? SUCCESS : NOT_READY);
}

ENTRY(cuStreamWaitEvent, hipStreamWaitEvent)(void *handle, void *mark, unsigned flags) {
    CALL_ON(device, __func__, NULL);
    STREAM(stream, handle);
    EVENT(event, mark);
    if (flags != 0) return answer(INVALID_VALUE);
    if (event->capture != NULL || stream->capture != NULL) return answer(wait_captured(stream, event));
    wait_after(stream, event);
    return answer(SUCCESS);
}

/* ---- events ---- */

ENTRY(cuEventCreate, hipEventCreateWithFlags)(void **handle, unsigned flags) {
    CALL_ON(device, __func__, "%u", flags);
    *handle = new_event(device, !(flags & 2));
    return answer(SUCCESS);
}

ENTRY(cuEventDestroy, hipEventDestroy)(void *handle) {
    CALL_ON(device, __func__, NULL);
    EVENT(event, handle);
    end_event(event);
    return answer(SUCCESS);
}

ENTRY(cuEventRecord, hipEventRecord)(void *mark, void *handle) {
    CALL_ON(device, __func__, NULL);
    STREAM(stream, handle);
    EVENT(event, mark);
    if (event->device != device) return answer(INVALID_HANDLE);
    if (stream->capture != NULL) return answer(record_captured(stream, event));
    record(event, stream);
    return answer(SUCCESS);
}

ENTRY(cuEventSynchronize, hipEventSynchronize)(void *handle) {
    CALL_ON(device, __func__, NULL);
    EVENT(event, handle);
    if (event->capture != NULL) return answer(CAPTURED_EVENT);
    UNSAFE;
    wait_for(done_of(event));
    return answer(settings.device[device].error);
}

ENTRY(cuEventQuery, hipEventQuery)(void *handle) {
    CALL_ON(device, __func__, NULL);
    EVENT(event, handle);
    if (event->capture != NULL) return answer(CAPTURED_EVENT);
    UNSAFE;
    return answer(is_reached(done_of(event)) ? SUCCESS : NOT_READY);
}

static result reached_at(struct event *event, int64_t *nanoseconds) {
    struct done *done = done_of(event);
    if (done == NULL) return INVALID_HANDLE;
    result code = is_reached(hold(done)) ? SUCCESS : NOT_READY;
    *nanoseconds = (int64_t)done->nanoseconds;
    let_go(done);
    return code;
}

ENTRY(cuEventElapsedTime, hipEventElapsedTime)(float *milliseconds, void *start, void *end) {
    CALL_ON(device, __func__, NULL);
    EVENT(first, start);
    EVENT(last, end);
    int64_t from = 0, to = 0;
    result code = first->timing && last->timing ? reached_at(first, &from) : INVALID_HANDLE;
    if (code == SUCCESS) code = reached_at(last, &to);
    if (code == SUCCESS) *milliseconds = (float)((double)(to - from) / 1e6);
    return answer(code);
}

/* ---- graphs ---- */

ENTRY(cuStreamBeginCapture, hipStreamBeginCapture)(void *handle, int mode) {
    CALL_ON(device, __func__, "%d", mode);
    STREAM(stream, handle);
    return answer(begin_capture(stream, mode));
}

ENTRY(cuStreamEndCapture, hipStreamEndCapture)(void *handle, struct graph **graph) {
    int failure = called(__func__, NULL);
    const int device = current_device();
    if (forked() || !started() || device < 0) return answer(INVALID_CONTEXT);
    STREAM(stream, handle);
    if (failure || settings.device[device].error) {
        give_up_capture(stream); /* a capture whose end fails is over too */
        return answer(failure ? failure : settings.device[device].error);
    }
    return answer(end_capture(stream, graph));
}

ENTRY(cuGraphDestroy, hipGraphDestroy)(void *handle) {
    CALL_ON(device, __func__, NULL);
    struct graph *graph = graph_of(handle);
    if (graph == NULL) return answer(INVALID_VALUE);
    end_graph(graph);
    return answer(SUCCESS);
}

#ifdef CUDA
/* The name that callers write is a macro for the library's. */
EXPORT result cuGraphInstantiateWithFlags(void **executable, void *handle, unsigned long long flags) {
    CALL_ON(device, "cuGraphInstantiate", "%llu", flags);
#else
EXPORT result hipGraphInstantiateWithFlags(void **executable, void *handle, unsigned long long flags) {
    CALL_ON(device, __func__, "%llu", flags);
#endif
    struct graph *graph = graph_of(handle);
    if (graph == NULL || flags != 0) return answer(INVALID_VALUE);
    *executable = new_executable(graph);
    return answer(SUCCESS);
}

ENTRY(cuGraphExecDestroy, hipGraphExecDestroy)(void *handle) {
    CALL_ON(device, __func__, NULL);
    struct executable *executable = executable_of(handle);
    if (executable == NULL) return answer(INVALID_VALUE);
    end_executable(executable);
    return answer(SUCCESS);
}

ENTRY(cuGraphLaunch, hipGraphLaunch)(void *handle, void *queue) {
    CALL_ON(device, __func__, NULL);
    STREAM(stream, queue);
    struct executable *executable = executable_of(handle);
    if (executable == NULL) return answer(INVALID_VALUE);
    struct work *work = new_work("graph", device, run_graph, "", 1);
    work->graph = graph_of_executable(executable);
    hold_graph(work->graph);
    return answer(submit(stream, work));
}
