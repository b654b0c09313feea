#include "actors.hpp"

#include <algorithm>

namespace emu::inspector {

void Actors::begin(Kind kind, OperationNumber number) {
    if (clocks_.settled() != seen_settled_) forget_settled();
    // The host learns while it runs.
    if (kind == Kind::host) forget_answers();
    if (!runs_.empty() && runs_.back().kind == kind && runs_.back().number == number) return;
    present_ = ++now_;
    runs_.push_back({present_, kind, number});
    forget_answers();
}

void Actors::forget_settled() {
    // Whatever runs from now on was enqueued after the host had seen the end of these, or is the
    // host itself.
    seen_settled_ = clocks_.settled();
    while (!runs_.empty() && runs_.front().number <= seen_settled_)
        runs_.pop_front();
    settled_ = runs_.empty() ? now_ + 1 : runs_.front().first;
    const auto kept =
        std::lower_bound(blocks_.begin(), blocks_.end(), settled_,
                         [](const Block& block, Era era) { return block.first < era; });
    blocks_.erase(blocks_.begin(), kept);
}

void Actors::begin_block(std::uint64_t block) {
    if (blocks_.size() >= most_blocks)
        blocks_.erase(blocks_.begin(), blocks_.begin() + most_blocks / 2);
    blocks_.push_back({now_, block});
}

std::deque<Actors::Run>::const_iterator Actors::find(Era era) const {
    const auto next = std::upper_bound(runs_.begin(), runs_.end(), era,
                                       [](Era e, const Run& run) { return e < run.first; });
    return next == runs_.begin() ? next : next - 1;
}

Actors::Relation Actors::relation(Era era) {
    for (const Answer& answer : answers_) {
        if (era >= answer.first && era < answer.end) return answer.relation;
    }
    const auto place = find(era);
    const Run& earlier = *place;
    const Run& present = runs_.back();
    const bool from_host = earlier.kind == Kind::host;
    const bool to_host = present.kind == Kind::host;
    Relation relation;
    if (from_host == to_host && (from_host || earlier.number == present.number)) {
        relation = Relation::same;
    } else {
        const bool ordered = to_host     ? clocks_.host_knows(earlier.number)
                             : from_host ? earlier.number < present.number
                                         : clocks_.ordered(earlier.number, present.number);
        relation = ordered ? Relation::ordered : Relation::unordered;
    }
    const auto next = place + 1;
    const Era end = next == runs_.end() ? ~Era{0} : next->first;
    answers_[next_answer_++ % answers_.size()] = {place->first, end, relation};
    return relation;
}

const Actors::Run& Actors::run(Era era) const {
    return *find(era);
}

std::optional<std::uint64_t> Actors::block(Era era) const {
    const auto next = std::upper_bound(blocks_.begin(), blocks_.end(), era,
                                       [](Era e, const Block& block) { return e < block.first; });
    if (next == blocks_.begin()) return std::nullopt;
    return (next - 1)->number;
}

void Actors::restart() {
    if (runs_.empty()) return;
    Run present = runs_.back();
    present.first = settled_ = present_ = now_;
    runs_ = {present};
    blocks_.clear();
    forget_answers();
}

}  // namespace emu::inspector
