// The loop of scale_relu.py as a C programmer writes it; compiled by the bench with -O3 for the processor level that the kernel is built for.
#include <stdint.h>

struct Params {
    float scale;
};

void scale_relu(float *restrict data, uint64_t len, const struct Params *p) {
    const float scale = p->scale;
    for (uint64_t i = 0; i < len; i++) {
        float y = data[i] * scale;
        data[i] = y > 0.0f ? y : 0.0f;
    }
}
