// Passes over documents: count terms, and turn documents into rows of a sparse matrix. Documents are split into chunks of a
// fixed number, merged in order: any number of threads gives the same bits.
#pragma once

#include "text/lexicon.hpp"
#include "text/reader.hpp"
#include "threads/threads.hpp"

namespace lineal {

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

// What can be said about a document without its words: so many columns of `out`, row by row.
//   words, characters, characters per word, different words / words, punctuation / characters, brackets / characters,
//   numbers / words, capitals / characters, and with a lexicon of known words: others that are no numbers / words
constexpr Index statistic_columns = 8;
void text_statistics(const Team& team, const Documents& documents, const Reading& reading, const Lexicon* known, double* out);

}  // namespace lineal
