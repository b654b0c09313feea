#include "scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "error.hpp"
#include "host_guard.hpp"
#include "observer.hpp"
#include "pool.hpp"

namespace emu {
namespace {

/// Operations that may be pending before an enqueueing thread has to wait; real queues hold about
/// as many.
constexpr std::size_t queue_length = 1024;

/// How long the end of the process waits for what is running.
constexpr auto exit_patience = std::chrono::seconds(2);

std::atomic<Scheduler*> made{nullptr};

/// The stream handle of the n-th stream made: distinct, and far from any real address.
cudaStream_t handle_of(std::uint64_t number) {
    return reinterpret_cast<cudaStream_t>(0x53000000 + 16 * number);
}

bool read_late() {
    const char* const value = std::getenv("EMULATOR_STREAMS");
    const std::string text = value == nullptr ? "" : value;
    if (text == "late") return true;
    if (text.empty() || text == "eager") return false;
    std::fprintf(stderr, "emulator: EMULATOR_STREAMS=%s makes no sense: expected eager or late\n",
                 text.c_str());
    std::_Exit(2);
}

/// A host thread's own default stream, closed when the thread ends.
struct PerThreadStream {
    std::shared_ptr<Stream> stream;
    ~PerThreadStream() {
        if (stream) stream->closed = true;
    }
};
thread_local PerThreadStream per_thread;

}  // namespace

Scheduler& Scheduler::instance() {
    // Never destroyed: engines and workers may still use it while the process ends.
    static Scheduler& scheduler = *new Scheduler;
    return scheduler;
}

Scheduler::Scheduler()
    : late_(read_late()), legacy_(std::make_shared<Stream>(0, cudaStreamDefault, 0)) {
    made = this;
    std::atexit([] { Scheduler::instance().shut_down(); });
}

bool process_ends() {
    const Scheduler* const scheduler = made;
    return scheduler != nullptr && scheduler->ends();
}

void Scheduler::shut_down() {
    std::unique_lock<std::mutex> lock(mutex_);
    ends_ = true;
    changed_.notify_all();
    // What runs may read memory that the program's static objects own. A host function that ends
    // the process does not wait for itself.
    const std::size_t own = in_host_function() ? 1 : 0;
    changed_.wait_for(lock, exit_patience, [this, own] { return running_ <= own; });
}

std::shared_ptr<Stream> Scheduler::find_locked(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) return legacy_;
    if (stream == cudaStreamPerThread) {
        if (!per_thread.stream) per_thread.stream = add_stream(cudaStreamDefault, 0);
        return per_thread.stream;
    }
    const auto found = handles_.find(stream);
    return found == handles_.end() ? nullptr : found->second;
}

std::shared_ptr<Stream> Scheduler::add_stream(unsigned flags, int priority) {
    forget_closed_streams();
    auto stream = std::make_shared<Stream>(++streams_made_, flags, priority);
    streams_.push_back(stream);
    return stream;
}

void Scheduler::forget_closed_streams() {
    const auto done = [](const std::shared_ptr<Stream>& s) {
        return s->closed && (!s->tail || s->tail->finished);
    };
    if (observer != nullptr) return;  // it wants to know what came after their work
    streams_.erase(std::remove_if(streams_.begin(), streams_.end(), done), streams_.end());
}

cudaStream_t Scheduler::create_stream(unsigned flags, int priority) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::shared_ptr<Stream> stream = add_stream(flags, priority);
    const cudaStream_t handle = handle_of(stream->id);
    handles_[handle] = stream;
    return handle;
}

cudaError_t Scheduler::destroy_stream(cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = handles_.find(stream);
    if (found == handles_.end()) return cudaErrorInvalidResourceHandle;
    found->second->closed = true;
    handles_.erase(found);
    forget_closed_streams();
    return cudaSuccess;
}

