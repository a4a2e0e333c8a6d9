#include "text/reader.hpp"

#include <algorithm>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lineal {

#if defined(__SSE2__)
namespace {

__m128i between(__m128i bytes, char low, char high) {
    return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(low - 1))),
                         _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(high + 1))));
}

// Sixteen ASCII characters in lower case, if asked; returns which are parts of words, one bit each.
unsigned sixteen(__m128i& bytes, bool lower) {
    const __m128i capital = between(bytes, 'A', 'Z'), step = _mm_set1_epi8(0x20);
    const __m128i letter = between(_mm_or_si128(bytes, step), 'a', 'z');
    const __m128i other = _mm_or_si128(between(bytes, '0', '9'), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
    if (lower) bytes = _mm_or_si128(bytes, _mm_and_si128(capital, step));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(letter, other)));
}

// The same of 64 characters; false if one is not ASCII.
bool sixty_four(const char* from, bool lower, char* to, std::uint64_t& marks) {
    __m128i bytes[4];
    for (int k = 0; k < 4; ++k) bytes[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from) + k);
    if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(bytes[0], bytes[1]), _mm_or_si128(bytes[2], bytes[3])))) return false;
    marks = 0;
    for (int k = 0; k < 4; ++k) {
        marks |= std::uint64_t{sixteen(bytes[k], lower)} << 16 * k;
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + k, bytes[k]);
    }
    return true;
}

}  // namespace
#endif

Reader::Reader(const Reading& reading) : reading_(&reading), characters_(&Characters::of(reading.lower, reading.fold)) {}

std::string_view Reader::trimmed(std::string_view document) const {
    const auto visible = [](char c) { return static_cast<signed char>(c) > ' '; };  // and ASCII
    if (!document.empty() && visible(document.front()) && visible(document.back())) return document;
    const Characters& plain = Characters::of(false, false);
    const unsigned char* begin = reinterpret_cast<const unsigned char*>(document.data());
    const unsigned char* end = begin + document.size();
    for (const unsigned char* p = begin; p < end && plain[decode(p, end)] & Characters::blank;) begin = p;
    while (begin < end) {
        const unsigned char* last = end - 1;
        while (last > begin && end - last < 4 && (*last & 0xC0) == 0x80) --last;
        const unsigned char* p = last;
        if (!(plain[decode(p, end)] & Characters::blank) || p != end) break;
        end = last;
    }
    return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(end - begin)};
}

void Reader::read(std::string_view document) {
    count_ = 0;
    body_ = {};
    document = trimmed(document);
    if (document.empty()) return;
    if (document.size() < 64 && std::find(reading_->missing.begin(), reading_->missing.end(), document) != reading_->missing.end()) return;
    body_ = document;
    const std::size_t needed = 3 * document.size() + 96;  // no character grows more than threefold; some bytes beyond the end are read
    if (needed > size_) {
        size_ = needed + needed / 2;
        room_ = std::make_unique_for_overwrite<char[]>(size_);  // of a long document only what is written takes memory
    }
    if (reading_->characters)
        letters(document);
    else if (reading_->high > 1 || !plain_words(document))
        words(document);
}

// Words that stay where they are, since no n-gram crosses them; false if a character is not ASCII's.
bool Reader::plain_words([[maybe_unused]] std::string_view document) {
#if defined(__SSE2__)
    std::size_t edges = 0;
    std::uint64_t before = 0;  // 1: a word goes on
    for (std::size_t at = 0; at < document.size(); at += 64) {
        std::uint64_t marks;
        if (document.size() - at >= 64) {
            if (!sixty_four(document.data() + at, reading_->lower, room_.get() + at, marks)) return false;
        } else {
            char last[64] = {};
            std::memcpy(last, document.data() + at, document.size() - at);
            if (!sixty_four(last, reading_->lower, room_.get() + at, marks)) return false;
        }
        make_room(edges + 80);
        std::uint64_t found = marks ^ (marks << 1 | before);  // where words begin and end, in turn
        before = marks >> 63;
        for (; found; found &= found - 1) edges_[edges++] = at + static_cast<std::size_t>(__builtin_ctzll(found));
    }
    if (before) {
        make_room(edges + 1);
        edges_[edges++] = document.size();
    }
    count_ = static_cast<Index>(edges / 2);
    if (reading_->least > 1 || !reading_->stop.empty()) {
        const Index all = count_;
        count_ = 0;
        for (Index i = 0; i < all; ++i) {
            const std::size_t begin = edges_[2 * static_cast<std::size_t>(i)], end = edges_[2 * static_cast<std::size_t>(i) + 1];
            if (static_cast<Index>(end - begin) >= reading_->least && !reading_->stops({room_.get() + begin, end - begin})) put(begin, end);
        }
    }
    return true;
#else
    return false;
#endif
}

void Reader::words(std::string_view document) {
    const unsigned char* p = reinterpret_cast<const unsigned char*>(document.data());
    const unsigned char* const end = p + document.size();
    char* const room = room_.get();
    char *out = room, *start = room;
    Index length = 0;
    const std::uint8_t* const ascii = characters_->ascii_words();
    const auto close = [&] {
        if (length >= reading_->least && out > start && !reading_->stops({start, static_cast<std::size_t>(out - start)})) {
            put(static_cast<std::size_t>(start - room), static_cast<std::size_t>(out - room));
            *out++ = ' ';
            start = out;
        } else
            out = start;
        length = 0;
    };
    const auto take = [&](std::uint32_t entry) {
        if (entry & Characters::word) {
            out = encode(entry & Characters::code, out);
            ++length;
        } else if (out > start)
            close();
    };
    while (p < end) {
        for (; p < end && *p < 0x80; ++p) {
            const std::uint8_t found = ascii[*p];
            if (found) {
                *out++ = static_cast<char>(found);
                ++length;
            } else if (out > start)
                close();
        }
        if (p == end) break;
        characters_->each(decode(p, end), take);
    }
    if (out > start) close();
}

void Reader::letters(std::string_view document) {
    const unsigned char* p = reinterpret_cast<const unsigned char*>(document.data());
    const unsigned char* const end = p + document.size();
    char* const room = room_.get();
    char* out = room;
    bool blank = false;
    const auto take = [&](std::uint32_t entry) {
        const bool now = entry & Characters::blank;
        if (!(now && blank)) {
            const std::size_t begin = static_cast<std::size_t>(out - room);
            out = encode(now ? ' ' : entry & Characters::code, out);
            put(begin, static_cast<std::size_t>(out - room));
        }
        blank = now;
    };
    while (p < end) {
        characters_->each(decode(p, end), take);
    }
}

}  // namespace lineal
