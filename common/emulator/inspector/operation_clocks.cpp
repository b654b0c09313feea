#include "operation_clocks.hpp"

#include <algorithm>

namespace emu::inspector {
namespace {

/// More streams than this at a time share the last index: they count as one stream.
constexpr std::size_t most_streams = 1024;

void raise(std::vector<std::uint32_t>& clock, std::size_t stream, std::uint32_t position) {
    if (clock.size() <= stream) clock.resize(stream + 1);
    clock[stream] = std::max(clock[stream], position);
}

}  // namespace

std::uint32_t OperationClocks::index_of(std::uint64_t stream) {
    const auto next = static_cast<std::uint32_t>(std::min(streams_.size(), most_streams - 1));
    const auto [place, is_new] = indices_.try_emplace(stream, next);
    if (is_new && next == streams_.size()) streams_.emplace_back();
    return place->second;
}

void OperationClocks::merge(std::vector<std::uint32_t>& clock, const Operation& operation) const {
    for (std::uint32_t i = 0; i < operation.width; ++i)
        raise(clock, i, clocks_[operation.clock + i]);
    raise(clock, operation.stream, operation.position);
}

OperationNumber OperationClocks::enqueue(std::uint64_t stream,
                                         const std::vector<OperationNumber>& predecessors) {
    if (memory() >= memory_limit) settle();
    const std::uint32_t index = index_of(stream);
    const OperationNumber newest = streams_[index].newest;

    merged_ = host_;
    if (is_unsettled(newest)) merge(merged_, at(newest));
    for (const OperationNumber predecessor : predecessors) {
        if (is_unsettled(predecessor)) merge(merged_, at(predecessor));
    }
    // The place in the own stream says more than the clock could.
    if (merged_.size() > index) merged_[index] = 0;
    while (!merged_.empty() && merged_.back() == 0)
        merged_.pop_back();

    Operation operation{index, ++streams_[index].length, 0,
                        static_cast<std::uint32_t>(merged_.size())};
    const Operation* const model = is_unsettled(newest) ? &at(newest) : nullptr;
    if (model != nullptr && model->width == operation.width &&
        std::equal(merged_.begin(), merged_.end(), clocks_.begin() + model->clock)) {
        operation.clock = model->clock;
    } else {
        operation.clock = static_cast<std::uint32_t>(clocks_.size());
        clocks_.insert(clocks_.end(), merged_.begin(), merged_.end());
    }
    operations_.push_back(operation);
    streams_[index].newest = last();
    return last();
}

void OperationClocks::host_waited(OperationNumber operation) {
    if (!is_unsettled(operation) || host_knows(operation)) return;
    merge(host_, at(operation));
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (i >= host_.size() || host_[i] < streams_[i].length) return;
    }
    settle();
}

bool OperationClocks::ordered(OperationNumber before, OperationNumber after) const {
    if (before == after) return false;
    if (!is_unsettled(before) || !is_unsettled(after)) return before < after;
    const Operation& first = at(before);
    const Operation& second = at(after);
    if (first.stream == second.stream) return first.position < second.position;
    return first.stream < second.width && first.position <= clocks_[second.clock + first.stream];
}

bool OperationClocks::host_knows(OperationNumber operation) const {
    if (!is_unsettled(operation)) return operation <= settled_;
    const Operation& known = at(operation);
    return known.stream < host_.size() && known.position <= host_[known.stream];
}

std::size_t OperationClocks::memory() const {
    return operations_.capacity() * sizeof(Operation) + clocks_.capacity() * sizeof(clocks_[0]);
}

void OperationClocks::settle() {
    settled_ = last();
    // A capacity that only one long chain of operations needed is given back.
    if (memory() >= memory_limit) {
        std::vector<Operation>().swap(operations_);
        std::vector<std::uint32_t>().swap(clocks_);
    }
    operations_.clear();
    clocks_.clear();
    indices_.clear();
    streams_.clear();
    host_.clear();
}

}  // namespace emu::inspector
