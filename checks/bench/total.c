#include <stdint.h>

float total(const float *data, uint64_t count) {
    float sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += data[i];
    return sum;
}
