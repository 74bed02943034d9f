#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Memory as large as this costs nothing: it is not filled, nor kept, and copied at its ends alone. */
static const size_t HUGE = (size_t)1 << 30;
enum { END = 4096 };

/* Freed memory is kept for a while: a later use must not read what malloc has given to somebody else. */
enum { QUARANTINE = 64 };

struct block {
    struct block *next;
    int device;
    enum kind_of_memory kind;
    char *address;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static char *quarantine[QUARANTINE];
static int oldest;

void *allocate(int device, enum kind_of_memory kind, size_t size) {
    struct block *block = calloc(1, sizeof *block);
    if (size >= HUGE) {
        block->address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block->address == MAP_FAILED) block->address = NULL;
    } else if (posix_memalign((void **)&block->address, 256, size) != 0) {
        block->address = NULL;
    } else {
        memset(block->address, 0xA5, size); /* fresh memory is not zero */
    }
    if (block->address == NULL) {
        free(block);
        return NULL;
    }
    block->size = size;
    block->device = device;
    block->kind = kind;
    pthread_mutex_lock(&lock);
    block->next = blocks;
    blocks = block;
    pthread_mutex_unlock(&lock);
    return block->address;
}

int release(enum kind_of_memory kind, void *address) {
    struct block *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct block **at = &blocks; *at != NULL; at = &(*at)->next) {
        if ((*at)->address != address || (*at)->kind != kind) continue;
        found = *at;
        *at = found->next;
        if (found->size >= HUGE) {
            munmap(found->address, found->size);
            break;
        }
        memset(found->address, 0xDD, found->size);
        free(quarantine[oldest]);
        quarantine[oldest] = found->address;
        oldest = (oldest + 1) % QUARANTINE;
        break;
    }
    pthread_mutex_unlock(&lock);
    if (found == NULL) problem("free of %p, which is no live allocation", address);
    free(found);
    return found != NULL;
}

void move_bytes(char *target, const char *source, size_t size) {
    memcpy(target, source, size < HUGE ? size : END);
    if (size >= HUGE) memcpy(target + size - END, source + size - END, END);
}

void fill_bytes(char *target, unsigned pattern, unsigned width, size_t count) {
    size_t left_out = width * count < HUGE ? 0 : count - 2 * END;
    for (size_t i = 0; i < count; i += i == END && left_out ? left_out : 1) memcpy(target + i * width, &pattern, width);
}

int inside(const char *call, const void *address, size_t size) {
    int found = 0;
    const char *at = address;
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL && !found; block = block->next)
        found = block->kind == DEVICE_MEMORY && at >= block->address && at + size <= block->address + block->size;
    pthread_mutex_unlock(&lock);
    if (!found) problem("%s: %p + %zu is not inside a live allocation", call, address, size);
    return found;
}

/* Addresses and sizes of what is allocated on devices, as many as there is room for; how many there are. */
EXPORT int test_driver_blocks(void **addresses, size_t *sizes, int room) {
    int count = 0;
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL; block = block->next) {
        if (block->kind != DEVICE_MEMORY) continue;
        if (count < room) addresses[count] = block->address, sizes[count] = block->size;
        count++;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

size_t allocated(enum kind_of_memory kind) {
    size_t sum = 0;
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL; block = block->next)
        if (block->kind == kind) sum += block->size;
    pthread_mutex_unlock(&lock);
    return sum;
}

void wipe_memory(int device) {
    for (int found = 1; found;) {
        char *address = NULL;
        enum kind_of_memory kind = DEVICE_MEMORY;
        pthread_mutex_lock(&lock);
        for (struct block *block = blocks; block != NULL; block = block->next)
            if (block->device == device) address = block->address, kind = block->kind;
        pthread_mutex_unlock(&lock);
        found = address != NULL && release(kind, address);
    }
}
