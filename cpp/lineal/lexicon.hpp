// Terms by their text, numbered in the order in which they came, each with the documents and the times it occurs in.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "part.hpp"

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
    Index documents(Index i) const { return terms_[static_cast<std::size_t>(i)].documents; }
    Index times(Index i) const { return terms_[static_cast<std::size_t>(i)].times; }

    std::uint32_t find(std::string_view text, std::uint64_t hash) const {
        if (slots_.empty()) return none;
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.number == none) return none;
            if (slot.tag == static_cast<std::uint32_t>(hash >> 32) && (*this)[slot.number] == text) return slot.number;
        }
    }

    // the number of a term, new or not
    std::uint32_t add(std::string_view text, std::uint64_t hash) {
        if (2 * (terms_.size() + 1) > slots_.size()) grow();
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.number == none) {
                slot = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(terms_.size())};
                terms_.push_back({hash, arena_.size(), text.size(), 0, 0, -1});
                arena_.insert(arena_.end(), text.begin(), text.end());
                return slot.number;
            }
            if (slot.tag == static_cast<std::uint32_t>(hash >> 32) && (*this)[slot.number] == text) return slot.number;
        }
    }

    // one more time, in this document
    void seen(std::uint32_t number, Index document) {
        Term& term = terms_[number];
        ++term.times;
        if (term.last != document) {
            term.last = document;
            ++term.documents;
        }
    }

    void seen(std::uint32_t number, Index documents, Index times) {
        terms_[number].documents += documents;
        terms_[number].times += times;
    }

    void clear() {
        terms_.clear();
        arena_.clear();
        std::fill(slots_.begin(), slots_.end(), Slot{});
    }

private:
    struct Slot {
        std::uint32_t tag = 0, number = none;
    };
    struct Term {
        std::uint64_t hash;
        std::size_t at, size;
        Index documents, times, last;
    };

    void grow() {
        const std::size_t size = slots_.empty() ? 1024 : 2 * slots_.size();
        slots_.assign(size, Slot{});
        mask_ = size - 1;
        for (std::size_t i = 0; i < terms_.size(); ++i) {
            std::size_t at = terms_[i].hash & mask_;
            while (slots_[at].number != none) at = (at + 1) & mask_;
            slots_[at] = {static_cast<std::uint32_t>(terms_[i].hash >> 32), static_cast<std::uint32_t>(i)};
        }
    }

    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::vector<Term> terms_;
    std::vector<char> arena_;
};

}  // namespace lineal
