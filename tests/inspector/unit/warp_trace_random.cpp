/// \file
/// Made-up programs of nested ifs, loops and calls, run twice: lane by lane, as the emulator does,
/// and all lanes at once under masks, as a GPU does. Both must make the same requests.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"
#include "warp_trace.hpp"

using namespace emu::inspector;

namespace {

/// A piece of a program. Each kind takes its places in the code in the order of the source.
struct Node {
    enum Kind { sequence, access, if_else, loop, call, leave_loop, next_turn, leave_function };
    explicit Node(Kind its_kind) : kind(its_kind) {}

    Kind kind;
    Pc pc = 0;    ///< of the access, or of the block that tests
    Pc join = 0;  ///< of the block behind an if, a loop or a call
    std::vector<std::unique_ptr<Node>> children;
};

class Builder {
public:
    explicit Builder(unsigned seed) : random_(seed) {}

    std::unique_ptr<Node> program() { return function(0); }

private:
    std::unique_ptr<Node> function(unsigned calls) {
        const Pc distance = 10000 * functions_++;
        Pc code = random_() % 2 == 0 ? 100000000 + distance : 100000000 - distance;
        return sequence(code, 0, false, calls);
    }

    std::unique_ptr<Node> sequence(Pc& code, unsigned nesting, bool in_loop, unsigned calls) {
        auto node = std::make_unique<Node>(Node::sequence);
        node->pc = ++code;
        for (unsigned i = 0; i < 1 + random_() % 3; ++i)
            node->children.push_back(statement(code, nesting, in_loop, calls));
        return node;
    }

    std::unique_ptr<Node> statement(Pc& code, unsigned nesting, bool in_loop, unsigned calls) {
        const unsigned dice = random_() % 20;
        Node::Kind kind = Node::access;
        if (nesting < 4 && dice < 5) kind = Node::if_else;
        if (nesting < 4 && dice >= 5 && dice < 9) kind = Node::loop;
        if (calls < 3 && dice == 9) kind = Node::call;
        if (in_loop && dice == 10) kind = Node::leave_loop;
        if (in_loop && dice == 11) kind = Node::next_turn;
        if (dice == 12) kind = Node::leave_function;
        auto node = std::make_unique<Node>(kind);
        node->pc = ++code;
        if (kind == Node::if_else) {
            node->children.push_back(sequence(code, nesting + 1, in_loop, calls));
            node->children.push_back(sequence(code, nesting + 1, in_loop, calls));
        }
        if (kind == Node::loop) node->children.push_back(sequence(code, nesting + 1, true, calls));
        if (kind == Node::call) node->children.push_back(function(calls + 1));
        node->join = ++code;
        return node;
    }

    std::mt19937 random_;
    Pc functions_ = 0;
};

/// What a lane's tests say: they depend on the lane, the place and how often it was there.
class Choices {
public:
    unsigned next(unsigned lane, Pc pc) {
        std::uint64_t x = (std::uint64_t(lane) << 40) + (std::uint64_t(pc) << 16) + ++times_[lane];
        x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
        return static_cast<unsigned>((x ^ x >> 32) & 0xFFFF);
    }

private:
    std::array<unsigned, warp_lanes> times_{};
};

struct Met {
    Pc pc;
    std::uint32_t lanes;
    bool operator==(const Met& other) const { return pc == other.pc && lanes == other.lanes; }
};

/// All lanes at once.
class Lockstep {
public:
    std::vector<Met> requests;

