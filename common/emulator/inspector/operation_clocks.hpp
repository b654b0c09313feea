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
    /// `predecessors` (earlier operations in any stream; 0 stands for none). Gives its number.
    OperationNumber enqueue(std::uint64_t stream, const std::vector<OperationNumber>& predecessors);

    /// The host has seen that `operation` is done, and so is all that happens before it.
    void host_waited(OperationNumber operation);

    /// Whether the end of `before` is sure to precede the begin of `after`, of which the host has
    /// not yet seen the end. An operation does not precede itself.
    bool ordered(OperationNumber before, OperationNumber after) const;

    /// Whether the host may rely on `operation` being done.
    bool host_knows(OperationNumber operation) const;

    /// The last operation that was enqueued; 0: none.
    OperationNumber last() const {
        return settled_ + static_cast<OperationNumber>(operations_.size());
    }

    /// When this operation was the last one enqueued, the host knew that all were done: they happen
    /// before everything that came later. Their clocks are gone.
    OperationNumber settled() const { return settled_; }

    /// Bytes that the clocks take. When they reach `memory_limit`, all that was enqueued so far is
    /// taken for settled, which hides races but makes none up.
    std::size_t memory() const;
    static constexpr std::size_t memory_limit = std::size_t{256} << 20;

private:
    struct Operation {
        std::uint32_t stream;    ///< index
        std::uint32_t position;  ///< in its stream, from 1 on
        std::uint32_t clock;     ///< where in `clocks_` it says what is done in the other streams
        std::uint32_t width;     ///< entries of that clock
    };
    struct Stream {
        std::uint32_t length = 0;    ///< operations so far
        OperationNumber newest = 0;  ///< 0: none
    };

    std::uint32_t index_of(std::uint64_t stream);
    const Operation& at(OperationNumber operation) const {
        return operations_[operation - settled_ - 1];
    }
    bool is_unsettled(OperationNumber operation) const {
        return operation > settled_ && operation <= last();
    }
    /// Raises `clock` to what is done when `operation` is.
    void merge(std::vector<std::uint32_t>& clock, const Operation& operation) const;
    void settle();

    OperationNumber settled_ = 0;
    std::vector<Operation> operations_;  ///< those behind `settled_`
    std::vector<std::uint32_t> clocks_;  ///< one after another, shared where equal
    std::unordered_map<std::uint64_t, std::uint32_t> indices_;
    std::vector<Stream> streams_;
    std::vector<std::uint32_t> host_;    ///< by stream: operations that the host knows to be done
    std::vector<std::uint32_t> merged_;  ///< kept for its storage
};

}  // namespace emu::inspector
