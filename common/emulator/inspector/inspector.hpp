/// \file
/// Watches a program on the emulator: every access of its device code, every call of its host code.
///
/// Each access goes, before it happens, through the analysers in this order: memory map (is it
/// allowed?), written bytes (does it read what nobody wrote?), races, and the trace from which the
/// counts are made. What they object to becomes a finding; all of it becomes a report when the
/// program ends.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../runtime/observer.hpp"
#include "../runtime/worker.hpp"
#include "call_site.hpp"
#include "counts.hpp"
#include "footprint.hpp"
#include "memory_map.hpp"
#include "operation_clocks.hpp"
#include "races.hpp"
#include "report.hpp"
#include "warp_trace.hpp"
#include "written_bytes.hpp"

namespace emu::inspector {

class Inspector final : public Observer {
public:
    Inspector();

    // From the compiler's call-backs, while a thread of a kernel runs.
    void device_access(const Access& access);
    void device_step(Pc pc) {
        last_step_ = pc;
        if (counted_) trace_.step(block.current->linear, pc, depth_[block.current->linear]);
    }
    void enter_function() { ++depth_[block.current->linear]; }
    void leave_function() { --depth_[block.current->linear]; }
    /// The thread will compare what lies there with a value, and exchange it: a plain read that it
    /// has made of it before was a first guess, which may be wrong.
    void compares(std::uint64_t address);
    void fence(FenceScope scope) { races_.fence(block.current->linear, scope); }

    /// From code of the host, also while kernels run.
    void host_access(const Access& access) {
        if (access.address - host_begin_ >= host_bytes_) return;
        const Gap& gap = gap_of(access.address);
        if (gap.generation == generation_ && access.address - gap.begin < gap.bytes) return;
        check_host_access(access);
    }

    void memory_made(const Allocation& allocation) override;
    void memory_released(const Allocation& allocation) override;
    std::uint32_t enqueued(std::uint64_t stream,
                           const std::vector<std::uint32_t>& predecessors) override;
    void host_waited(std::uint32_t operation) override;
    void copying(std::uint32_t operation, const CopyShape& shape, bool source_is_read) override;
    void launch_begins(const Task& task) override;
    void shared_variable_seen(const SharedSite& site) override;
    void block_begins(std::uint64_t number) override;
    void block_ends() override;
    void barrier_released() override;
    void warp_met(unsigned warp, std::uint32_t lanes, bool orders_memory) override;
    void shuffle_from_absent_lane(const Slot& thread) override;
    void kernel_given_up(cudaError_t error, const char* text) override;
    void launch_refused(const Task& task, cudaError_t error) override;
    void error_asked() override;
    void call_failed(cudaError_t error) override;

    /// Everything found so far.
    Report report();

private:
    using Lock = std::unique_lock<std::mutex>;

    /// All launches of one kernel with one shape.
    struct Group {
        KernelReport report;
        Counts counts;
        std::uint64_t counted_threads = 0;
        dim3 grid;
        dim3 block;
    };
    /// What an operation was, for reports. Most are never asked for.
    struct Operation {
        std::uint32_t group = no_group;
        bool fill = false;
        CallSite site;
    };
    static constexpr std::uint32_t no_group = ~0u;
    /// A launch that failed, until its thread asks.
    struct Refused {
        std::thread::id thread;
        Finding finding;
        CallSite site;
    };
    /// Addresses between two allocations, which code of the host may touch as it likes.
    struct Gap {
        unsigned generation = 0;  ///< 0: none
        std::uint64_t begin = 0;
        std::uint64_t bytes = 0;
    };
    /// The gap that this host thread found last, near an address.
    static Gap& gap_of(std::uint64_t address) {
        thread_local std::array<Gap, 8> gaps;
        return gaps[address >> 16 & 7];
    }