    /// Gives the lanes that go on behind the node.
    std::uint32_t run(const Node& node, std::uint32_t lanes) {
        if (lanes == 0) return 0;
        switch (node.kind) {
            case Node::sequence:
                for (const auto& child : node.children)
                    lanes = run(*child, lanes);
                return lanes;
            case Node::access:
                requests.push_back({node.pc, lanes});
                return lanes;
            case Node::if_else: {
                const std::uint32_t first = lanes_that(lanes, node.pc, 2);
                const std::uint32_t then = run(*node.children[0], first);
                return then | run(*node.children[1], lanes & ~first);
            }
            case Node::loop: {
                const std::uint32_t outer_left = left_;
                const std::uint32_t outer_skip = skip_;
                std::uint32_t done = 0;
                left_ = 0;
                while (lanes != 0) {
                    const std::uint32_t turn = lanes_that(lanes, node.pc, 3);
                    done |= lanes & ~turn;
                    skip_ = 0;
                    lanes = run(*node.children[0], turn);
                    lanes |= skip_;
                }
                done |= left_;
                left_ = outer_left;
                skip_ = outer_skip;
                return done;
            }
            case Node::call: {
                const std::uint32_t outer = returned_;
                returned_ = 0;
                const std::uint32_t back = run(*node.children[0], lanes) | returned_;
                returned_ = outer;
                return back;
            }
            case Node::leave_loop:
                return leave(lanes, node.pc, left_);
            case Node::next_turn:
                return leave(lanes, node.pc, skip_);
            case Node::leave_function:
                return leave(lanes, node.pc, returned_);
        }
        return 0;
    }

private:
    std::uint32_t lanes_that(std::uint32_t lanes, Pc pc, unsigned of) {
        std::uint32_t chosen = 0;
        for (unsigned lane = 0; lane < warp_lanes; ++lane) {
            if ((lanes >> lane & 1) != 0 && choices_.next(lane, pc) % of != 0) chosen |= 1u << lane;
        }
        return chosen;
    }
    std::uint32_t leave(std::uint32_t lanes, Pc pc, std::uint32_t& to) {
        const std::uint32_t staying = lanes_that(lanes, pc, 4);
        to |= lanes & ~staying;
        return staying;
    }

    Choices choices_;
    std::uint32_t left_ = 0;      ///< lanes that left the loop by `break`
    std::uint32_t skip_ = 0;      ///< lanes that wait for the loop's next turn
    std::uint32_t returned_ = 0;  ///< lanes that have returned
};

/// One lane alone, as compiled code goes: block by block.
class Alone {
public:
    Alone(BlockTrace& trace, unsigned lane) : trace_(trace), lane_(lane) {}

    enum Way { on, out_of_loop, to_next_turn, out_of_function };

    Way run(const Node& node) {
        switch (node.kind) {
            case Node::sequence:
                step(node.pc);
                for (const auto& child : node.children) {
                    const Way way = run(*child);
                    if (way != on) return way;
                }
                return on;
            case Node::access:
                trace_.access(lane_, {4096 + lane_, node.pc, 1, AccessKind::read, false},
                              Space::global, depth_);
                return on;
            case Node::if_else: {
                step(node.pc);
                const Way way = run(*node.children[chosen(node.pc, 2) ? 0 : 1]);
                if (way == on) step(node.join);
                return way;
            }
            case Node::loop:
                for (step(node.pc); chosen(node.pc, 3); step(node.pc)) {
                    const Way way = run(*node.children[0]);
                    if (way == out_of_loop) break;
                    if (way == out_of_function) return way;
                }
                step(node.join);
                return on;
            case Node::call:
                ++depth_;
                run(*node.children[0]);
                --depth_;
                return on;
            case Node::leave_loop:
                return leave(node, out_of_loop);
            case Node::next_turn:
                return leave(node, to_next_turn);
            case Node::leave_function:
                return leave(node, out_of_function);
        }
        return on;
    }

private:
    void step(Pc pc) { trace_.step(lane_, pc, depth_); }
    bool chosen(Pc pc, unsigned of) { return choices_.next(lane_, pc) % of != 0; }
    Way leave(const Node& node, Way way) {
        step(node.pc);
        if (!chosen(node.pc, 4)) return way;
        step(node.join);
        return on;
    }

    BlockTrace& trace_;
    unsigned lane_;
    unsigned depth_ = 1;
    Choices choices_;
};

struct Requests : WarpSink {
    std::vector<Met> all;
    void request(const Request& request) override { all.push_back({request.pc, request.lanes}); }
    void branch(Pc, Pc, std::uint32_t, bool) override {}
};

}  // namespace

TEST_CASE("lanes that ran alone make the requests of lanes in step") {
    std::size_t most = 0;
    std::size_t partial = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        const auto program = Builder(seed).program();
        Lockstep lockstep;
        lockstep.run(*program, ~0u);
        BlockTrace trace;  // each program has the same places, so each has a trace of its own
        trace.begin_block(warp_lanes);
        for (unsigned lane = 0; lane < warp_lanes; ++lane)
            Alone(trace, lane).run(*program);
        Requests requests;
        trace.flush(requests);
        INFO("seed " << seed);
        REQUIRE(requests.all.size() == lockstep.requests.size());
        REQUIRE(requests.all == lockstep.requests);
        most = std::max(most, requests.all.size());
        for (const Met& met : requests.all)
            partial += met.lanes != ~0u;
    }
    CHECK(most > 100);
    CHECK(partial > 1000);
}
