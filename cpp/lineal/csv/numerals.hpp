// A number as it is written in a cell of a table.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "passes/part.hpp"

namespace lineal {

namespace {

constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool digit(const char* at, const char* end) { return at < end && static_cast<unsigned char>(*at - '0') < 10; }

// A number as the quotient of two that are known exactly, so that it is rounded once; all quotients of a row are made together.
struct Quotient {
    double above, below;
};

constexpr double signed_powers[2][8] = {{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}, {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7}};

// A number of any length.
bool long_number(const char* at, const char* end, double& out) {
    const char* start = at;
    const bool minus = at < end && *at == '-';
    at += minus;
    std::uint64_t whole = 0;
    const char* first = at;
    for (; digit(at, end); ++at) whole = 10 * whole + static_cast<std::uint64_t>(*at - '0');
    Index digits = at - first, behind = 0;
    if (at < end && *at == '.') {
        first = ++at;
        for (; digit(at, end); ++at) whole = 10 * whole + static_cast<std::uint64_t>(*at - '0');
        behind = at - first;
        digits += behind;
    }
    if (digits == 0 || (at < end && *at != 'e' && *at != 'E')) return false;
    if (at == end && digits <= 19 && whole <= (std::uint64_t{1} << 53) && behind <= 22) {
        const double value = static_cast<double>(whole) / powers[behind];  // both exact: rounded once
        out = minus ? -value : value;
        return true;
    }
#if defined(__cpp_lib_to_chars)
    const std::from_chars_result found = std::from_chars(start, end, out);
    return found.ptr == end && found.ec == std::errc();
#else
    (void)start;
    return false;
#endif
}

// Eight digits, the first in the lowest byte, each as its value.
std::uint64_t eight(std::uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return ((digits & 0x000000ff000000ffu) * 0x000f424000000064u + ((digits >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
}

// A number of at most eight characters, loaded with what follows them, beside its sign: all at once, with hardly a branch.
bool short_number(std::uint64_t word, std::size_t size, std::size_t minus, Quotient& out) {
    const std::uint64_t kept = ~std::uint64_t{0} >> (64 - 8 * size);
    std::uint64_t digits = (word ^ 0x3030303030303030u) & kept;
    const std::uint64_t others = (((digits & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u) | digits) & 0x8080808080808080u;
    std::size_t behind = 0;
    if (others) {
        const int place = std::countr_zero(others) / 8 * 8;
        if ((others & (others - 1)) || static_cast<char>(word >> place) != '.' || size == 1) return false;
        const std::uint64_t before = (std::uint64_t{1} << place) - 1;
        digits = (digits & before) | ((digits >> 8) & ~before);
        --size;
        behind = size - static_cast<std::size_t>(place) / 8;
    }
    out.above = static_cast<double>(static_cast<std::int64_t>(eight(digits << (64 - 8 * size))));
    out.below = signed_powers[minus][behind];
    return true;
}

// The number that a whole cell is; false if it is none, or none that this build can round rightly.
bool number(const char* at, std::size_t size, const char* limit, Quotient& out) {
    if (size == 0) return false;
    // 1 for a minus, without a branch: signs come at random, and would be foretold wrongly half of the time
    const std::size_t minus = ((static_cast<std::uint32_t>(static_cast<unsigned char>(*at)) ^ '-') - 1) >> 31;
    const char* first = at + minus;
    const std::size_t left = size - minus;
    if constexpr (std::endian::native == std::endian::little)
        if (left - 1 < 8 && limit - first >= 8) {
            std::uint64_t word;
            std::memcpy(&word, first, 8);
            if (short_number(word, left, minus, out)) return true;
        }
    out.below = 1;
    return long_number(at, at + size, out.above);
}

}  // namespace

}  // namespace lineal
