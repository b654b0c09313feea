/// \file
/// Switching between the fibers that stand for a block's threads.
///
/// A barrier is where the emulator spends its time: 256 threads at nine barriers are 2304 switches
/// a block. On x86-64 the switch is therefore a few inline instructions: it saves the stack and
/// frame pointers and the address to go on from, and declares every other register as clobbered, so
/// that the compiler saves just the values that live across this one barrier. The indirect jump
/// mostly goes where it went the last time, which the processor predicts. Elsewhere Boost.Context
/// does it.
#pragma once

#if !defined(__x86_64__) && !defined(EMULATOR_BOOST_CONTEXT)
#define EMULATOR_BOOST_CONTEXT 1
#endif

#ifdef EMULATOR_BOOST_CONTEXT
#include <boost/context/detail/fcontext.hpp>
#endif

namespace emu {

#ifdef EMULATOR_BOOST_CONTEXT

/// Where a suspended fiber goes on.
struct Context {
    boost::context::detail::fcontext_t position = nullptr;
};

/// Stores the context that has just been left, which only its successor gets to know.
inline void note_left_context(const boost::context::detail::transfer_t& from) {
    static_cast<Context*>(from.data)->position = from.fctx;
}

/// Suspends the running fiber into `from` and goes on in `to`.
inline void switch_context(Context& from, Context& to) {
    note_left_context(boost::context::detail::jump_fcontext(to.position, &from));
}

#else

/// Where a suspended fiber goes on.
struct Context {
    void* stack_pointer = nullptr;
    void* resume_address = nullptr;
    void* frame_pointer = nullptr;
};

/// Suspends the running fiber into `from` and goes on in `to`. Nothing is pushed on either stack.
[[gnu::always_inline]] inline void switch_context(Context& from, Context& to) {
    Context* out = &from;
    Context* in = &to;
    asm volatile(
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rsp, 0(%0)\n\t"
        "movq %%rax, 8(%0)\n\t"
        "movq %%rbp, 16(%0)\n\t"
        "movq 0(%1), %%rsp\n\t"
        "movq 16(%1), %%rbp\n\t"
        "jmpq *8(%1)\n\t"
        "1:"
        : "+D"(out), "+S"(in)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
          "xmm12", "xmm13", "xmm14", "xmm15",
#ifdef __AVX512F__
          "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
          "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
          "k7",
#endif
          "memory", "cc");
}

#endif

}  // namespace emu