    /// A write that raced with another write: harmless if it does not change the memory.
    struct Doubtful {
        Finding finding;
        std::uint64_t address;
        std::size_t bytes;
        std::array<unsigned char, 16> before;
    };
    /// Memory that came or went while a block was running.
    struct MemoryEvent {
        bool made;
        Allocation allocation;
    };

    Lock lock();
    void apply(const MemoryEvent& event);
    void change_host_range();

    static bool is_own(std::uint64_t address);
    void misused(const Access& access);
    void never_written(const Access& access, const Object& object);
    void raced(const Access& access, const Conflict& conflict, const Object& object);
    void settle() {
        if (doubtful_) settle_doubtful();
    }
    void settle_doubtful();
    void check_host_access(const Access& access);
    void remember_gap(std::uint64_t address);
    void touched_by_host(const Access& access, const Object& object);
    void check_operation(std::uint32_t operation, const char* address, std::size_t bytes,
                         AccessKind kind);
    void end_launch();

    Party this_party(const Access& access) const;
    Party party_at(const Site& site) const;
    static std::vector<Site> waiting_places(bool& in_warp);
    Party party_of(const Conflict& conflict) const;
    static Fault fault_of(const Party& a, const Party& b, Space space);
    void add(const Finding& finding, const CallSite& site);
    void add_race(const Finding& finding);
    bool follows_from_a_race(const Finding& finding) const;
    bool only_a_guess(const Finding& finding) const;
    std::string object_name(std::uint64_t address) const;
    Group& group_of(const Task& task);
    bool counts_block(std::uint64_t number) const;

    std::mutex mutex_;  ///< held by the worker while it runs a block
    std::mutex events_mutex_;
    std::vector<MemoryEvent> events_;

    MemoryMap map_;
    WrittenBytes written_;
    OperationClocks clocks_;
    Races races_;
    BlockTrace trace_;
    Footprint footprint_;
    bool footprint_complete_ = true;
    Findings findings_;
    std::vector<std::pair<CallSite, CallSite>> finding_sites_;  ///< of their parties
    std::vector<Operation> operations_;
    std::map<std::string, std::uint32_t> group_numbers_;
    std::vector<std::unique_ptr<Group>> groups_;
    std::vector<Refused> refused_;
    std::vector<std::pair<cudaError_t, CallSite>> failed_calls_;
    std::map<std::uint64_t, std::uint64_t> allocations_;  ///< address and bytes of the live ones
    std::uint64_t host_begin_ = 0;                        ///< the range that holds all of these
    std::uint64_t host_bytes_ = 0;
    std::atomic<unsigned> generation_{1};  ///< changes with the allocations

    // Of the running launch and block.
    Group* group_ = nullptr;
    std::uint32_t operation_ = 0;
    std::uint64_t counting_share_ = 1;  ///< one block of so many is counted
    bool launch_counted_ = false;       ///< some of its blocks are counted
    bool counted_ = false;              ///< the running block is
    bool own_end_ = false;              ///< the inspector itself ends the kernel
    Lock block_lock_;
    Pc last_step_ = 0;                         ///< the basic block that runs
    std::array<std::uint16_t, 1024> depth_{};  ///< by thread: calls it is inside
    /// The last plain read of a thread.
    struct LastRead {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        Pc pc = 0;
    };
    std::array<LastRead, 1024> last_read_{};  ///< by thread
    std::set<Pc> guesses_;                    ///< reads before an atomicCAS() of the same
    /// Its shared memory: address and bytes.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> shared_ranges_;
    std::optional<Doubtful> doubtful_;
};

/// Begins to watch; called before the program's own static objects are made. When the process ends
/// the report is written: as text to standard output, and as JSON to the file that INSPECTOR_JSON
/// names. A process that would have ended with status 0 ends with 1 if there are findings.
void start();

/// Writes the report now: the program is about to die.
void write_report_early();

extern Inspector* the_inspector;

/// The one that watches. Only after start().
inline Inspector& inspector() {
    return *the_inspector;
}

}  // namespace emu::inspector