void Scheduler::destroy_all_streams() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& entry : handles_)
        entry.second->closed = true;
    handles_.clear();
    forget_closed_streams();
}

std::shared_ptr<const Stream> Scheduler::find_stream(cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return find_locked(stream);
}

Scheduler::Operations Scheduler::tails_of_stream(const std::shared_ptr<Stream>& stream) const {
    Operations result;
    const auto add_tail = [&result](const Stream& s) {
        if (s.tail) result.push_back(s.tail);
    };
    add_tail(*stream);
    if (stream == legacy_) {
        for (const std::shared_ptr<Stream>& other : streams_) {
            if (other->blocking()) add_tail(*other);
        }
    }
    return result;
}

void Scheduler::add_predecessor(const OperationPtr& operation, const OperationPtr& before) {
    if (before->finished) return;
    before->successors.push_back(operation);
    ++operation->unfinished_predecessors;
    // Only demand() walks backwards, and only when work is put off.
    if (late_) operation->predecessors.push_back(before);
}

void Scheduler::tell_observer(std::uint64_t stream, const OperationPtr& operation,
                              const Operations& before) {
    std::vector<std::uint32_t> numbers;
    for (const OperationPtr& predecessor : before)
        numbers.push_back(predecessor->number);
    operation->number = observer->enqueued(stream, numbers);
    if (operation->task) operation->task->operation = operation->number;
}

cudaError_t Scheduler::enqueue(cudaStream_t stream, const OperationPtr& operation,
                               const OperationPtr& also_after) {
    Operations ready;
    {
        std::unique_lock<std::mutex> lock(mutex_);
        const std::shared_ptr<Stream> into = find_locked(stream);
        if (!into) return cudaErrorInvalidResourceHandle;
        if (operation->engine != Engine::none) {
            if (!late_) {
                ++waiting_for_room_;
                changed_.wait(lock, [this] { return pending_ < queue_length || ends_; });
                --waiting_for_room_;
            }
            ++pending_;
        }
        if (ends_) return cudaErrorCudartUnloading;
        Operations before = tails_of_stream(into);
        if (into != legacy_ && into->blocking() && legacy_->tail) before.push_back(legacy_->tail);
        if (also_after) before.push_back(also_after);
        if (observer != nullptr) tell_observer(into->id, operation, before);
        for (const OperationPtr& predecessor : before)
            add_predecessor(operation, predecessor);
        into->tail = operation;
        if (!late_) demand({operation}, ready);
    }
    start(ready);
    return cudaSuccess;
}

void Scheduler::demand(Operations wanted, Operations& ready) {
    Operations startable;
    while (!wanted.empty()) {
        const OperationPtr operation = std::move(wanted.back());
        wanted.pop_back();
        if (operation->demanded || operation->finished) continue;
        operation->demanded = true;
        for (const OperationPtr& before : operation->predecessors)
            wanted.push_back(before);
        if (operation->unfinished_predecessors == 0) startable.push_back(operation);
    }
    Operations passed;
    for (const OperationPtr& operation : startable)
        make_ready(operation, ready, passed);
    pass(std::move(passed), ready);
}

void Scheduler::make_ready(const OperationPtr& operation, Operations& ready, Operations& passed) {
    operation->predecessors.clear();
    if (ends_) return;
    const bool skipped = context_error() != cudaSuccess && !operation->even_after_failure;
    if (operation->engine == Engine::none || skipped) {
        passed.push_back(operation);
        return;
    }
    ++running_;
    ready.push_back(operation);
}

void Scheduler::pass(Operations passed, Operations& ready) {
    bool wake = false;
    while (!passed.empty()) {
        const OperationPtr operation = std::move(passed.back());
        passed.pop_back();
        operation->finished = true;
        operation->finished_at = std::chrono::steady_clock::now();
        if (operation->engine != Engine::none) --pending_;
        wake = wake || operation->awaited;
        for (const OperationPtr& after : operation->successors) {
            if (--after->unfinished_predecessors == 0 && after->demanded) {
                make_ready(after, ready, passed);
            }
        }
        operation->successors.clear();
    }
    wake = wake || (waiting_for_room_ != 0 && pending_ < queue_length);
    if (wake) changed_.notify_all();
}

