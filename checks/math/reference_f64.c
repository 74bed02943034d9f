// Errors of f64 results against the C library's wider functions, in units in the last place.
//
// Each result is first held against an 80-bit evaluation (64-bit significand, some 1e-3 ulp of f64). What looks worse than SCREEN, a few per
// cent, is evaluated again in binary128 (113 bits, 1e-17 ulp); only those errors count for the maximum. `everything` sends all there.
//
// The functions are looked up in the C library by name: Zig's own runtime has some of the same names, which compute in f64.
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef __float128 quad;
typedef long double wide;

#define EACH(one, two)                                                                                                                     \
    one(exp) one(exp2) one(expm1) one(log) one(log2) one(log10) one(log1p) two(pow) one(sin) one(cos) one(tan) one(asin) one(acos)         \
    one(atan) two(atan2) one(sinh) one(cosh) one(tanh) one(erf) one(erfc) one(cbrt) two(hypot)

static const double SCREEN = 0.49;
static const wide LARGEST = 0x1.fffffffffffff7fp+1023L;  // just below what rounds to infinity

enum { COUNT = 23 };
static void *precise_of[COUNT], *quick_of[COUNT];
static int arguments[COUNT];

// Find the functions in the library at `path`; gives how many are missing.
int64_t prepare(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    int next = 0, missing = 0;
#define ONE(name) arguments[next] = 1, precise_of[next] = dlsym(library, #name "f128"), quick_of[next++] = dlsym(library, #name "l");
#define TWO(name) arguments[next] = 2, precise_of[next] = dlsym(library, #name "f128"), quick_of[next++] = dlsym(library, #name "l");
    EACH(ONE, TWO)
    ONE(sqrt)
    for (int i = 0; i < COUNT; i++) missing += !precise_of[i] || !quick_of[i];
    return missing;
}

static quad precise(int id, double x, double y) {
    if (arguments[id] == 2) return ((quad(*)(quad, quad))precise_of[id])(x, y);
    quad value = ((quad(*)(quad))precise_of[id])(x);
    return id == COUNT - 1 ? (quad)1 / value : value;
}

static wide quick(int id, double x, double y) {
    if (arguments[id] == 2) return ((wide(*)(wide, wide))quick_of[id])(x, y);
    wide value = ((wide(*)(wide))quick_of[id])(x);
    return id == COUNT - 1 ? 1 / value : value;
}

// The unit of f64 at a value of this binary order.
static double unit(int order) { return ldexp(1.0, order < -1022 ? -1074 : order - 52); }

static double quad_error(quad wanted, double got) {
    double near = (double)wanted;
    if (isnan(near) || isnan(got)) return isnan(near) && isnan(got) ? 0 : INFINITY;
    if (near == got && (isinf(near) || wanted == 0)) return 0;
    if (isinf(near) || isinf(got)) {
        // One unit past the largest number counts as that number's neighbour.
        quad end = (quad)0x1p1023 * 2;
        quad clipped = isinf(near) ? (near > 0 ? end : -end) : wanted;
        quad value = isinf(got) ? (got > 0 ? end : -end) : (quad)got;
        quad off = (clipped - value) / (quad)0x1p971;
        return fabs((double)off);
    }
    unsigned __int128 bits;
    memcpy(&bits, &wanted, 16);
    int order = (int)((bits >> 112) & 0x7fff) - 16383;
    return fabs((double)((wanted - (quad)got) / (quad)unit(order)));
}

static double wide_error(wide wanted, double got) {
    if (isnan(wanted) || isnan(got)) return isnan(wanted) && isnan(got) ? 0 : INFINITY;
    if (fabsl(wanted) > LARGEST || isinf(got)) return INFINITY;  // the other evaluation decides
    if (wanted == 0) return got == 0 ? 0 : INFINITY;
    int order;
    frexpl(wanted, &order);
    return fabs((double)((wanted - (wide)got) / unit(order - 1)));
}

// Measure `count` results. `worst` and `where` (index) come in with what is known and go out with the maximum; returns how many results
// the 128-bit evaluation found off by more than half a unit.
int64_t measure(int id, const double *x, const double *y, const double *got, int64_t count, int everything, double *worst, int64_t *where) {
    int64_t beyond = 0;
    for (int64_t i = 0; i < count; i++) {
        double b = y ? y[i] : 0;
        if (!everything && wide_error(quick(id, x[i], b), got[i]) < SCREEN) continue;
        double error = quad_error(precise(id, x[i], b), got[i]);
        if (error > 0.5) beyond++;
        if (!(error <= *worst)) {
            *worst = error;
            *where = i;
        }
    }
    return beyond;
}
