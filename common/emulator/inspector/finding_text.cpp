#include "finding_text.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace emu::inspector {
namespace {

bool same(const Triple& a, const Triple& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

Place place_of(const Party& party, const Symbols& symbols) {
    const Place place = party.pc != 0 ? symbols.find(party.pc) : Place{};
    return place.known() ? place : Place{party.file, party.line};
}

bool is_thread(const Party& party) {
    return party.who == Party::Who::thread;
}

bool one_launch(const Finding& f) {
    return is_thread(f.first) && f.second && is_thread(*f.second) &&
           f.first.operation == f.second->operation && f.first.kernel == f.second->kernel;
}

bool one_block(const Finding& f) {
    return one_launch(f) && !f.second->anonymous && same(f.first.block, f.second->block);
}

bool in_shared_memory(const Finding& f) {
    return f.object.compare(0, 6, "shared") == 0 || f.object.compare(0, 14, "dynamic shared") == 0;
}

std::string bytes_text(unsigned bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

/// "cudaMalloc #3, 4000 bytes" becomes "cudaMalloc #3 (4000 bytes)", which stands in a sentence.
std::string object_text(const Finding& f) {
    const std::size_t comma = f.object.rfind(", ");
    if (f.object.empty()) return "memory";
    if (comma == std::string::npos) return f.object;
    return f.object.substr(0, comma) + " (" + f.object.substr(comma + 2) + ")";
}

/// ": DETAIL" or nothing; of a long list the beginning.
std::string detail_text(const Finding& f) {
    constexpr std::size_t items = 8;
    std::size_t end = 0;
    for (std::size_t i = 0; i <= items && end != std::string::npos; ++i)
        end = f.detail.find('\n', end + (i > 0 ? 1 : 0));
    const std::string text = f.detail.substr(0, end);
    return text.empty() ? "" : ": " + text + (end == std::string::npos ? "" : "\nand more");
}

std::string ended(std::string sentence) {
    while (!sentence.empty() && (sentence.back() == '.' || sentence.back() == '\n'))
        sentence.pop_back();
    return sentence + ".";
}

const char* does(AccessKind kind) {
    return kind == AccessKind::read    ? "reads"
           : kind == AccessKind::write ? "writes"
                                       : "atomically updates";
}

std::string subject(const Party& party) {
    switch (party.who) {
        case Party::Who::thread:
            if (party.anonymous) return "a thread";
            return "thread " + text_of(party.thread) + " of block " + text_of(party.block);
        case Party::Who::operation:
            if (party.kernel.find("Memset") != std::string::npos) return "a fill";
            if (party.kernel.find("Memcpy") != std::string::npos) return "a copy";
            return party.kernel.empty() ? "a copy or fill" : "the call " + party.kernel;
        case Party::Who::host:
            return "the host";
    }
    return "";
}

/// The same for the other party of a race, without what the first has said already.
std::string other_subject(const Finding& f) {
    const Party& other = *f.second;
    if (!is_thread(other)) return subject(other);
    if (one_block(f)) return "thread " + text_of(other.thread);
    if (one_launch(f)) return subject(other);
    return subject(other) + " of " +
           (other.kernel == f.first.kernel ? "another launch" : "kernel " + other.kernel);
}

/// " at line 104", " at other.cuh:104", " too, on this line"; nothing if not known.
std::string where_other(const Place& first, const Place& second) {
    if (!second.known()) return "";
    if (second == first) return " on the same line";
    if (second.file == first.file) return " at line " + std::to_string(second.line);
    return " at " + file_name(second.file) + ":" + std::to_string(second.line);
}

/// "In kernel k, thread … reads 4 bytes" or "cudaMemcpyAsync reads 4000 bytes".
std::string accesses(const Finding& f) {
    const Party& p = f.first;
    std::string text = is_thread(p) ? "In kernel " + p.kernel + ", " + subject(p) : subject(p);
    text += std::string(" ") + does(p.kind);
    return p.bytes == 0 ? text : text + " " + bytes_text(p.bytes);
}

std::string race_sentence(const Finding& f, const Place& first, const Place& second) {
    std::string text = accesses(f) + (f.first.bytes == 0 ? " " : " of ") + object_text(f);
    if (!f.second) return text + detail_text(f);
    const bool both_write =
        f.first.kind == AccessKind::write && f.second->kind == AccessKind::write;
    text += (first.known() ? " here, and " : ", and ") + other_subject(f) + " " +
            does(f.second->kind) + (f.first.kind == f.second->kind ? " it too" : " it") +
            where_other(first, second);
    if (f.fault == Fault::atomic_mixed) {
        text += "; an atomic access does not order a plain one";
    } else if (f.fault == Fault::shared_race || one_block(f)) {
        text += ", with no barrier in between";
    } else {
        text += "; nothing orders the two";
    }
    if (both_write && one_launch(f)) text += ", so which value stays is chance";
    return text + (f.detail.empty() ? "" : " (" + f.detail + ")");
}

std::string sentence_of(const Finding& f, const Place& first, const Place& second) {
    switch (f.fault) {
        case Fault::out_of_bounds:
            return accesses(f) +
                   (f.object.empty() ? " out of bounds" : " outside " + object_text(f)) +
                   detail_text(f);
        case Fault::use_after_free:
            return accesses(f) + " of " + object_text(f) + " after it was freed" + detail_text(f);
        case Fault::misaligned:
            return accesses(f) + " of " + object_text(f) + " at a misaligned address" +
                   detail_text(f);
        case Fault::device_pointer:
            return accesses(f) + " of " + object_text(f) +
                   ", memory of the device, which code of the host cannot reach" + detail_text(f);
        case Fault::host_pointer:
            return accesses(f) + " of the host's memory" +
                   (f.detail.empty() ? "" : " (" + f.detail + ")") + ", which a GPU cannot reach";
        case Fault::never_written:
            return accesses(f) + " of " + object_text(f) + " that nothing has written" +
                   detail_text(f);
        case Fault::shared_race:
        case Fault::global_race:
        case Fault::atomic_mixed:
            return race_sentence(f, first, second);
        case Fault::barrier:
            return "In kernel " + f.first.kernel + ", the threads of block " +
                   text_of(f.first.block) + " do not all come to the same barrier" + detail_text(f);
        case Fault::warp_mask:
            return "In kernel " + f.first.kernel + ", " + subject(f.first) +
                   " calls a warp primitive whose mask does not fit the lanes that come to it" +
                   detail_text(f);
        case Fault::launch_error:
            return "The launch of kernel " + f.first.kernel +
                   " failed, so it did not run, and the program never asked" + detail_text(f);
        case Fault::kernel_failure:
            return "Kernel " + f.first.kernel + " ended early, in " + subject(f.first) +
                   detail_text(f);
    }
    return "";
}

const char* title_of(Fault fault) {
    switch (fault) {
        case Fault::out_of_bounds:
            return "access out of bounds";
        case Fault::use_after_free:
            return "use after free";
        case Fault::misaligned:
            return "misaligned access";
        case Fault::device_pointer:
            return "memory of the device touched by the host";
        case Fault::host_pointer:
            return "pointer of the host used on the device";
        case Fault::never_written:
            return "read of memory never written";
        case Fault::shared_race:
            return "race in shared memory";
        case Fault::global_race:
            return "race in global memory";
        case Fault::atomic_mixed:
            return "race of an atomic and a plain access";
        case Fault::barrier:
            return "barrier that not all threads reach";
        case Fault::warp_mask:
            return "wrong mask in a warp primitive";
        case Fault::launch_error:
            return "failed launch, not noticed";
        case Fault::kernel_failure:
            return "kernel ended early";
    }
    return "";
}

/// What to do about two accesses in one block. Which of them ran first here is chance and says
/// nothing about the order that was meant.
std::string block_race_advice(const Finding& f, bool one_line) {
    if (one_line) {
        return "If the threads add to one cell: use an atomic such as atomicAdd(). If each needs a "
               "neighbour's old value: read it, then __syncthreads(), then write. If these are "
               "turns of a loop: a __syncthreads() in each turn.";
    }
    if (f.first.kind != AccessKind::read && f.second->kind != AccessKind::read) {
        return "Let one thread write it, or put a __syncthreads() between the two. If all add to "
               "it, use an atomic such as atomicAdd().";
    }
    return "Put a __syncthreads() between the two, where all threads of the block pass it; in a "
           "loop also between the end of a turn and the next. (Among the lanes of one warp, "
           "__syncwarp() will do.)";
}

std::string global_race_advice(const Finding& f, bool one_line) {
    if (!f.second) return "";
    if (one_block(f)) {
        return block_race_advice(f, one_line) + " A barrier orders the threads of one block only.";
    }
    if (one_launch(f)) {
        return "Blocks run at the same time and in any order. Let each write cells of its own, use "
               "atomics, or make two launches of it. A block that hands data to another needs a "
               "__threadfence() before the atomic that says it is ready.";
    }
    if (f.first.who == Party::Who::host || f.second->who == Party::Who::host) {
        return "A launch and an asynchronous copy return before the work is done: let the host "
               "wait with cudaStreamSynchronize(), cudaEventSynchronize() or "
               "cudaDeviceSynchronize() before it touches the memory.";
    }
    return "Put both into one stream; or record an event behind the first and let the stream of "
           "the second wait for it with cudaStreamWaitEvent().";
}

/// `one_line`: of a race, both accesses are on the same line.
std::string advice_of(const Finding& f, bool one_line) {
    switch (f.fault) {
        case Fault::out_of_bounds:
            if (f.object.empty()) {
                return "Was the memory allocated, did the allocation succeed, is this the pointer "
                       "that it gave, and is the index anywhere near its size?";
            }
            if (f.object == "dynamic shared memory, 0 bytes") {
                return "Name its size, in bytes, as the third argument of the launch: "
                       "<<<grid, block, bytes>>>.";
            }
            return "Compare the index with the number of elements before the access, and the size "
                   "that was asked for with the one that is used.";
        case Fault::use_after_free:
            return "Free memory only when nothing uses it any more, through any pointer.";
        case Fault::misaligned:
            return "An access of 2, 4, 8 or 16 bytes needs an address that is a multiple of its "
                   "size: begin vector accesses at such an element, and treat the rest one by one.";
        case Fault::device_pointer:
            return "Copy it to the host with cudaMemcpy() first, or give the work to a kernel.";
        case Fault::host_pointer:
            return "Allocate with cudaMalloc(), copy with cudaMemcpy(), and give the kernel the "
                   "device's pointer.";
        case Fault::never_written:
            if (in_shared_memory(f)) {
                return "Every cell that is read must be stored before, by some thread of this "
                       "block, and a __syncthreads() must lie between. New shared memory holds "
                       "anything.";
            }
            return "Fill it first: a copy, cudaMemset(), or a kernel before. New memory holds "
                   "anything.";
        case Fault::shared_race:
            return f.second ? block_race_advice(f, one_line) : "";
        case Fault::global_race:
            return global_race_advice(f, one_line);
        case Fault::atomic_mixed:
            return in_shared_memory(f)
                       ? "Put a __syncthreads() between the two, or make both atomic."
                       : "Make both atomic, or do the plain one in a launch of its own, before or "
                         "after. (A barrier orders the threads of one block only.)";
        case Fault::barrier:
            return "Take the barrier out of the branch or the loop: every thread of the block must "
                   "reach it, also one that has no work.";
        case Fault::warp_mask:
            return "Name in the mask exactly the lanes that call together: all of them outside of "
                   "branches, or those that __ballot_sync() gives before the branch.";
        case Fault::launch_error:
            return "Ask cudaGetLastError() after each launch and end the program on an error.";
        case Fault::kernel_failure:
            return "";
    }
    return "";
}

std::string kernel_of(const Finding& f) {
    if (is_thread(f.first) || !f.second || !is_thread(*f.second)) return f.first.kernel;
    return f.second->kernel;
}

/// The same lines; of a race in whichever order.
bool same(const ExplainedFinding& a, const ExplainedFinding& b) {
    const bool same_lines = (a.first == b.first && a.second == b.second) ||
                            (a.first == b.second && a.second == b.first);
    return same_lines && a.first.known() && a.finding.fault == b.finding.fault &&
           a.kernel == b.kernel && a.finding.second.has_value() == b.finding.second.has_value();
}

/// A thread that reads what another should have written before, with no barrier between, may find
/// it never written: the race is what is wrong.
bool caused_by_race(const ExplainedFinding& read, const std::vector<ExplainedFinding>& all) {
    return read.finding.fault == Fault::never_written && read.first.known() &&
           std::any_of(all.begin(), all.end(), [&read](const ExplainedFinding& e) {
               return e.finding.second && e.kernel == read.kernel &&
                      e.finding.object == read.finding.object &&
                      (e.first == read.first || e.second == read.first);
           });
}

}  // namespace

std::vector<ExplainedFinding> explain(const std::vector<Finding>& findings,
                                      const Symbols& symbols) {
    std::vector<ExplainedFinding> all;
    for (const Finding& finding : findings) {
        ExplainedFinding one;
        one.finding = finding;
        one.first = place_of(finding.first, symbols);
        if (finding.second) one.second = place_of(*finding.second, symbols);
        one.kernel = kernel_of(finding);
        const auto known = std::find_if(all.begin(), all.end(),
                                        [&](const ExplainedFinding& e) { return same(e, one); });
        if (known != all.end()) {
            known->finding.times += finding.times;
            continue;
        }
        one.title = title_of(finding.fault);
        one.sentence = ended(sentence_of(finding, one.first, one.second));
        one.sentence[0] = static_cast<char>(std::toupper(one.sentence[0]));
        one.advice = advice_of(finding, one.first.known() && one.first == one.second);
        all.push_back(one);
    }
    const auto caused = [&all](const ExplainedFinding& e) { return caused_by_race(e, all); };
    std::vector<ExplainedFinding> causes;
    std::remove_copy_if(all.begin(), all.end(), std::back_inserter(causes), caused);
    return causes;
}

std::string text_of(const Triple& triple) {
    return "(" + std::to_string(triple.x) + "," + std::to_string(triple.y) + "," +
           std::to_string(triple.z) + ")";
}

std::string file_name(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
}

}  // namespace emu::inspector