void Scheduler::start(const Operations& ready) {
    for (const OperationPtr& operation : ready) {
        switch (operation->engine) {
            case Engine::none:
                break;
            case Engine::kernel: {
                const DeviceAccess for_workers;  // the first launch starts them
                pool_submit(operation->task,
                            [this, operation](cudaError_t error) { finish(operation, error); });
                break;
            }
            case Engine::upload:
                run_on(upload_, operation);
                break;
            case Engine::download:
                run_on(download_, operation);
                break;
            case Engine::device_copy:
                run_on(device_copy_, operation);
                break;
            case Engine::host:
                run_on(host_, operation);
                break;
        }
    }
}

void Scheduler::run_on(EngineThread& engine, const OperationPtr& operation) {
    engine.post([this, operation] {
        operation->work(context_error());
        finish(operation, cudaSuccess);
    });
}

void Scheduler::finish(const OperationPtr& operation, cudaError_t error) {
    spoil_context(error);
    // What the operation owned may be of any type: it is released without the lock.
    const std::shared_ptr<Task> task = std::move(operation->task);
    const std::function<void(cudaError_t)> work = std::move(operation->work);
    Operations ready;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        --running_;
        pass({operation}, ready);
        if (ends_) changed_.notify_all();
    }
    start(ready);
}

cudaError_t Scheduler::wait_for(const Operations& operations, std::unique_lock<std::mutex> lock) {
    Operations ready;
    demand(operations, ready);
    for (const OperationPtr& operation : operations)
        operation->awaited = true;
    if (!ready.empty()) {
        lock.unlock();
        start(ready);
        lock.lock();
    }
    for (const OperationPtr& operation : operations) {
        changed_.wait(lock, [&] { return operation->finished || ends_; });
        if (observer != nullptr) observer->host_waited(operation->number);
    }
    return ends_ ? cudaErrorCudartUnloading : context_error();
}

cudaError_t Scheduler::wait(const OperationPtr& operation) {
    return wait_for({operation}, std::unique_lock<std::mutex>(mutex_));
}

cudaError_t Scheduler::wait_for_stream(cudaStream_t stream) {
    std::unique_lock<std::mutex> lock(mutex_);
    const std::shared_ptr<Stream> found = find_locked(stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    return wait_for(tails_of_stream(found), std::move(lock));
}

cudaError_t Scheduler::wait_for_device() {
    std::unique_lock<std::mutex> lock(mutex_);
    Operations operations = tails_of_stream(legacy_);
    for (const std::shared_ptr<Stream>& stream : streams_) {
        if (stream->tail) operations.push_back(stream->tail);
    }
    return wait_for(operations, std::move(lock));
}

bool Scheduler::reached(const OperationPtr& operation) {
    Operations ready;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (operation->finished) {
            if (observer != nullptr) observer->host_waited(operation->number);
            return true;
        }
        demand({operation}, ready);
    }
    start(ready);
    return false;
}

cudaError_t Scheduler::query_stream(cudaStream_t stream) {
    Operations ready;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const std::shared_ptr<Stream> found = find_locked(stream);
        if (!found) return cudaErrorInvalidResourceHandle;
        const Operations operations = tails_of_stream(found);
        const auto finished = [](const OperationPtr& operation) { return operation->finished; };
        if (std::all_of(operations.begin(), operations.end(), finished)) {
            for (const OperationPtr& operation : operations) {
                if (observer != nullptr) observer->host_waited(operation->number);
            }
            return context_error();
        }
        demand(operations, ready);
    }
    start(ready);
    return cudaErrorNotReady;
}

}  // namespace emu
