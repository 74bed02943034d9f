// Kernels in the C++ of HIP and CUDA, with what clang offers; no header, no library. One has a mangled name, one is of a template.
#define global __attribute__((global))
#define device __attribute__((device))
#define shared __attribute__((shared))
#define constant __attribute__((constant))

struct Params {
  float scale, offset;
  unsigned long count;
};

device constant float steps[4] = {1.0f, 2.0f, 3.5f, 4.25f};

__attribute__((noinline)) device float times(float a, float b) { return a * b; }

extern "C" global void raw_scale(float *data, unsigned long len, float factor) {
  unsigned i = GROUP * 256 + LOCAL;
  if (i < len) data[i] = times(data[i], factor);
}

global __attribute__((section("hot"))) void raw_add(float *data, Params p) {
  shared float tile[64];
  tile[LOCAL & 63] = p.offset;
  data[LOCAL] = data[LOCAL] * p.scale + tile[0];
}

template <class T>
global void fill(T *data, T value) { data[LOCAL] = value; }
template global void fill<int>(int *, int);
