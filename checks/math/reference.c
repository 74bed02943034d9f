/* Compares a compiled kernel of one function with the C library's double, and sets aside what that cannot decide.
 *
 * A result is right where the library's double, moved 2**-46 of itself down and up, rounds to the same float both times, and that float is
 * the result. All others are handed back, to be decided by MPFR. The library (glibc's libmvec, four values at a time) is trusted to within
 * 64 of its last places, where it promises less than 4. */

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef void (*kernel_t)(void **arguments, const void *launch, uint64_t begin, uint64_t end);
typedef double four_t __attribute__((vector_size(32)));
typedef four_t (*unary_t)(four_t);
typedef four_t (*binary_t)(four_t, four_t);

enum { BLOCK = 4096 };

static float as_float(uint32_t bits) { float value; memcpy(&value, &bits, 4); return value; }
static uint32_t as_bits(float value) { uint32_t bits; memcpy(&bits, &value, 4); return bits; }

/* Marks the results that are not known to be right, and counts them. */
static int64_t doubtful(const double *exact, const float *got, uint64_t count, uint8_t *marks) {
    int64_t open = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t low = as_bits((float)(exact[i] * (1 - 0x1p-46))), high = as_bits((float)(exact[i] * (1 + 0x1p-46)));
        uint32_t bits = as_bits(got[i]);
        int nan = (exact[i] != exact[i]) & (got[i] != got[i]);
        marks[i] = !(nan | ((low == high) & (low == bits)));
        open += marks[i];
    }
    return open;
}

/* Inputs with the bits first, first + 1, ...: gives the number of results that are not known to be right, of which the first `room` are
 * listed as pairs (input, result). Without a function it is 1 / sqrt(x). Arguments beyond low and high, where a float result no longer
 * changes, are moved there: the library is slow where its doubles overflow. With `nowhere` the function has no value there. */
int64_t check_unary(unary_t function, double low, double high, int nowhere, kernel_t kernel, uint64_t first, uint64_t count,
                    uint32_t *listed, int64_t room) {
    float in[BLOCK], out[BLOCK];
    double exact[BLOCK] __attribute__((aligned(32)));
    uint8_t marks[BLOCK];
    float *in_pointer = in, *out_pointer = out;
    uint64_t length = 0;
    void *arguments[] = {&in_pointer, &out_pointer, &length};
    int64_t open = 0;
    memset(in, 0, sizeof in);
    for (uint64_t done = 0; done < count; done += length) {
        length = count - done < BLOCK ? count - done : BLOCK;
        for (uint64_t i = 0; i < length; i++) in[i] = as_float((uint32_t)(first + done + i));
        kernel(arguments, 0, 0, length);
        for (uint64_t i = 0; i < BLOCK; i++) {
            double x = in[i];
            exact[i] = x < low ? low : x > high ? high : x;
        }
        if (function)
            for (uint64_t i = 0; i < length; i += 4) *(four_t *)(exact + i) = function(*(four_t *)(exact + i));
        else
            for (uint64_t i = 0; i < length; i++) exact[i] = 1.0 / sqrt(exact[i]);
        if (nowhere)
            for (uint64_t i = 0; i < length; i++) exact[i] = in[i] < low || in[i] > high ? NAN : exact[i];
        if (!doubtful(exact, out, length, marks)) continue;
        for (uint64_t i = 0; i < length; i++) {
            if (!marks[i]) continue;
            if (open < room) {
                listed[2 * open] = as_bits(in[i]);
                listed[2 * open + 1] = as_bits(out[i]);
            }
            open++;
        }
    }
    return open;
}

/* A random number for each counter (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). */
static uint64_t mixed(uint64_t counter) {
    uint64_t z = counter * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Of every four pairs one has random bits; the others make results of all sizes: arguments of like exponents, and with `power` an exponent
 * that takes the result anywhere between underflow and overflow, or that is a multiple of 1/4. */
static void pair(int power, uint64_t counter, float *x, float *y) {
    uint64_t bits = mixed(counter), more = mixed(~counter);
    *x = as_float((uint32_t)bits);
    *y = as_float((uint32_t)(bits >> 32));
    if (counter % 4 == 0) return;
    if (power) {
        uint32_t exponent = counter % 4 == 1 ? 127 - 32 + (uint32_t)(more % 64) : 1 + (uint32_t)(more % 254);
        *x = as_float((uint32_t)(bits & 0x7FFFFF) | exponent << 23);
        if (counter % 4 == 2) {
            *x = (float)(1 + (bits & 0xFFF));
            *y = (float)((int64_t)(more >> 32 & 127) - 64) / 4;
        } else {
            *y = (300 * ((float)(more >> 40) * 0x1p-24f) - 160) / log2f(*x);
        }
    } else {
        uint32_t exponent = (uint32_t)bits >> 23 & 255;
        int shift = (int)(more % 61) - 30, moved = (int)exponent + shift;
        moved = moved < 0 ? 0 : moved > 254 ? 254 : moved;
        *y = as_float((uint32_t)((bits >> 32) & 0x807FFFFF) | (uint32_t)moved << 23);
    }
}

/* The same for pairs of numbers first, first + 1, ... of the stream, listed as triples (x, y, result). */
int64_t check_binary(binary_t function, int power, kernel_t kernel, uint64_t first, uint64_t count, uint32_t *listed, int64_t room) {
    float x[BLOCK], y[BLOCK], out[BLOCK];
    double exact[BLOCK] __attribute__((aligned(32)));
    uint8_t marks[BLOCK];
    float *x_pointer = x, *y_pointer = y, *out_pointer = out;
    uint64_t length = 0;
    void *arguments[] = {&x_pointer, &y_pointer, &out_pointer, &length};
    int64_t open = 0;
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    for (uint64_t done = 0; done < count; done += length) {
        length = count - done < BLOCK ? count - done : BLOCK;
        for (uint64_t i = 0; i < length; i++) pair(power, first + done + i, &x[i], &y[i]);
        kernel(arguments, 0, 0, length);
        for (uint64_t i = 0; i < length; i += 4)
            *(four_t *)(exact + i) =
                function((four_t){x[i], x[i + 1], x[i + 2], x[i + 3]}, (four_t){y[i], y[i + 1], y[i + 2], y[i + 3]});
        if (!doubtful(exact, out, length, marks)) continue;
        for (uint64_t i = 0; i < length; i++) {
            if (!marks[i]) continue;
            if (open < room) {
                listed[3 * open] = as_bits(x[i]);
                listed[3 * open + 1] = as_bits(y[i]);
                listed[3 * open + 2] = as_bits(out[i]);
            }
            open++;
        }
    }
    return open;
}
