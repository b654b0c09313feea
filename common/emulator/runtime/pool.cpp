#include "pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "faults.hpp"
#include "observer.hpp"
#include "settings.hpp"
#include "worker.hpp"

namespace emu {
namespace {

using Clock = std::chrono::steady_clock;

/// A launch that workers take blocks from.
struct Launch {
    std::shared_ptr<Task> task;
    std::function<void(cudaError_t)> done;
    std::uint64_t number;
    std::uint64_t blocks;
    std::uint64_t chunk;  ///< blocks taken at a time
    std::atomic<std::uint64_t> next{0};
    std::atomic<std::uint64_t> finished{0};
    std::atomic<cudaError_t> error{cudaSuccess};
};

/// What the watchdog looks at, one for each worker.
struct Progress {
    pthread_t thread;
    std::atomic<bool> busy{false};
    std::atomic<std::uint64_t> blocks{0};  ///< blocks begun so far
};

class Pool {
public:
    Pool() : progress_(observer == nullptr ? settings().workers : 1) {
        install_fault_handlers();
        for (unsigned i = 0; i < progress_.size(); ++i) {
            std::thread worker([this, i] { work(i); });
            worker.detach();
        }
        std::thread([this] { watch(); }).detach();
    }

    void submit(std::shared_ptr<Task> task, std::function<void(cudaError_t)> done) {
        auto launch = std::make_shared<Launch>();
        launch->blocks = std::uint64_t(task->grid.x) * task->grid.y * task->grid.z;
        // Small enough that the workers end together, large enough to be taken rarely.
        launch->chunk = std::clamp<std::uint64_t>(launch->blocks / (progress_.size() * 16), 1, 256);
        launch->task = std::move(task);
        launch->done = std::move(done);
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            launch->number = ++launches_;
            active_.push_back(std::move(launch));
        }
        ready_.notify_all();
    }

private:
    /// The oldest launch with blocks that nobody has taken; waits for one.
    std::shared_ptr<Launch> wait_for_launch() {
        std::unique_lock<std::mutex> lock(mutex_);
        while (true) {
            while (!active_.empty() && active_.front()->next >= active_.front()->blocks) {
                active_.pop_front();
            }
            if (!active_.empty()) return active_.front();
            ready_.wait(lock);
        }
    }

    void work(unsigned index) {
        progress_[index].thread = pthread_self();
        Worker worker(index, progress_[index].blocks);
        const FaultStack fault_stack;
        while (true) {
            const std::shared_ptr<Launch> launch = wait_for_launch();
            run(*launch, worker, progress_[index]);
        }
    }

    static void run(Launch& launch, Worker& worker, Progress& progress) {
        while (true) {
            const std::uint64_t first = launch.next.fetch_add(launch.chunk);
            if (first >= launch.blocks) return;
            const std::uint64_t last = std::min(first + launch.chunk, launch.blocks);
            if (launch.error == cudaSuccess) {
                progress.busy = true;
                const cudaError_t error =
                    worker.run_blocks(*launch.task, launch.number, first, last);
                progress.busy = false;
                if (error != cudaSuccess) launch.error = error;
            }
            if (launch.finished.fetch_add(last - first) + (last - first) == launch.blocks) {
                launch.done(launch.error);
            }
        }
    }

    /// Interrupts workers whose block does not end.
    void watch() {
        struct Seen {
            std::uint64_t blocks = 0;
            Clock::time_point since = Clock::now();
        };
        std::vector<Seen> seen(progress_.size());
        const std::chrono::duration<double> limit(settings().watchdog_s);
        while (true) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            for (std::size_t i = 0; i < seen.size(); ++i) {
                const std::uint64_t blocks = progress_[i].blocks;
                if (!progress_[i].busy || blocks != seen[i].blocks) {
                    seen[i] = {blocks, Clock::now()};
                } else if (Clock::now() - seen[i].since > limit) {
                    seen[i].since = Clock::now();
                    interrupt_worker(progress_[i].thread);
                }
            }
        }
    }

    std::vector<Progress> progress_;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<std::shared_ptr<Launch>> active_;
    std::uint64_t launches_ = 0;
};

}  // namespace

void pool_submit(std::shared_ptr<Task> task, std::function<void(cudaError_t)> done) {
    // Never destroyed: its threads may be running blocks when the process ends.
    static Pool& pool = *new Pool;
    pool.submit(std::move(task), std::move(done));
}

}  // namespace emu
