/// \file
/// What is wrong with a program: each fault once, however often it happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "access.hpp"

namespace emu::inspector {

enum class Fault {
    out_of_bounds,
    use_after_free,
    misaligned,
    host_pointer,    ///< memory of the host, which a GPU cannot reach
    device_pointer,  ///< memory of the device, which code of the host cannot reach
    never_written,   ///< a read of memory that nothing has written
    shared_race,     ///< shared memory, two threads of a block, no barrier between
    global_race,     ///< global memory: threads of one launch, two launches, a copy or the host
    atomic_mixed,    ///< a race of an atomic and a plain access
    barrier,         ///< divergent or missing: not all threads reach the same one
    warp_mask,       ///< a warp primitive whose mask does not fit the lanes that come
    launch_error,    ///< a launch failed, and the program never asked
    kernel_failure   ///< anything else that ended a kernel: assert, trap, stack, watchdog
};

/// The enumerator's name: what the JSON report calls the fault.
const char* name_of(Fault fault);

/// Three numbers of CUDA: an index or a shape.
struct Triple {
    unsigned x = 0, y = 0, z = 0;
};

/// Who did one of the accesses that a finding is about.
struct Party {
    enum class Who { thread, operation, host };
    Who who = Who::thread;
    AccessKind kind = AccessKind::read;
    unsigned bytes = 0;  ///< of the access
    Pc pc = 0;           ///< 0: unknown; then `file` and `line` may say where
    std::string file;
    int line = 0;
    std::string kernel;           ///< of a thread; else the call, such as cudaMemcpyAsync
    Triple block;                 ///< of a thread
    Triple thread;                ///< of a thread
    bool anonymous = false;       ///< a thread, but which one was not kept
    std::uint32_t operation = 0;  ///< number of the launch or call, to tell two apart; 0: unknown
};

struct Finding {
    Fault fault;
    Party first;  ///< who is at fault: of a race, the later access
    /// Of a race: the earlier access; of threads that wait at two places: the other place.
    std::optional<Party> second;
    std::string object;       ///< "shared variable tile, 1296 bytes", "cudaMalloc #3, 4000 bytes"
    std::string detail;       ///< what the sentence needs besides: "4 bytes past the end"
    std::uint64_t times = 1;  ///< how often
};

/// The findings of a run, in the order in which they came up.
class Findings {
public:
    /// Adds a finding; one of the same fault, kernel and instructions is counted as the same.
    /// Returns where it stands in all().
    std::size_t add(const Finding& finding);

    const std::vector<Finding>& all() const { return all_; }
    bool empty() const { return all_.empty(); }

private:
    std::vector<Finding> all_;
};

}  // namespace emu::inspector
