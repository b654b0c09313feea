/// \file
/// The graph of enqueued work: which operation waits for which, and who is started when.
///
/// An operation follows the last one of its stream. Work in the legacy default stream also follows
/// the last operation of every blocking stream, and work in a blocking stream the last one of the
/// legacy stream. When the last predecessor has finished, the operation goes to its engine at once
/// (eager), or once some call needs its result (EMULATOR_STREAMS=late): then a wait that the
/// program forgot is never made up for by luck.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine.hpp"
#include "operation.hpp"

namespace emu {

/// The scheduler's lock guards the tail.
struct Stream {
    Stream(std::uint64_t number, unsigned flag_bits, int urgency)
        : id(number), flags(flag_bits), priority(urgency) {}

    /// Takes part in the legacy stream's ordering.
    bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }

    const std::uint64_t id;
    const unsigned flags;
    const int priority;
    std::atomic<bool> closed{false};  ///< destroyed; forgotten once its work is done
    OperationPtr tail;                ///< the last operation, or null
};

class Scheduler {
public:
    static Scheduler& instance();

    /// Appends an operation to a stream; it also waits for `also_after`, if given. Blocks while too
    /// many operations are pending, as the real queues do. Error: cudaErrorInvalidResourceHandle.
    cudaError_t enqueue(cudaStream_t stream, const OperationPtr& operation,
                        const OperationPtr& also_after = nullptr);

    /// Sleeps until the operation has finished. Gives the context's error.
    cudaError_t wait(const OperationPtr& operation);

    /// Whether it has finished; if not, it is started now if that was put off.
    bool reached(const OperationPtr& operation);

    /// The same for all that a stream holds at the moment, and for all streams.
    cudaError_t wait_for_stream(cudaStream_t stream);
    cudaError_t query_stream(cudaStream_t stream);
    cudaError_t wait_for_device();

    cudaStream_t create_stream(unsigned flags, int priority);
    cudaError_t destroy_stream(cudaStream_t stream);
    void destroy_all_streams();

    /// Null if there is no such stream.
    std::shared_ptr<const Stream> find_stream(cudaStream_t stream);

    bool runs_late() const { return late_; }
    bool ends() const { return ends_; }

    /// Starts nothing any more and gives running copies and kernels a moment to finish.
    void shut_down();

private:
    using Operations = std::vector<OperationPtr>;

    Scheduler();

    // Under the lock. `ready` collects what the caller must start() after letting go of it.
    std::shared_ptr<Stream> find_locked(cudaStream_t stream);
    std::shared_ptr<Stream> add_stream(unsigned flags, int priority);
    void forget_closed_streams();
    Operations tails_of_stream(const std::shared_ptr<Stream>& stream) const;
    void tell_observer(std::uint64_t stream, const OperationPtr& operation,
                       const Operations& before);
    void add_predecessor(const OperationPtr& operation, const OperationPtr& before);
    void demand(Operations wanted, Operations& ready);
    void make_ready(const OperationPtr& operation, Operations& ready, Operations& passed);
    void pass(Operations passed, Operations& ready);
    cudaError_t wait_for(const Operations& operations, std::unique_lock<std::mutex> lock);

    // Without the lock.
    void start(const Operations& ready);
    void run_on(EngineThread& engine, const OperationPtr& operation);
    void finish(const OperationPtr& operation, cudaError_t error);

    const bool late_;
    std::atomic<bool> ends_{false};

    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<Stream> legacy_;
    std::vector<std::shared_ptr<Stream>>
        streams_;  ///< all but the legacy one, closed ones included
    std::unordered_map<cudaStream_t, std::shared_ptr<Stream>> handles_;
    std::uint64_t streams_made_ = 0;
    std::size_t pending_ = 0;  ///< operations that an engine has yet to carry out
    std::size_t running_ = 0;  ///< of these, the ones that an engine holds
    std::size_t waiting_for_room_ = 0;

    EngineThread upload_{Reach::device};
    EngineThread download_{Reach::device};
    EngineThread device_copy_{Reach::device};
    EngineThread host_{Reach::host_only};
};

/// Whether the process is at its end, so that no call can do anything.
bool process_ends();

}  // namespace emu
