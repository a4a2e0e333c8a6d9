#include "csv/quotes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace lineal {

namespace {

const char* seek(char what, const char* begin, const char* end) {
    const void* found = begin < end ? std::memchr(begin, what, static_cast<std::size_t>(end - begin)) : nullptr;
    return found ? static_cast<const char*>(found) : end;
}

// A bit for each of 64 bytes that is `what`.
std::uint64_t equal(const char* text, char what) {
    std::uint64_t bits = 0;
#ifdef __SSE2__
    const __m128i all = _mm_set1_epi8(what);
    for (int k = 0; k < 4; ++k) {
        const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text) + k);
        bits |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, all)))) << 16 * k;
    }
#else
    for (int k = 0; k < 64; ++k) bits |= static_cast<std::uint64_t>(text[k] == what) << k;
#endif
    return bits;
}

// Line ends: \n, \r\n, and \r alone.
Index ends(const char* begin, const char* end) {
    Index count = std::count(begin, end, '\n');
    for (const char* at = seek('\r', begin, end); at < end; at = seek('\r', at + 1, end)) count += at + 1 == end || at[1] != '\n';
    return count;
}

}  // namespace

void Quotes::feed(std::string_view text) {
    const char *at = text.data(), *end = at + text.size(), *feed = nullptr;
    const auto stop = [&] {  // the first line end from `at` on
        if (!feed || feed < at) feed = seek('\n', at, end);
        return seek('\r', at, feed);
    };
    while (at < end) {
        if (!inside_ && !dense_ && width_) {  // lines without a quote are the same either way
            const char* next = seek(quote_, at, end);
            if (next == end) {
                lines += ends(at, end) + (end[-1] != '\n' && end[-1] != '\r');
                return;
            }
            const char* start = next;
            while (start > at && start[-1] != '\n' && start[-1] != '\r') --start;
            lines += ends(at, start);
            at = start;
        }
        const char* last = stop();
        ++lines;
        line(at, last);
        at = last + (last < end);
        if (last < end && *last == '\r' && at < end && *at == '\n') ++at;
    }
}

void Quotes::line(const char* begin, const char* end) {
    dense_ = false;
    if (!inside_) {
        if (begin == end) return;  // a blank line is no record
        first_ = lines, outer_ = filled_ = even_ = 0, quoted_ = holds_ = false, doubt_ = Against::nothing;
    }
    const Index cells = walk(begin, end) + 1;
    if (!wide) wide = cells;
    filled_ += begin < end;
    even_ += begin < end && cells == wide;
    if (dense_ && cells != wide && !ragged_line) ragged_line = lines, ragged_cells = cells;
    if (inside_)
        holds_ = true, ++inner;
    else
        ended();
}

// One line, 64 bytes at a time and there from quote to quote; returns how many delimiters it has, quoted or not.
Index Quotes::walk(const char* begin, const char* end) {
    const char* at = begin;
    Index all = 0;
    for (const char* base = begin; base < end; base += 64) {
        std::uint64_t quotes = 0, stops = 0;
        if (end - base >= 64)
            quotes = equal(base, quote_), stops = equal(base, delimiter_);
        else {
            char rest[64] = {};
            std::memcpy(rest, base, static_cast<std::size_t>(end - base));
            quotes = equal(rest, quote_), stops = equal(rest, delimiter_);
        }
        all += std::popcount(stops);
        dense_ = dense_ || quotes;
        while (at < base + 64 && at < end) {
            const std::uint64_t from = ~std::uint64_t{0} << (at - base), ahead = quotes & from;
            const std::uint64_t before = ahead ? (ahead & -ahead) - 1 : ~std::uint64_t{0};
            const int passed = std::popcount(stops & from & before);
            const char* next = ahead ? base + std::countr_zero(ahead) : base + 64;
            at = next + (ahead != 0);
            if (inside_) {
                holds_ = holds_ || passed;
                if (!ahead) continue;
                if (at < end && *at == quote_)
                    ++at;  // a doubled one stands for itself
                else
                    at = closed(at, end);
            } else {
                outer_ += passed;
                if (!ahead) continue;
                if (next == begin || next[-1] == delimiter_)
                    inside_ = quoted_ = true, opened_ = lines;
                else
                    ++middle;
            }
        }
    }
    return all;
}

// After the quote that closes a cell; returns where the next cell, or another line, may begin.
const char* Quotes::closed(const char* after, const char* end) {
    inside_ = false;
    if (lines > opened_) {
        ++spanning;
        if (lines - opened_ + 1 > longest) longest = lines - opened_ + 1, longest_line = opened_;
    }
    if (after == end || *after == delimiter_) return after;
    if (doubt_ == Against::nothing) doubt_ = Against::text;
    return seek(delimiter_, after, end);
}

void Quotes::ended() {
    if (!width_) width_ = outer_ + 1;
    if (!quoted_) return;
    if (doubt_ == Against::nothing && holds_ && outer_ + 1 != width_) doubt_ = Against::cells;
    if (doubt_ != Against::nothing)
        against(doubt_, first_);
    else if (lines == first_ || even_ < filled_ || wide == 1)
        ++sound;
    else if (!alike++)
        alike_line = first_;
    if (2 * even_ >= filled_ && lines - first_ + 1 > doubtful) doubtful = lines - first_ + 1, doubtful_line = first_;
}

void Quotes::against(Against what, Index where) {
    if (!odd++) reason = what, odd_line = where;
}

void Quotes::finish() {
    if (inside_) against(Against::unclosed, opened_);
}

}  // namespace lineal
