/* CPU builds of the kernels in kernels.py, by hand, with the entry point that the compiler gives them. */
typedef unsigned long long u64;

struct launch {
    u64 grid[3], block[3], shared;
};

#define ARGUMENT(type, place) (*(type *)arguments[place])

static u64 least(u64 a, u64 b) { return a < b ? a : b; }

/* ---- map: elements [begin, min(end, len)) ---- */

void scale_relu(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    float *data = ARGUMENT(float *, 0), scale = ARGUMENT(float, 2);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 1)); i < n; i++) {
        float y = data[i] * scale;
        data[i] = y > 0 ? y : 0;
    }
}

void weigh(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    float *data = ARGUMENT(float *, 0), *weights = arguments[2];
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 1)); i < n; i++) data[i] *= weights[i % 3];
}

void negate(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    int *data = ARGUMENT(int *, 0);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 1)); i < n; i++) data[i] = -data[i];
}

void flip_bf16(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    unsigned short *data = ARGUMENT(unsigned short *, 0);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 1)); i < n; i++) data[i] ^= 0x8000;
}

/* ---- the other operations ---- */

void widen(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    float *in = ARGUMENT(float *, 0), scale = ARGUMENT(float, 3);
    double *out = ARGUMENT(double *, 1);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 2)); i < n; i++) out[i] = (double)in[i] * scale;
}

void add(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    float *a = ARGUMENT(float *, 0), *b = ARGUMENT(float *, 1), *out = ARGUMENT(float *, 2);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 3)); i < n; i++) out[i] = a[i] + b[i];
}

void add_three(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    int *a = ARGUMENT(int *, 0), *out = ARGUMENT(int *, 3);
    short *b = ARGUMENT(short *, 1);
    signed char *c = ARGUMENT(signed char *, 2);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 4)); i < n; i++) out[i] = a[i] + b[i] + c[i];
}

void count_up(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    u64 *data = ARGUMENT(u64 *, 0);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 1)); i < n; i++) data[i] += i;
}

void relu_twice(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    float *data = ARGUMENT(float *, 0), scale = ARGUMENT(float, 2);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 1)); i < n; i++) {
        for (int part = 0; part < 2; part++) {
            float y = data[i] * scale;
            data[i] = y > 0 ? y : 0;
        }
    }
}

void pick(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    double *src = ARGUMENT(double *, 0), *out = ARGUMENT(double *, 2);
    int *idx = ARGUMENT(int *, 1);
    u64 bound = ARGUMENT(u64, 4);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 3)); i < n; i++)
        if (idx[i] >= 0 && (u64)idx[i] < bound) out[i] = src[idx[i]];
}

void put(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    double *src = ARGUMENT(double *, 0), *out = ARGUMENT(double *, 2);
    unsigned char *idx = ARGUMENT(unsigned char *, 1);
    u64 bound = ARGUMENT(u64, 4);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 3)); i < n; i++)
        if (idx[i] < bound) out[idx[i]] = src[i];
}

/* ---- of arrays too large to be worked on in a test: what they were told, at their first and last elements ---- */

void mark_ends(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    unsigned char *data = ARGUMENT(unsigned char *, 0);
    u64 n = least(end, ARGUMENT(u64, 1));
    (void)launch;
    if (begin < n) data[begin]++, data[n - 1]++;
}

void far(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    unsigned char *src = ARGUMENT(unsigned char *, 0), *out = ARGUMENT(unsigned char *, 2);
    long long *idx = ARGUMENT(long long *, 1);
    u64 bound = ARGUMENT(u64, 4);
    (void)launch;
    for (u64 i = begin, n = least(end, ARGUMENT(u64, 3)); i < n; i++)
        if (idx[i] >= 0 && (u64)idx[i] < bound) out[i] = src[idx[i]];
}

/* How many tiles all stages have together. */
void count_tiles(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    u64 *out = ARGUMENT(u64 *, 2), tiles = ARGUMENT(u64, 3), stage = ARGUMENT(u64, 4);
    (void)launch;
    for (u64 level = 0; level <= stage; level++) tiles = (tiles + 4095) / 4096;
    if (stage == 0 && begin == 0) *out = 0;
    if (begin < tiles) *out += least(end, tiles) - begin;
}

void view_ends(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    unsigned char *a = ARGUMENT(unsigned char *, 0);
    (void)launch, (void)end;
    if (begin == 0) a[0]++, a[ARGUMENT(u64, 1) * ARGUMENT(u64, 2) - 1]++;
}

/* ---- raw: blocks [begin, end) in linear order ---- */

void raw_add(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    float *data = ARGUMENT(float *, 0);
    u64 n = ARGUMENT(u64, 1);
    for (u64 b = begin, last = least(end, launch->grid[0]); b < last; b++)
        for (u64 t = 0; t < launch->block[0]; t++)
            if (b * launch->block[0] + t < n) data[b * launch->block[0] + t] += 1;
}

/* Writes the number of its block, the launch's shape and its shared memory. */
void where(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    u64 *out = ARGUMENT(u64 *, 0), blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    for (u64 b = begin, last = least(end, blocks); b < last; b++) {
        out[8 * b] = b;
        for (int axis = 0; axis < 3; axis++) {
            out[8 * b + 1 + axis] = launch->grid[axis];
            out[8 * b + 4 + axis] = launch->block[axis];
        }
        out[8 * b + 7] = launch->shared;
    }
}

/* Writes each scalar argument, as 8 bytes, to show that every one arrived in its own place. */
void every_type(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    u64 *out = ARGUMENT(u64 *, 0);
    const int size[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
    (void)launch, (void)end;
    if (begin != 0) return;
    for (int i = 0; i < 13; i++) {
        const unsigned char *from = arguments[i + 1];
        u64 value = 0;
        for (int byte = 0; byte < size[i]; byte++) value |= (u64)from[byte] << 8 * byte;
        out[i] = value;
    }
}

void params_to(void **arguments, const struct launch *launch, u64 begin, u64 end) {
    unsigned char *out = ARGUMENT(unsigned char *, 0), *params = arguments[1];
    (void)launch, (void)end;
    if (begin != 0) return;
    for (int i = 0; i < 32; i++) out[i] = params[i];
}
