// Passes over documents: count terms, and turn documents into rows of a sparse matrix. Documents are split into chunks of a
// fixed number, merged in order: any number of threads gives the same bits.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "text/reader.hpp"
#include "threads/threads.hpp"
#include "passes/part.hpp"

// Terms by their text, numbered in the order in which they came, each with the documents and the times it occurs in.
namespace lineal {

class Lexicon {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFu;

    Index size() const { return static_cast<Index>(terms_.size()); }
    std::string_view operator[](Index i) const {
        const Term& term = terms_[static_cast<std::size_t>(i)];
        return {arena_.data() + term.at, term.size};
    }
    std::uint64_t hash_of(Index i) const { return terms_[static_cast<std::size_t>(i)].hash; }
    Index documents(Index i) const { return tallies_[static_cast<std::size_t>(i)].documents; }
    Index times(Index i) const { return tallies_[static_cast<std::size_t>(i)].times; }

    // a term of this hash is looked for soon
    void expect(std::uint64_t hash) const {
        if (!slots_.empty()) __builtin_prefetch(slots_.data() + (hash & mask_));
    }

    // `text` must be readable up to 24 bytes from its beginning
    std::uint32_t find(std::string_view text, std::uint64_t hash) const {
        if (slots_.empty()) return none;
        const Slot wanted = slot_of(text);
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.number == none || same(slot, wanted, text)) return slot.number;
        }
    }

    // the number of a term, new or not
    std::uint32_t add(std::string_view text, std::uint64_t hash) {
        if (2 * (terms_.size() + 1) > slots_.size()) grow();
        const Slot wanted = slot_of(text);
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.number == none) {
                slot = wanted;
                slot.number = static_cast<std::uint32_t>(terms_.size());
                terms_.push_back({hash, arena_.size() - inside, text.size()});
                tallies_.push_back({0, 0, -1});
                arena_.insert(arena_.end() - static_cast<std::ptrdiff_t>(inside), text.begin(), text.end());
                return slot.number;
            }
            if (same(slot, wanted, text)) return slot.number;
        }
    }

    void expect_seen(std::uint32_t number) const { __builtin_prefetch(tallies_.data() + number, 1); }

    // one more time, in this document
    void seen(std::uint32_t number, Index document) {
        Tally& tally = tallies_[number];
        ++tally.times;
        tally.documents += tally.last != document;
        tally.last = document;
    }

    void seen(std::uint32_t number, Index documents, Index times) {
        tallies_[number].documents += documents;
        tallies_[number].times += times;
    }

    // Numbers of terms in the order of their texts, byte by byte; the first eight decide most of it.
    void sort(std::vector<std::int64_t>& numbers) const {
        std::vector<std::pair<std::uint64_t, std::int64_t>> keys;
        keys.reserve(numbers.size());
        for (const std::int64_t number : numbers) {
            const std::string_view text = (*this)[number];
            std::uint64_t key = 0;
            for (std::size_t k = 0; k < 8; ++k) key = key << 8 | (k < text.size() ? static_cast<unsigned char>(text[k]) : 0u);
            keys.emplace_back(key, number);
        }
        std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first : (*this)[a.second] < (*this)[b.second];
        });
        for (std::size_t k = 0; k < keys.size(); ++k) numbers[k] = keys[k].second;
    }

    void clear() {
        terms_.clear();
        tallies_.clear();
        arena_.assign(inside, 0);
        std::fill(slots_.begin(), slots_.end(), Slot{});
    }

