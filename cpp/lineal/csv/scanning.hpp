// A first look at the bytes of a delimited text, 32 or 64 at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "passes/kernels.hpp"
#include "passes/part.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace lineal {

namespace {

// Places of delimiters and line ends, as distances from `text`, written to `out`; returns how many. `out` has room for eight more.
std::size_t places_plainly(const char* text, std::size_t size, char delimiter, std::uint32_t* out) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < size; ++i) {
        out[found] = static_cast<std::uint32_t>(i);
        found += text[i] == delimiter || text[i] == '\n' || text[i] == '\r';
    }
    return found;
}

#if defined(__x86_64__) && defined(__GNUC__)
// The same 64 bytes at a time; eight places are written at once, so that how many there are is no branch.
__attribute__((target("avx2,bmi,popcnt"))) std::size_t places_quickly(const char* text, std::size_t size, char delimiter,
                                                                      std::uint32_t* out) {
    const __m256i stop = _mm256_set1_epi8(delimiter), line = _mm256_set1_epi8('\n'), carriage = _mm256_set1_epi8('\r');
    const auto mask = [&](const char* at) __attribute__((target("avx2"))) {
        const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
        const __m256i found = _mm256_or_si256(_mm256_cmpeq_epi8(some, stop),
                                              _mm256_or_si256(_mm256_cmpeq_epi8(some, line), _mm256_cmpeq_epi8(some, carriage)));
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(found)));
    };
    std::size_t found = 0, i = 0;
    for (; i + 64 <= size; i += 64) {
        std::uint64_t bits = mask(text + i) | mask(text + i + 32) << 32;
        const std::size_t count = static_cast<std::size_t>(__builtin_popcountll(bits));
        std::uint32_t* to = out + found;
        for (std::size_t done = 0; done < count; done += 8)
            for (std::size_t k = 0; k < 8; ++k, bits &= bits - 1)
                to[done + k] = static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(__builtin_ctzll(bits | std::uint64_t{1} << 63));
        found += count;
    }
    for (; i < size; ++i) {
        out[found] = static_cast<std::uint32_t>(i);
        found += text[i] == delimiter || text[i] == '\n' || text[i] == '\r';
    }
    return found;
}

// What this machine can, and the level of the other loops (LINEAL_CPU) allows.
bool quick() {
    static const bool can =
        level_in_use() != "v2" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
    return can;
}
#endif

// Room for places beyond those of a text: places are written this many at a time.
constexpr std::size_t SPARE = 16;

std::size_t places(const char* text, std::size_t size, char delimiter, std::uint32_t* out, std::uint32_t* ends, std::size_t& rows) {
#if defined(__x86_64__) && defined(__GNUC__)
    const std::size_t found = quick() ? places_quickly(text, size, delimiter, out) : places_plainly(text, size, delimiter, out);
#else
    const std::size_t found = places_plainly(text, size, delimiter, out);
#endif
    rows = 0;
    for (std::size_t k = 0; k < found; ++k) {
        ends[rows] = static_cast<std::uint32_t>(k);
        rows += text[out[k]] != delimiter;
    }
    return found;
}

// How many line ends there are; -1 if a quote or a NUL byte stands anywhere, or one that is not ASCII where all are to be.
Index lines_plainly(std::string_view text, char quote, bool ascii) {
    Index count = 0;
    for (const char one : text) {
        if (one == quote || one == 0 || (ascii && static_cast<unsigned char>(one) > 127)) return -1;
        count += one == '\n';
    }
    return count;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) Index lines_quickly(std::string_view text, char quote, bool ascii) {
    const __m256i line = _mm256_set1_epi8('\n'), stop = _mm256_set1_epi8(quote), none = _mm256_setzero_si256();
    Index count = 0;
    std::size_t at = 0;
    while (at + 32 <= text.size()) {
        const std::size_t end = at + std::min<std::size_t>(255 * 32, (text.size() - at) / 32 * 32);
        __m256i some = none, odd = none, high = none;  // counters of one byte; what stands; all bits
        for (; at < end; at += 32) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at));
            some = _mm256_sub_epi8(some, _mm256_cmpeq_epi8(bytes, line));
            high = _mm256_or_si256(high, bytes);
            odd = _mm256_or_si256(odd, _mm256_or_si256(_mm256_cmpeq_epi8(bytes, stop), _mm256_cmpeq_epi8(bytes, none)));
        }
        if (!_mm256_testz_si256(odd, odd) || (ascii && _mm256_movemask_epi8(high) != 0)) return -1;
        const __m256i sums = _mm256_sad_epu8(some, none);
        count +=
            _mm256_extract_epi64(sums, 0) + _mm256_extract_epi64(sums, 1) + _mm256_extract_epi64(sums, 2) + _mm256_extract_epi64(sums, 3);
    }
    const Index rest = lines_plainly(text.substr(at), quote, ascii);
    return rest < 0 ? -1 : count + rest;
}
#endif

Index lines(std::string_view text, char quote, bool ascii) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (quick()) return lines_quickly(text, quote, ascii);
#endif
    return lines_plainly(text, quote, ascii);
}

}  // namespace

}  // namespace lineal
