// Unicode characters: which are parts of words or blanks, their lower case, and letters without their accents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lineal {

// What every character becomes under a choice of lower-casing and accent folding. An entry is the code of the character
// it becomes with the marks of that character; or, with `several`, a place in the pool: how many, then the entries.
class Characters {
public:
    static constexpr std::uint32_t code = (1u << 21) - 1, word = 1u << 21, blank = 1u << 22, upper = 1u << 23, several = 1u << 24,
                                   punctuation = 1u << 25, bracket = 1u << 26, digit = 1u << 27;

    static const Characters& of(bool lower, bool fold);

    std::uint32_t operator[](std::uint32_t c) const { return entries_[c]; }
    // take(entry) of everything that a character becomes
    template <class Take>
    void each(std::uint32_t c, Take take) const {
        const std::uint32_t entry = entries_[c];
        if (!(entry & several)) return take(entry);
        const std::uint32_t* pool = pool_.data() + (entry & code);
        for (std::uint32_t i = 0; i < *pool; ++i) take(pool[i + 1]);
    }
    // the byte an ASCII character becomes if it is part of a word, else 0
    const std::uint8_t* ascii_words() const { return ascii_; }

private:
    Characters(bool lower, bool fold);
    std::vector<std::uint32_t> entries_, pool_;
    std::uint8_t ascii_[128];
};

// The next character of UTF-8 text; a byte that begins no valid character counts as U+FFFD.
inline std::uint32_t decode(const unsigned char*& p, const unsigned char* end) {
    const std::uint32_t c = *p;
    const std::ptrdiff_t left = end - p;
    const auto tail = [&](int k) { return static_cast<std::uint32_t>(p[k]) - 0x80u; };
    if (c < 0x80) return ++p, c;
    if (c >= 0xC2 && c < 0xE0 && left > 1 && tail(1) < 0x40) {
        const std::uint32_t found = (c & 0x1F) << 6 | tail(1);
        return p += 2, found;
    }
    if (c >= 0xE0 && c < 0xF0 && left > 2 && tail(1) < 0x40 && tail(2) < 0x40) {
        const std::uint32_t found = (c & 0x0F) << 12 | tail(1) << 6 | tail(2);
        if (found >= 0x800 && (found < 0xD800 || found >= 0xE000)) return p += 3, found;
    }
    if (c >= 0xF0 && c < 0xF5 && left > 3 && tail(1) < 0x40 && tail(2) < 0x40 && tail(3) < 0x40) {
        const std::uint32_t found = (c & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
        if (found >= 0x10000 && found < 0x110000) return p += 4, found;
    }
    return ++p, 0xFFFDu;
}

inline char* encode(std::uint32_t c, char* out) {
    if (c < 0x80)
        *out++ = static_cast<char>(c);
    else if (c < 0x800) {
        *out++ = static_cast<char>(0xC0 | c >> 6);
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = static_cast<char>(0xE0 | c >> 12);
        *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    } else {
        *out++ = static_cast<char>(0xF0 | c >> 18);
        *out++ = static_cast<char>(0x80 | (c >> 12 & 0x3F));
        *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    }
    return out;
}

}  // namespace lineal
