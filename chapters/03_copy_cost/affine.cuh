//! [affine question]
// What any number of equal changes makes of an element, told in a few steps. In a file of its own
// because a later chapter gives its elements the same work.
//! [affine question]

//! [affine]
#pragma once

#include <cstdint>

/// x -> multiplier * x + addend on unsigned numbers, modulo 2^32. So is any number of them in a
/// row, which tells in one step what thousands of launches must have made of an element.
struct Affine {
    unsigned multiplier;
    unsigned addend;

    unsigned operator()(unsigned x) const { return multiplier * x + addend; }
};

/// First `f`, then `g`.
inline Affine then(const Affine& f, const Affine& g) {
    return {g.multiplier * f.multiplier, g(f.addend)};
}

/// `f` so many times in a row, by squaring.
inline Affine repeated(Affine f, std::uint64_t times) {
    Affine all{1, 0};
    for (; times > 0; times /= 2) {
        if (times % 2 == 1) all = then(all, f);
        f = then(f, f);
    }
    return all;
}

/// A step of a random number generator; the constants are those of Press et al., "Numerical Recipes
/// in C", 2nd edition, chapter 7.1. Each step needs the one before it, so that no compiler can
/// shorten a chain of them.
constexpr Affine chain_step{1664525u, 1013904223u};
//! [affine]
