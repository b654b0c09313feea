/// \file
/// Who was running in which era: launches, other operations, the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "operation_clocks.hpp"
#include "stamp.hpp"

namespace emu::inspector {

class Actors {
public:
    enum class Kind : std::uint8_t { launch, operation, host };
    struct Run {
        Era first;
        Kind kind;
        OperationNumber number;  ///< of the host: the last operation that it had enqueued
    };
    enum class Relation : std::uint8_t {
        same,     ///< the same launch, operation or the host
        ordered,  ///< sure to happen before what runs now
        unordered
    };

    /// `now`: the running era, which begin() may advance.
    Actors(const OperationClocks& clocks, Era& now) : clocks_(clocks), now_(now) {}

    /// What runs from now on. Nothing changes if it is what ran last.
    void begin(Kind kind, OperationNumber number);
    void begin_host() { begin(Kind::host, clocks_.last()); }
    /// A block of the launch that runs begins now.
    void begin_block(std::uint64_t block);

    /// Who ran in an era that lies before the present run, seen from who runs now.
    Relation relation(Era era);

    /// What lies before this era is in order with all that runs now or will run.
    Era settled() const { return settled_; }
    /// First era of the present run.
    Era present() const { return present_; }

    /// Who ran in an era from settled() on; for reports.
    const Run& run(Era era) const;
    /// Which block of a launch ran; nothing: too long ago.
    std::optional<std::uint64_t> block(Era era) const;

    /// Eras begin again; only who runs now is kept.
    void restart();

private:
    struct Block {
        Era first;
        std::uint64_t number;
    };
    struct Answer {
        Era first = 1;
        Era end = 0;
        Relation relation = Relation::same;
    };
    /// Of earlier blocks only so many are remembered, or half of them: 64 MB.
    static constexpr std::size_t most_blocks = std::size_t{1} << 22;

    std::deque<Run>::const_iterator find(Era era) const;
    void forget_settled();
    void forget_answers() { answers_ = {}; }

    const OperationClocks& clocks_;
    Era& now_;
    std::deque<Run> runs_;
    std::vector<Block> blocks_;
    OperationNumber seen_settled_ = 0;
    Era settled_ = 1;
    Era present_ = 1;
    std::array<Answer, 4> answers_;  ///< the last ones of relation()
    unsigned next_answer_ = 0;
};

}  // namespace emu::inspector