private:
    // The first bytes of a term stand beside its number, so that most terms are found by looking at one place in memory.
    struct Slot {
        std::uint64_t head[3] = {0, 0, 0};
        std::uint32_t size = 0, number = none;
    };
    static constexpr std::size_t inside = 24;

    static Slot slot_of(std::string_view text) {
        Slot slot;
        slot.size = static_cast<std::uint32_t>(text.size());
        std::size_t left = std::min(text.size(), inside);
        for (std::size_t k = 0; left > 0; ++k) {
            std::memcpy(&slot.head[k], text.data() + 8 * k, 8);
            if (left < 8) slot.head[k] &= (std::uint64_t{1} << 8 * left) - 1;
            left -= std::min<std::size_t>(left, 8);
        }
        return slot;
    }

    bool same(const Slot& slot, const Slot& wanted, std::string_view text) const {
        return slot.size == wanted.size && slot.head[0] == wanted.head[0] && slot.head[1] == wanted.head[1] &&
               slot.head[2] == wanted.head[2] && (text.size() <= inside || (*this)[slot.number] == text);
    }

    struct Term {
        std::uint64_t hash;
        std::size_t at, size;
    };
    struct Tally {
        Index documents, times, last;
    };

    void grow() {
        const std::size_t size = slots_.empty() ? 1024 : 2 * slots_.size();
        slots_.assign(size, Slot{});
        mask_ = size - 1;
        for (std::size_t i = 0; i < terms_.size(); ++i) {
            std::size_t at = terms_[i].hash & mask_;
            while (slots_[at].number != none) at = (at + 1) & mask_;
            slots_[at] = slot_of((*this)[static_cast<Index>(i)]);
            slots_[at].number = static_cast<std::uint32_t>(i);
        }
    }

    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::vector<Term> terms_;
    std::vector<Tally> tallies_;
    std::vector<char> arena_ = std::vector<char>(inside);  // the texts, readable beyond their ends
};

// UTF-8, one after the other in a text or each in a place of its own.
struct Documents {
    const std::int64_t* starts = nullptr;  // count + 1 places in text
    const char* text = nullptr;
    Index count = 0;
    const std::string_view* apart = nullptr;
    std::string_view operator[](Index i) const {
        if (apart) return apart[i];
        return {text + starts[i], static_cast<std::size_t>(starts[i + 1] - starts[i])};
    }
};

// The terms of every document by their numbers in a lexicon.
struct Tokens {
    std::vector<std::int64_t> starts = {0};
    std::vector<std::uint32_t> numbers;
    Index different = 0;  // all numbers are below this
};

// Adds the terms of the documents, and keeps them if asked. Stops, and says so, once there would be more than `most` different ones.
bool count_terms(const Team& team, const Documents& documents, const Reading& reading, Index most, Lexicon& lexicon,
                 Tokens* kept = nullptr);

// Terms by the first bits of their hash: in how many documents a bucket occurs, and whether two terms share it.
struct Buckets {
    explicit Buckets(int bits_)
        : bits(bits_), documents(std::size_t{1} << bits_), first(std::size_t{1} << bits_), shared(std::size_t{1} << bits_) {}
    int bits;
    std::vector<std::int64_t> documents;
    std::vector<std::uint64_t> first;
    std::vector<std::uint8_t> shared;
};
void count_buckets(const Team& team, const Documents& documents, const Reading& reading, Buckets& buckets);

// Where a term goes: to its number in a lexicon, or to its bucket, by way of `columns` if given (-1: nowhere).
struct Place {
    const Lexicon* lexicon = nullptr;
    int bits = 0;
    const std::int32_t* columns = nullptr;
};

// x = times (or 1) * scale of the column, rows divided by their length if there is a scale
struct Weighting {
    bool binary = false;
    const double* scale = nullptr;
};

template <class Value>
struct Matrix32 {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> columns;
    std::vector<Value> values;
    Index terms = 0, unknown = 0, largest = 0;  // how many terms there were, how many had no place, and the largest count
};

template <class Value>
void encode_terms(const Team& team, const Documents& documents, const Reading& reading, const Place& place, const Weighting& weighting,
                  Matrix32<Value>& out);

// The same of documents whose terms were kept; columns[number] is where a term goes (-1: nowhere).
template <class Value>
void encode_tokens(const Team& team, const Tokens& tokens, const std::int32_t* columns, const Weighting& weighting, Matrix32<Value>& out);

// What can be said about a document without its words: one column of `out` for each statistic, row by row.
//   words, characters, characters per word, different words / words, punctuation / characters, brackets / characters,
//   numbers / words, capitals / characters, and with a lexicon of known words: others that are no numbers / words
constexpr Index statistic_columns = 8;
void text_statistics(const Team& team, const Documents& documents, const Reading& reading, const Lexicon* known, double* out);

}  // namespace lineal
