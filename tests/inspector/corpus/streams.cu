/// \file
/// Kernels, copies and the host that meet in memory, without and with what orders them.

#include "corpus.hpp"

using corpus::Array;
using corpus::ramp;
using corpus::status;
using corpus::zeros;

constexpr int count = 256;
constexpr size_t bytes = count * sizeof(int);

/// A stream that does not wait for the legacy default stream.
class NonBlocking {
public:
    NonBlocking() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
    ~NonBlocking() { cudaStreamDestroy(stream_); }
    NonBlocking(const NonBlocking&) = delete;
    NonBlocking& operator=(const NonBlocking&) = delete;
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

/// Pinned memory of the host.
class Pinned {
public:
    Pinned() {
        cudaMallocHost(&data_, bytes);
        for (int i = 0; i < count; ++i)
            data_[i] = i;
    }
    ~Pinned() { cudaFreeHost(data_); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    operator int*() const { return data_; }

private:
    int* data_ = nullptr;
};

namespace two_streams_write_one_buffer {
__global__ void fill(int* out, int value) {
    out[threadIdx.x] = value;  // EXPECT global_race
}

int run() {
    const NonBlocking a, b;
    const Array<int> out(count);
    fill<<<1, count, 0, a>>>(out, 1);
    fill<<<1, count, 0, b>>>(out, 2);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace two_streams_write_one_buffer

namespace missing_wait_for_event {
__global__ void fill(int* out) {
    out[threadIdx.x] = threadIdx.x;  // EXPECT global_race
}

__global__ void reverse(const int* in, int* out) {
    out[threadIdx.x] = in[count - 1 - threadIdx.x];  // EXPECT global_race
}

int run() {
    const NonBlocking a, b;
    const Array<int> middle(zeros<int>(count)), out(count);
    fill<<<1, count, 0, a>>>(middle);
    reverse<<<1, count, 0, b>>>(middle, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace missing_wait_for_event

/// The event is recorded before the kernel that it should stand for.
namespace event_recorded_too_early {
__global__ void fill(int* out) {
    out[threadIdx.x] = threadIdx.x;  // EXPECT global_race
}

__global__ void reverse(const int* in, int* out) {
    out[threadIdx.x] = in[count - 1 - threadIdx.x];  // EXPECT global_race
}

int run() {
    const NonBlocking a, b;
    const Array<int> middle(zeros<int>(count)), out(count);
    cudaEvent_t filled;
    cudaEventCreate(&filled);
    cudaEventRecord(filled, a);
    fill<<<1, count, 0, a>>>(middle);
    cudaStreamWaitEvent(b, filled, 0);
    reverse<<<1, count, 0, b>>>(middle, out);
    cudaDeviceSynchronize();
    cudaEventDestroy(filled);
    return 0;
}
}  // namespace event_recorded_too_early

namespace event_between_streams {
__global__ void fill(int* out) {
    out[threadIdx.x] = threadIdx.x;
}

__global__ void reverse(const int* in, int* out) {
    out[threadIdx.x] = in[count - 1 - threadIdx.x];
}

int run() {
    const NonBlocking a, b;
    const Array<int> middle(count), out(count);
    cudaEvent_t filled;
    cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
    fill<<<1, count, 0, a>>>(middle);
    cudaEventRecord(filled, a);
    cudaStreamWaitEvent(b, filled, 0);
    reverse<<<1, count, 0, b>>>(middle, out);
    cudaStreamSynchronize(b);
    cudaEventDestroy(filled);
    return status(out.values()[0] == count - 1);
}
}  // namespace event_between_streams

/// The host waits for the first stream before it launches into the second.
namespace host_between_streams {
__global__ void fill(int* out) {
    out[threadIdx.x] = threadIdx.x;
}

__global__ void reverse(const int* in, int* out) {
    out[threadIdx.x] = in[count - 1 - threadIdx.x];
}

int run() {
    const NonBlocking a, b;
    const Array<int> middle(count), out(count);
    fill<<<1, count, 0, a>>>(middle);
    cudaStreamSynchronize(a);
    reverse<<<1, count, 0, b>>>(middle, out);
    cudaStreamSynchronize(b);
    return status(out.values()[0] == count - 1);
}
}  // namespace host_between_streams

/// Two streams, one buffer, but each its own half of it.
namespace two_streams_two_halves {
__global__ void fill(int* out, int value) {
    out[threadIdx.x] = value;
}

int run() {
    const NonBlocking a, b;
    const Array<int> out(count);
    fill<<<1, count / 2, 0, a>>>(out, 1);
    fill<<<1, count / 2, 0, b>>>(out + count / 2, 2);
    cudaDeviceSynchronize();
    const std::vector<int> values = out.values();
    return status(values[0] == 1 && values[count - 1] == 2);
}
}  // namespace two_streams_two_halves

/// Both streams read the same input.
namespace two_streams_read_one_input {
__global__ void scale(const int* in, int* out, int factor) {
    out[threadIdx.x] = factor * in[threadIdx.x];
}

int run() {
    const Array<int> in(ramp<int>(count)), twice(count), thrice(count);
    const NonBlocking a, b;
    scale<<<1, count, 0, a>>>(in, twice, 2);
    scale<<<1, count, 0, b>>>(in, thrice, 3);
    cudaDeviceSynchronize();
    return status(twice.values()[10] == 20 && thrice.values()[10] == 30);
}
}  // namespace two_streams_read_one_input

/// The input is on its way in one stream; the kernel in the other does not wait for it.
namespace upload_in_another_stream {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // EXPECT global_race
}

int run() {
    const NonBlocking a, b;
    const Pinned values;
    const Array<int> in(zeros<int>(count)), out(count);
    cudaMemcpyAsync(in, values, bytes, cudaMemcpyDefault, a);  // EXPECT global_race
    twice<<<1, count, 0, b>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace upload_in_another_stream

namespace upload_in_the_same_stream {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];
}

int run() {
    const NonBlocking stream;
    const Pinned in_host, out_host;
    const Array<int> in(count), out(count);
    cudaMemcpyAsync(in, in_host, bytes, cudaMemcpyHostToDevice, stream);
    twice<<<1, count, 0, stream>>>(in, out);
    cudaMemcpyAsync(out_host, out, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return status(out_host[count - 1] == 2 * (count - 1));
}
}  // namespace upload_in_the_same_stream

/// cudaMemcpy belongs to the default stream: it does not wait for a non-blocking stream.
namespace plain_copy_after_non_blocking_kernel {
__global__ void fill(int* out) {
    out[threadIdx.x] = threadIdx.x;  // EXPECT global_race
}

int run() {
    const NonBlocking stream;
    const Array<int> out(zeros<int>(count));
    std::vector<int> values(count);
    fill<<<1, count, 0, stream>>>(out);
    cudaMemcpy(values.data(), out, bytes, cudaMemcpyDefault);  // EXPECT global_race
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace plain_copy_after_non_blocking_kernel

/// The legacy default stream waits for a blocking stream, and a blocking stream for it.
namespace default_stream_orders {
__global__ void fill(int* out, int value) {
    out[threadIdx.x] = value;
}

int run() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    const Array<int> out(count);
    std::vector<int> values(count);
    fill<<<1, count>>>(out, 1);
    fill<<<1, count, 0, stream>>>(out, 2);
    cudaMemcpy(values.data(), out, bytes, cudaMemcpyDeviceToHost);
    fill<<<1, count, 0, stream>>>(out, 3);
    fill<<<1, count>>>(out, 4);
    cudaDeviceSynchronize();
    cudaStreamDestroy(stream);
    return status(values[0] == 2 && out.values()[0] == 4);
}
}  // namespace default_stream_orders

/// cudaMemset in the default stream, the kernel in a non-blocking one.
namespace clear_in_the_default_stream {
__global__ void increment(int* counts) {
    counts[threadIdx.x] += 1;  // EXPECT global_race
}

int run() {
    const NonBlocking stream;
    const Array<int> counts(zeros<int>(count));
    cudaMemsetAsync(counts, 0, bytes);  // EXPECT global_race
    increment<<<1, count, 0, stream>>>(counts);
    cudaDeviceSynchronize();
    return 0;
}
}  // namespace clear_in_the_default_stream

namespace clear_in_the_kernels_stream {
__global__ void increment(int* counts) {
    counts[threadIdx.x] += 1;
}

int run() {
    const NonBlocking stream;
    const Array<int> counts(count);
    cudaMemsetAsync(counts, 0, bytes, stream);
    increment<<<1, count, 0, stream>>>(counts);
    cudaStreamSynchronize(stream);
    return status(counts.values()[count - 1] == 1);
}
}  // namespace clear_in_the_kernels_stream

namespace host_reads_before_the_copy_is_done {
__global__ void fill(int* out) {
    out[threadIdx.x] = 1;
}

int run() {
    const NonBlocking stream;
    const Pinned host;
    const Array<int> out(count);
    fill<<<1, count, 0, stream>>>(out);
    cudaMemcpyAsync(host, out, bytes, cudaMemcpyDefault, stream);  // EXPECT global_race
    const int sum = host[0] + host[1];                             // EXPECT global_race
    cudaStreamSynchronize(stream);
    return sum > 2;
}
}  // namespace host_reads_before_the_copy_is_done

/// A recorded event says when the copy is done; other work may still run.
namespace host_waits_for_an_event {
__global__ void fill(int* out, int value) {
    out[threadIdx.x] = value;
}

int run() {
    const NonBlocking stream;
    const Pinned host;
    const Array<int> out(count);
    cudaEvent_t copied;
    cudaEventCreate(&copied);
    fill<<<1, count, 0, stream>>>(out, 1);
    cudaMemcpyAsync(host, out, bytes, cudaMemcpyDeviceToHost, stream);
    cudaEventRecord(copied, stream);
    fill<<<1, count, 0, stream>>>(out, 2);
    cudaEventSynchronize(copied);
    const int sum = host[0] + host[1];
    cudaStreamSynchronize(stream);
    cudaEventDestroy(copied);
    return status(sum == 2);
}
}  // namespace host_waits_for_an_event

/// The host fills the buffer for the next round while the copy still reads it.
namespace host_overwrites_before_the_copy_is_done {
int run() {
    const NonBlocking stream;
    const Pinned host;
    const Array<int> in(2 * count);
    cudaMemcpyAsync(in, host, bytes, cudaMemcpyDefault, stream);  // EXPECT global_race
    host[count - 1] = 0;                                          // EXPECT global_race
    cudaStreamSynchronize(stream);
    return 0;
}
}  // namespace host_overwrites_before_the_copy_is_done

namespace host_writes_managed_memory_meanwhile {
__global__ void twice(const int* in, int* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // EXPECT global_race
}

int run() {
    int* in = nullptr;
    cudaMallocManaged(&in, bytes);
    for (int i = 0; i < count; ++i)
        in[i] = i;
    const Array<int> out(count);
    twice<<<1, count>>>(in, out);
    in[0] = 7;  // EXPECT global_race
    cudaDeviceSynchronize();
    cudaFree(in);
    return 0;
}
}  // namespace host_writes_managed_memory_meanwhile

/// The kernel writes straight into pinned memory, and the host reads at once.
namespace host_reads_mapped_memory_meanwhile {
__global__ void fill(int* out) {
    out[threadIdx.x] = threadIdx.x + 1;  // EXPECT global_race
}

int run() {
    const Pinned out;
    fill<<<1, count>>>(out);
    const int first = out[0];  // EXPECT global_race
    cudaDeviceSynchronize();
    return first > 1;
}
}  // namespace host_reads_mapped_memory_meanwhile

/// A host function in the stream comes behind the copy and before the next kernel.
namespace host_function_in_order {
struct Round {
    int* values;
    int sum;
};

void add_up(void* argument) {
    Round& round = *static_cast<Round*>(argument);
    for (int i = 0; i < count; ++i)
        round.sum += round.values[i];
}

__global__ void fill(int* out, int value) {
    out[threadIdx.x] = value;
}

int run() {
    const NonBlocking stream;
    const Pinned host;
    Round round{host, 0};
    fill<<<1, count, 0, stream>>>(host, 3);
    cudaLaunchHostFunc(stream, add_up, &round);
    fill<<<1, count, 0, stream>>>(host, 5);
    cudaStreamSynchronize(stream);
    return status(round.sum == 3 * count && host[0] == 5);
}
}  // namespace host_function_in_order

int main(int argc, char** argv) {
    return corpus::main(
        {CORPUS_CASE(two_streams_write_one_buffer), CORPUS_CASE(missing_wait_for_event),
         CORPUS_CASE(event_recorded_too_early), CORPUS_CASE(event_between_streams),
         CORPUS_CASE(host_between_streams), CORPUS_CASE(two_streams_two_halves),
         CORPUS_CASE(two_streams_read_one_input), CORPUS_CASE(upload_in_another_stream),
         CORPUS_CASE(upload_in_the_same_stream), CORPUS_CASE(plain_copy_after_non_blocking_kernel),
         CORPUS_CASE(default_stream_orders), CORPUS_CASE(clear_in_the_default_stream),
         CORPUS_CASE(clear_in_the_kernels_stream), CORPUS_CASE(host_reads_before_the_copy_is_done),
         CORPUS_CASE(host_waits_for_an_event), CORPUS_CASE(host_overwrites_before_the_copy_is_done),
         CORPUS_CASE(host_writes_managed_memory_meanwhile),
         CORPUS_CASE(host_reads_mapped_memory_meanwhile), CORPUS_CASE(host_function_in_order)},
        argc, argv);
}
