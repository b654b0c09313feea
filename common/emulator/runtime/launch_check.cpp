#include <cstdint>
#include <utility>

#include "device.hpp"
#include "error.hpp"
#include "function.hpp"
#include "observer.hpp"
#include "scheduler.hpp"

namespace emu {
namespace {

bool within(const dim3& size, const int (&limit)[3]) {
    const auto fits = [](unsigned value, int most) {
        return value != 0 && value <= static_cast<unsigned>(most);
    };
    return fits(size.x, limit[0]) && fits(size.y, limit[1]) && fits(size.z, limit[2]);
}

/// With CUDA up to 12, which this is, sizes out of the limits are cudaErrorInvalidConfiguration;
/// seen with CUDA 13: cudaErrorInvalidValue.
cudaError_t check(const Task& task) {
    if (!within(task.grid, max_grid_size) || !within(task.block, max_block_size)) {
        return cudaErrorInvalidConfiguration;
    }
    const std::uint64_t threads = std::uint64_t{task.block.x} * task.block.y * task.block.z;
    if (threads > max_threads_per_block) return cudaErrorInvalidConfiguration;
    if (task.dynamic_shared > max_dynamic_shared(task.function)) return cudaErrorInvalidValue;
    return cudaSuccess;
}

}  // namespace

void enqueue_kernel(std::shared_ptr<Task> task, cudaStream_t stream) {
    // A launch returns nothing: what is wrong with it is the thread's last error.
    api_call([&] {
        if (const cudaError_t error = check(*task); error != cudaSuccess) {
            if (observer != nullptr) observer->launch_refused(*task, error);
            return error;
        }
        const auto operation = std::make_shared<Operation>(Engine::kernel);
        operation->task = std::move(task);
        return Scheduler::instance().enqueue(stream, operation);
    });
}

}  // namespace emu
