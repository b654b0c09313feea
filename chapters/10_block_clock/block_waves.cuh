//! [waves question]
// Where and when the blocks of a launch ran, as their own notes tell it. Counters of different SMs
// are never held against each other here: each SM is looked at by itself.
//! [waves question]

//! [waves includes]
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "timed_reduction.cuh"

namespace block_clock {
//! [waves includes]

//! [waves]
/// A block's place in the story of its SM.
struct Placed {
    std::size_t block;
    long long start;  ///< cycles since the first block of this SM began
    long long end;
    int wave;  ///< 1, or one more than the latest wave that had ended when it began
};

/// What one SM did in a launch, its blocks in the order of their beginnings.
struct SmStory {
    std::vector<Placed> blocks;
    int at_once = 0;  ///< most blocks that ran at the same time
    int waves = 0;
    long long span = 0;  ///< cycles from the first beginning to the last end
};

inline SmStory tell(std::vector<Placed> blocks) {
    SmStory story;
    std::sort(blocks.begin(), blocks.end(),
              [](const Placed& a, const Placed& b) { return a.start < b.start; });
    const long long first = blocks.front().start;
    using End = std::pair<long long, int>;  // of a running block, with its wave
    std::priority_queue<End, std::vector<End>, std::greater<End>> running;
    int ended_wave = 0;
    for (Placed& one : blocks) {
        while (!running.empty() && running.top().first <= one.start) {
            ended_wave = std::max(ended_wave, running.top().second);
            running.pop();
        }
        one.wave = ended_wave + 1;
        running.push({one.end, one.wave});
        story.at_once = std::max(story.at_once, static_cast<int>(running.size()));
        story.waves = std::max(story.waves, one.wave);
        story.span = std::max(story.span, one.end - first);
        one.start -= first;
        one.end -= first;
    }
    story.blocks = std::move(blocks);
    return story;
}

/// Every SM that ran a block of the launch, by its number.
inline std::map<unsigned, SmStory> stories_of(const std::vector<BlockTimes>& times) {
    std::map<unsigned, std::vector<Placed>> by_sm;
    for (std::size_t block = 0; block < times.size(); ++block) {
        by_sm[times[block].multiprocessor].push_back(
            {block, times[block].start, times[block].end, 0});
    }
    std::map<unsigned, SmStory> stories;
    for (auto& [sm, blocks] : by_sm)
        stories[sm] = tell(std::move(blocks));
    return stories;
}
//! [waves]

//! [schedule]
/// A launch in a few numbers, each the largest over the SMs.
struct Schedule {
    std::size_t sms_used = 0;
    std::size_t blocks_on_one_sm = 0;
    int at_once = 0;
    int waves = 0;
    long long span = 0;  ///< cycles
};

inline Schedule schedule_of(const std::vector<BlockTimes>& times) {
    Schedule schedule;
    for (const auto& [sm, story] : stories_of(times)) {
        ++schedule.sms_used;
        schedule.blocks_on_one_sm = std::max(schedule.blocks_on_one_sm, story.blocks.size());
        schedule.at_once = std::max(schedule.at_once, story.at_once);
        schedule.waves = std::max(schedule.waves, story.waves);
        schedule.span = std::max(schedule.span, story.span);
    }
    return schedule;
}

}  // namespace block_clock
//! [schedule]
