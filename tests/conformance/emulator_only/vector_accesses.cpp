/// \file
/// Code to be compiled with memory-access instrumentation; vector_accesses_main.cpp counts what it
/// does.

#include "emulator/atomics.hpp"
#include "emulator/memory_intrinsics.hpp"
#include "emulator/vector_types.hpp"

void copy(const float4* in, float4* out) {
    *out = *in;
}
void scale(const float4* in, float4* out) {
    float4 v = *in;
    v.x *= 2;
    v.y *= 2;
    v.z *= 2;
    v.w *= 2;
    *out = v;
}
void make(float4* out) {
    *out = make_float4(1, 2, 3, 4);
}
void list(float4* out) {
    *out = {1, 2, 3, 4};
}
float sum(const float4* in) {
    const float4 v = __ldg(in);
    return v.x + v.y + v.z + v.w;
}
void copy_pair(const float2* in, float2* out) {
    const float2 v = *in;
    *out = make_float2(v.y, v.x);
}
void copy_bytes(const uchar4* in, uchar4* out) {
    const uchar4 v = *in;
    *out = make_uchar4(v.w, v.z, v.y, v.x);
}
void copy_wide(const double4_16a* in, double4_16a* out) {
    *out = *in;
}
float one_element(const float4* in) {
    return in->y;
}
void add(int* counter) {
    atomicAdd(counter, 1);
}
