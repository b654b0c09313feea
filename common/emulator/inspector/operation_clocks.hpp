/// \file
/// Which of the launches, copies and fills that were put into streams happen before which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace emu::inspector {

/// Numbers launches, copies and other work in the order in which the host enqueued it, from 1 on.
using OperationNumber = std::uint32_t;

/// A vector clock over streams for each operation, and one for the host.
///
/// An operation happens before another if the rules of streams, events and waits promise it, not
/// because it came first this time. Host threads count as one: what one of them has seen, all know.
class OperationClocks {
public:
    /// Work is put into a stream, behind all that is in it, all that the host has waited for, and
    /// `predecessors` (earlier operations in other streams; 0 stands for none). Gives its number.
    OperationNumber enqueue(std::uint64_t stream, const std::vector<OperationNumber>& predecessors);

    /// The host has seen that `operation` is done, and so is all that happens before it.
    void host_waited(OperationNumber operation);

    /// Whether the end of `before` is sure to precede the begin of `after`. Both are operations
    /// that were enqueued; `after` is not yet known to be done, or the answer may be yes too often.
    bool ordered(OperationNumber before, OperationNumber after) const;

    /// Whether the host may rely on `operation` being done.
    bool host_knows(OperationNumber operation) const;

    /// The last operation that was enqueued; 0: none.
    OperationNumber last() const { return settled_ + static_cast<OperationNumber>(known_.size()); }

    /// The host has seen the end of this operation and of all with smaller numbers, so that they
    /// happen before everything that is enqueued or done from now on.
    OperationNumber settled() const { return settled_; }

    /// Bytes that the clocks take. They are given up, and everything counts as ordered that was
    /// enqueued so far, at `memory_limit`.
    std::size_t memory() const;
    static constexpr std::size_t memory_limit = std::size_t{256} << 20;

private:
    using StreamIndex = std::uint32_t;

    struct Known {
        StreamIndex stream;
        std::uint32_t position;  ///< in its stream, from 1 on
        std::size_t clock;       ///< where in `clocks_` lies what it knows of other streams
        std::uint32_t width;     ///< entries of that clock
    };
    struct Stream {
        std::uint32_t length = 0;    ///< operations so far
        OperationNumber newest = 0;  ///< 0: none
    };

    StreamIndex index_of(std::uint64_t stream);
    const Known* find(OperationNumber operation) const;
    /// Raises `clock` to what `known` knows, itself included.
    void merge(std::vector<std::uint32_t>& clock, const Known& known) const;
    void settle();

    OperationNumber settled_ = 0;
    std::vector<Known> known_;  ///< of the operations behind `settled_`
    std::vector<std::uint32_t> clocks_;
    std::unordered_map<std::uint64_t, StreamIndex> indices_;
    std::vector<Stream> streams_;
    std::vector<std::uint32_t> host_;  ///< by stream: operations that the host knows to be done
    std::vector<std::uint32_t> scratch_;
};

}  // namespace emu::inspector
