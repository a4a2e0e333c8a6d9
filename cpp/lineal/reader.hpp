// From a document to its terms: n-grams of words or of characters.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "characters.hpp"
#include "part.hpp"

namespace lineal {

struct Reading {
    bool characters = false;  // n-grams of characters; else of words
    bool lower = true;        // lower case
    bool fold = false;        // letters without accents
    Index least = 1;          // words of fewer characters are left out
    Index low = 1, high = 1;  // n of the n-grams
    std::vector<std::string> missing;  // a document that is one of these, blanks around it aside, is empty
};

// A hash of bytes in words of eight, little-endian, the last one filled with zeros. `text` must be readable up to the next
// multiple of eight.
inline std::uint64_t hash(const char* text, std::size_t size) {
    constexpr std::uint64_t k = 0x9E3779B97F4A7C15u;
    std::uint64_t h = size * k, w;
    for (; size > 8; text += 8, size -= 8) {
        std::memcpy(&w, text, 8);
        h = (h ^ w) * k;
        h ^= h >> 32;
    }
    std::memcpy(&w, text, 8);
    h = (h ^ (size < 8 ? w & ((std::uint64_t{1} << 8 * size) - 1) : w)) * k;
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
        const Index count = static_cast<Index>(pieces_.size());
        for (Index n = reading_->low; n <= reading_->high && n <= count; ++n)
            for (Index i = 0; i + n <= count; ++i) {
                const Piece& first = pieces_[static_cast<std::size_t>(i)];
                visit(room_.get() + first.begin, pieces_[static_cast<std::size_t>(i + n - 1)].end - first.begin);
            }
    }

    Index count() const { return static_cast<Index>(pieces_.size()); }
    std::string_view piece(Index i) const {
        const Piece& one = pieces_[static_cast<std::size_t>(i)];
        return {room_.get() + one.begin, one.end - one.begin};
    }
    // the document without blanks at its ends, empty if it is missing
    std::string_view body() const { return body_; }

private:
    struct Piece {
        std::size_t begin, end;
    };
    std::string_view trimmed(std::string_view document) const;
    void words(std::string_view document);
    void letters(std::string_view document);

    const Reading* reading_;
    const Characters* characters_;
    std::unique_ptr<char[]> room_;
    std::size_t size_ = 0;
    std::vector<Piece> pieces_;
    std::string_view body_;
};

}  // namespace lineal
