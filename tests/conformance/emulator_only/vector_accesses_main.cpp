/// \file
/// One vector is one access: what the inspector's counts rest on. Stands in for the
/// instrumentation's runtime and compares the accesses that arrive with those that a GPU would
/// make.

#include <cstdio>
#include <string>

#include "emulator/vector_types.hpp"

void copy(const float4* in, float4* out);
void scale(const float4* in, float4* out);
void make(float4* out);
void list(float4* out);
float sum(const float4* in);
void copy_pair(const float2* in, float2* out);
void copy_bytes(const uchar4* in, uchar4* out);
void copy_wide(const double4_16a* in, double4_16a* out);
float one_element(const float4* in);
void add(int* counter);

namespace {

std::string accesses;

void note(const char* access) {
    accesses += access;
}

int failures = 0;

/// Compares the accesses since the last call: r and w for read and write, then the bytes; a for
/// atomic.
void expect(const char* what, const std::string& expected) {
    if (accesses != expected) {
        std::printf("%s: accesses %s, expected %s\n", what, accesses.c_str(), expected.c_str());
        ++failures;
    }
    accesses.clear();
}

}  // namespace

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read1(void*) {
    note("r1 ");
}
void __tsan_read2(void*) {
    note("r2 ");
}
void __tsan_read4(void*) {
    note("r4 ");
}
void __tsan_read8(void*) {
    note("r8 ");
}
void __tsan_read16(void*) {
    note("r16 ");
}
void __tsan_write1(void*) {
    note("w1 ");
}
void __tsan_write2(void*) {
    note("w2 ");
}
void __tsan_write4(void*) {
    note("w4 ");
}
void __tsan_write8(void*) {
    note("w8 ");
}
void __tsan_write16(void*) {
    note("w16 ");
}
void __tsan_read_range(void*, unsigned long) {
    note("r? ");
}
void __tsan_write_range(void*, unsigned long) {
    note("w? ");
}
int __tsan_atomic32_fetch_add(volatile int* address, int value, int) {
    note("a4 ");
    const int before = *address;
    *address = before + value;
    return before;
}
}

int main() {
    float4 four{1, 2, 3, 4}, other{};
    copy(&four, &other);
    expect("float4 copied", "r16 w16 ");
    scale(&four, &other);
    expect("float4 scaled", "r16 w16 ");
    make(&other);
    expect("make_float4 stored", "w16 ");
    list(&other);
    expect("a list stored", "w16 ");
    const float total = sum(&four);
    expect("float4 loaded by __ldg", "r16 ");
    float2 two{1, 2}, swapped{};
    copy_pair(&two, &swapped);
    expect("float2 swapped", "r8 w8 ");
    uchar4 bytes{1, 2, 3, 4}, reversed{};
    copy_bytes(&bytes, &reversed);
    expect("uchar4 reversed", "r4 w4 ");
    double4_16a wide{1, 2, 3, 4}, wide_copy{};
    copy_wide(&wide, &wide_copy);
    expect("double4 copied", "r16 w16 r16 w16 ");
    const float element = one_element(&four);
    expect("one element of a float4", "r4 ");
    int counter = 0;
    add(&counter);
    expect("an atomic sum", "a4 ");
    if (total != 10 || swapped.x != 2 || reversed.x != 4 || wide_copy.w != 4 || element != 2 ||
        other.w != 4 || counter != 1) {
        std::printf("wrong results\n");
        ++failures;
    }
    return failures == 0 ? 0 : 1;
}
