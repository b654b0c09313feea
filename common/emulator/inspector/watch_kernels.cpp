// What the inspector learns of a launch: its blocks, barriers and warps, and why it ends.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "indices.hpp"
#include "inspector.hpp"
#include "static_objects.hpp"

namespace emu::inspector {
namespace {

/// The launches of a kernel are counted until their threads have reached this number, the first
/// one in any case; of a launch that is larger by itself, blocks spread over the grid.
constexpr std::uint64_t counted_threads_limit = std::uint64_t{1} << 20;

std::uint64_t volume(dim3 shape) {
    return std::uint64_t{shape.x} * shape.y * shape.z;
}

/// The emulator's message without "kernel NAME, block …: " and the place of a warp primitive or an
/// assertion, which the finding has of its own.
std::string without_place(const std::string& message) {
    for (const char* const begin : {"the mask 0x", "Assertion `"}) {
        const std::size_t at = message.find(begin);
        if (at != std::string::npos) return message.substr(at);
    }
    const std::size_t place = message.find("): ");
    const bool has_place = message.compare(0, 7, "kernel ") == 0 && place < message.find('\n');
    return has_place ? message.substr(place + 3) : message;
}

/// The variable that the rewriter made a key for: its mangled name holds "<length>emu_shared_NAME".
std::string shared_name(const char* type_name) {
    const std::string whole = type_name;
    const std::string mark = "emu_shared_";
    const std::size_t at = whole.find(mark);
    if (at == std::string::npos) return "?";
    std::size_t digits = at;
    while (digits > 0 && whole[digits - 1] >= '0' && whole[digits - 1] <= '9')
        --digits;
    const std::size_t length = std::strtoul(whole.c_str() + digits, nullptr, 10);
    return whole.substr(at + mark.size(), length - mark.size());
}

}  // namespace

Inspector::Group& Inspector::group_of(const Task& task) {
    char shape[160];
    std::snprintf(shape, sizeof shape, " %u,%u,%u %u,%u,%u %zu", task.grid.x, task.grid.y,
                  task.grid.z, task.block.x, task.block.y, task.block.z, task.dynamic_shared);
    // A kernel that is launched through a pointer has another name than its variable.
    const std::string own_name = function_name(number_of(task.function));
    const std::string name = own_name.empty() ? task.name : own_name;
    const auto added = group_numbers_.emplace(name + shape, groups_.size());
    if (added.second) {
        auto group = std::make_unique<Group>();
        group->grid = task.grid;
        group->block = task.block;
        group->report.name = name;
        group->report.grid = triple(task.grid);
        group->report.block = triple(task.block);
        group->report.dynamic_shared = task.dynamic_shared;
        groups_.push_back(std::move(group));
    }
    operations_[task.operation].group = added.first->second;
    return *groups_[added.first->second];
}

void Inspector::launch_begins(const Task& task) {
    const Lock held = lock();
    end_launch();
    operation_ = task.operation;
    group_ = &group_of(task);
    ++group_->report.launches;
    const std::uint64_t threads = volume(task.grid) * volume(task.block);
    counting_share_ = (threads + counted_threads_limit - 1) / counted_threads_limit;
    launch_counted_ = group_->counted_threads == 0 ||
                      group_->counted_threads + threads / counting_share_ <= counted_threads_limit;
    map_.begin_launch();
    map_.add({ObjectKind::dynamic_shared, number_of(block.dynamic_shared), task.dynamic_shared,
              "dynamic shared memory, " + std::to_string(task.dynamic_shared) + " bytes"});
    shared_ranges_ = {{number_of(block.dynamic_shared), task.dynamic_shared}};
    races_.begin_launch(operation_);
}

void Inspector::end_launch() {
    if (group_ == nullptr) return;
    const FootprintBytes bytes = footprint_.take();
    group_->report.distinct_bytes_read += bytes.read;
    group_->report.distinct_bytes_written += bytes.written;
    footprint_complete_ = footprint_complete_ && bytes.complete;
    group_ = nullptr;
}

void Inspector::shared_variable_seen(const SharedSite& site) {
    const std::uint64_t begin = number_of(block.shared + site.offset);
    map_.add({ObjectKind::shared, begin, site.bytes,
              "shared variable " + shared_name(site.type_name) + ", " + std::to_string(site.bytes) +
                  " bytes"});
    shared_ranges_.push_back({begin, site.bytes});
    written_.clear(begin, site.bytes);
}

/// Of a grid that is too large, blocks that follow no pattern of its rows.
bool Inspector::counts_block(std::uint64_t number) const {
    if (!launch_counted_) return false;
    return number * 0x9E3779B97F4A7C15ULL >> 32 <= 0xFFFFFFFFULL / counting_share_;
}

void Inspector::block_begins(std::uint64_t number) {
    block_lock_ = lock();
    ++group_->report.blocks;
    counted_ = counts_block(number);
    if (counted_) {
        ++group_->report.counted_blocks;
        group_->counted_threads += block.threads();
        trace_.begin_block(block.threads());
    }
    last_step_ = 0;
    std::fill_n(depth_.begin(), block.threads(), std::uint16_t{0});
    for (const auto& range : shared_ranges_)
        written_.clear(range.first, range.second);
    races_.begin_block(number);
}

void Inspector::block_ends() {
    settle();
    if (counted_) {
        trace_.flush(group_->counts);
        group_->report.lost_events += trace_.lost();
    }
    block_lock_.unlock();
}

void Inspector::barrier_released() {
    settle();
    races_.barrier();
    if (!counted_) return;
    ++group_->report.barriers;
    trace_.flush(group_->counts);
}

void Inspector::warp_met(unsigned warp, std::uint32_t lanes, bool orders_memory) {
    settle();
    races_.warp_sync(warp, lanes, orders_memory);
    const unsigned threads = block.threads() - warp * warp_lanes;
    const std::uint32_t all = threads >= warp_lanes ? ~0u : (1u << threads) - 1;
    if (counted_ && lanes == all) trace_.flush_warp(warp, group_->counts);
}

void Inspector::shuffle_from_absent_lane(const Slot& thread) {
    Finding finding{};
    finding.fault = Fault::warp_mask;
    finding.first = party_at(thread.site);
    finding.first.thread = triple(thread.index);
    finding.detail = "it reads the value of a lane that takes no part";
    add(finding, {});
}

Party Inspector::party_at(const Site& site) const {
    Party party;
    party.kernel = group_->report.name;
    party.block = triple(blockIdx);
    party.thread = triple(threadIdx);
    party.operation = operation_;
    party.file = site.file == nullptr ? "" : site.file;
    party.line = site.line;
    return party;
}

/// Where threads of the block wait, the place with the fewest first; and whether some of them wait
/// in a warp primitive.
std::vector<Site> Inspector::waiting_places(bool& in_warp) {
    std::vector<std::pair<unsigned, Site>> places;
    in_warp = false;
    for (const Slot* slot = block.begin; slot != block.unbegun; ++slot) {
        if (slot->wait == wait_for_ever || slot->wait < block.phase) continue;
        const Site& site = slot->wait == block.phase ? block.barrier : slot->site;
        in_warp = in_warp || slot->wait == wait_warp;
        const auto same = [&site](const auto& place) {
            return place.second.line == site.line && place.second.file == site.file;
        };
        const auto known = std::find_if(places.begin(), places.end(), same);
        if (known == places.end()) {
            places.emplace_back(1, site);
        } else {
            ++known->first;
        }
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Site> sites;
    for (const auto& place : places)
        sites.push_back(place.second);
    return sites;
}

void Inspector::kernel_given_up(cudaError_t error, const char* text) {
    settle();
    if (!own_end_) {
        bool in_warp = false;
        std::vector<Site> places;
        Finding finding{};
        finding.fault = Fault::kernel_failure;
        finding.detail = without_place(text);
        if (finding.detail.compare(0, 11, "the mask 0x") == 0) {
            finding.fault = Fault::warp_mask;
            places = {block.current->site};
        } else if (error == cudaErrorLaunchTimeout) {
            places = waiting_places(in_warp);
            if (!places.empty()) finding.fault = in_warp ? Fault::warp_mask : Fault::barrier;
        }
        finding.first = party_at(places.empty() ? Site{nullptr, 0} : places[0]);
        if (places.empty()) finding.first.pc = last_step_;
        if (places.size() > 1) finding.second = party_at(places[1]);
        const bool placed = !places.empty() || last_step_ != 0;
        add(finding, placed ? CallSite() : operations_[operation_].site);
    }
    own_end_ = false;
    if (block_lock_.owns_lock()) block_lock_.unlock();
}

}  // namespace emu::inspector
