#include "text/characters.hpp"

#include <iterator>
#include <unordered_map>

namespace lineal {

namespace {

#include "text/unicode.inc"

constexpr std::uint32_t most = 0x110000;

template <std::size_t N>
void mark(std::vector<std::uint32_t>& entries, const std::uint32_t (&ranges)[N], std::uint32_t flag) {
    for (std::size_t i = 0; i < N; i += 2)
        for (std::uint32_t c = ranges[i]; c <= ranges[i + 1]; ++c) entries[c] |= flag;
}

using Change = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;

template <std::size_t N>
Change change(const std::uint32_t (&numbers)[N]) {
    Change found;
    for (std::size_t i = 0; i < N; i += 2 + numbers[i + 1]) found[numbers[i]] = {numbers + i + 2, numbers + i + 2 + numbers[i + 1]};
    return found;
}

}  // namespace

const Characters& Characters::of(bool lower, bool fold) {
    static const Characters plain(false, false), small(true, false), bare(false, true), both(true, true);
    return lower ? (fold ? both : small) : (fold ? bare : plain);
}

Characters::Characters(bool lower, bool fold) : entries_(most) {
    for (std::uint32_t c = 0; c < most; ++c) entries_[c] = c;
    mark(entries_, word_ranges, word);
    mark(entries_, blank_ranges, blank);
    mark(entries_, upper_ranges, upper);
    mark(entries_, punctuation_ranges, punctuation);
    mark(entries_, bracket_ranges, bracket);
    mark(entries_, digit_ranges, digit);
    const std::vector<std::uint32_t> own = entries_;
    const Change small = lower ? change(lowered) : Change{}, bare = fold ? change(folded) : Change{};
    const auto becomes = [&](std::uint32_t c) {
        std::vector<std::uint32_t> first{c}, last;
        if (const auto at = small.find(c); at != small.end()) first = at->second;
        for (const std::uint32_t one : first) {
            const auto at = bare.find(one);
            if (at == bare.end())
                last.push_back(one);
            else
                last.insert(last.end(), at->second.begin(), at->second.end());
        }
        return last;
    };
    const auto set = [&](std::uint32_t c) {
        const std::vector<std::uint32_t> to = becomes(c);
        if (to.size() == 1) {
            entries_[c] = own[to[0]];
            return;
        }
        entries_[c] = several | static_cast<std::uint32_t>(pool_.size());
        pool_.push_back(static_cast<std::uint32_t>(to.size()));
        for (const std::uint32_t one : to) pool_.push_back(own[one]);
    };
    for (const auto& [c, to] : small) set(c);
    for (const auto& [c, to] : bare) set(c);
    for (std::uint32_t c = 0; c < 128; ++c) ascii_[c] = entries_[c] & word ? static_cast<std::uint8_t>(entries_[c] & code) : 0;
}

}  // namespace lineal
