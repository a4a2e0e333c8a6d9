// From a document to its terms: n-grams of words or of characters.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/characters.hpp"
#include "passes/part.hpp"

namespace lineal {

struct Reading {
    bool characters = false;           // n-grams of characters; else of words
    bool lower = true;                 // lower case
    bool fold = false;                 // letters without accents
    Index least = 1;                   // words of fewer characters are left out
    Index low = 1, high = 1;           // n of the n-grams
    std::vector<std::string> missing;  // a document that is one of these, blanks around it aside, is empty
    std::vector<std::string> stop;     // words left out before n-grams are made of the others, in the order of their bytes

    bool stops(std::string_view word) const { return !stop.empty() && std::binary_search(stop.begin(), stop.end(), word); }
};

// A hash of bytes in words of eight, little-endian, the last one filled with zeros. `text` must be readable up to the next
// multiple of eight.
inline std::uint64_t hash(const char* text, std::size_t size) {
    constexpr std::uint64_t k = 0x9E3779B97F4A7C15u;
    std::uint64_t h = size * k, w;
    const auto round = [&] {
        std::memcpy(&w, text, 8);
        const std::uint64_t mixed = (h ^ w) * k;
        return mixed ^ mixed >> 32;
    };
    for (; size > 16; text += 8, size -= 8) h = round();
    const std::uint64_t long_one = round();  // words of up to 16 bytes without a branch to guess
    const bool more = size > 8;
    h = more ? long_one : h;
    text += more ? 8 : 0;
    size -= more ? 8 : 0;
    std::memcpy(&w, text, 8);
    h = (h ^ (size ? w & ~std::uint64_t{0} >> (64 - 8 * size) : 0)) * k;
    h = (h ^ h >> 32) * 0xBF58476D1CE4E5B9u;
    return h ^ h >> 29;
}

// Writes a document as its words with single blanks between them (as its characters, with runs of blanks made one blank), so
// that every n-gram is a slice of it.
class Reader {
public:
    explicit Reader(const Reading& reading);

    void read(std::string_view document);

    // visit(text, size): text is readable some bytes beyond its end
    template <class Visit>
    void terms(Visit visit) const {
        for (Index n = reading_->low; n <= reading_->high && n <= count_; ++n)
            for (Index i = 0; i + n <= count_; ++i) {
                const std::size_t begin = edges_[2 * static_cast<std::size_t>(i)];
                visit(room_.get() + begin, edges_[2 * static_cast<std::size_t>(i + n) - 1] - begin);
            }
    }
    // how many terms() visits
    std::size_t visits() const {
        Index visits = 0;
        for (Index n = reading_->low; n <= reading_->high && n <= count_; ++n) visits += count_ - n + 1;
        return static_cast<std::size_t>(visits);
    }

    Index count() const { return count_; }
    std::string_view piece(Index i) const {
        const std::size_t* edge = edges_.data() + 2 * i;
        return {room_.get() + edge[0], edge[1] - edge[0]};
    }
    // the document without blanks at its ends, empty if it is missing
    std::string_view body() const { return body_; }

private:
    std::string_view trimmed(std::string_view document) const;
    bool plain_words(std::string_view document);
    void words(std::string_view document);
    void letters(std::string_view document);
    void put(std::size_t begin, std::size_t end) {
        const std::size_t at = 2 * static_cast<std::size_t>(count_++);
        make_room(at + 2);
        edges_[at] = begin;
        edges_[at + 1] = end;
    }
    void make_room(std::size_t size) {
        if (size > edges_.size()) edges_.resize(2 * size);
    }

    const Reading* reading_;
    const Characters* characters_;
    std::unique_ptr<char[]> room_;
    std::size_t size_ = 0;
    std::vector<std::size_t> edges_;  // where each word (character) begins and ends in the room
    Index count_ = 0;
    std::string_view body_;
};

}  // namespace lineal
