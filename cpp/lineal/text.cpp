#include "text.hpp"

#include <algorithm>
#include <cmath>

namespace lineal {

namespace {

constexpr Index chunk_size = 2048;

Index chunks_of(Index count) { return (count + chunk_size - 1) / chunk_size; }

std::vector<Reader> readers_of(std::size_t workers, const Reading& reading) {
    std::vector<Reader> readers;
    readers.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) readers.emplace_back(reading);
    return readers;
}

// Short rows by rank: how many come before each. More comparisons than other ways, but no branch to guess.
void sort(std::vector<std::uint32_t>& row) {
    constexpr std::size_t most = 48;
    const std::size_t n = row.size();
    if (n > most) return std::sort(row.begin(), row.end());
    std::int32_t key[most];  // signed, which every processor compares at once
    for (std::size_t i = 0; i < most; ++i) key[i] = i < n ? static_cast<std::int32_t>(row[i]) : INT32_MAX;
    const std::size_t rounded = (n + 7) / 8 * 8;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t one = key[i];
        std::int32_t rank = 0;
        for (std::size_t j = 0; j < rounded; ++j) rank += key[j] < one;
        for (std::size_t j = 0; j < i; ++j) rank += key[j] == one;
        row[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(one);
    }
}

// visit(document number, reader) for the documents of a chunk; false if the work must stop
template <class Visit>
bool read_chunk(const Documents& documents, Reader& reader, Index chunk, Watch& watch, Visit visit) {
    const Index end = std::min(documents.count, (chunk + 1) * chunk_size);
    for (Index i = chunk * chunk_size; i < end; ++i) {
        if (i % 64 == 0 && watch.stop()) return false;
        reader.read(documents[i]);
        visit(i);
    }
    return true;
}

}  // namespace

bool count_terms(const Team& team, const Documents& documents, const Reading& reading, Index most, Lexicon& lexicon, Tokens* kept) {
    const std::size_t workers = static_cast<std::size_t>(std::max(1, team.threads));
    std::vector<Reader> readers = readers_of(workers, reading);
    std::vector<Lexicon> found(workers);
    std::vector<Tokens> tokens(workers);  // by the numbers of a chunk
    std::vector<std::uint32_t> global;
    bool room = true;
    run(
        team, chunks_of(documents.count),
        [&](int worker, Index chunk, Watch& watch) {
            Reader& reader = readers[static_cast<std::size_t>(worker)];
            Lexicon& mine = found[static_cast<std::size_t>(worker)];
            auto& [starts, numbers] = tokens[static_cast<std::size_t>(worker)];
            mine.clear();
            starts.clear();
            numbers.clear();
            read_chunk(documents, reader, chunk, watch, [&, &starts = starts, &numbers = numbers](Index i) {
                reader.terms([&](const char* text, std::size_t size) {
                    const std::uint32_t number = mine.add({text, size}, hash(text, size));
                    mine.seen(number, i);
                    if (kept) numbers.push_back(number);
                });
                if (kept) starts.push_back(static_cast<std::int64_t>(numbers.size()));
            });
        },
        [&](int worker) {
            const Lexicon& mine = found[static_cast<std::size_t>(worker)];
            global.resize(static_cast<std::size_t>(mine.size()));
            for (Index k = 0; k < mine.size() && room; ++k) {
                const std::uint32_t number = lexicon.add(mine[k], mine.hash_of(k));
                lexicon.seen(number, mine.documents(k), mine.times(k));
                global[static_cast<std::size_t>(k)] = number;
                room = lexicon.size() <= most;
            }
            if (!kept || !room) return;
            const auto& [starts, numbers] = tokens[static_cast<std::size_t>(worker)];
            const auto before = static_cast<std::int64_t>(kept->numbers.size());
            for (const std::int64_t end : starts) kept->starts.push_back(before + end);
            kept->numbers.resize(kept->numbers.size() + numbers.size());
            std::transform(numbers.begin(), numbers.end(), kept->numbers.begin() + before, [&](std::uint32_t k) { return global[k]; });
        });
    return room;
}

void count_buckets(const Team& team, const Documents& documents, const Reading& reading, Buckets& buckets) {
    const std::size_t workers = static_cast<std::size_t>(std::max(1, team.threads));
    std::vector<Reader> readers = readers_of(workers, reading);
    struct Found {
        std::vector<std::uint64_t> hashes;
        std::vector<std::size_t> ends;
    };
    std::vector<Found> found(workers);
    run(
        team, chunks_of(documents.count),
        [&](int worker, Index chunk, Watch& watch) {
            Reader& reader = readers[static_cast<std::size_t>(worker)];
            auto& [hashes, ends] = found[static_cast<std::size_t>(worker)];
            hashes.clear();
            ends.clear();
            read_chunk(documents, reader, chunk, watch, [&](Index) {
                const auto begin = static_cast<std::ptrdiff_t>(hashes.size());
                reader.terms([&, &hashes = hashes](const char* text, std::size_t size) { hashes.push_back(hash(text, size)); });
                std::sort(hashes.begin() + begin, hashes.end());
                hashes.erase(std::unique(hashes.begin() + begin, hashes.end()), hashes.end());
                ends.push_back(hashes.size());
            });
        },
        [&](int worker) {
            const auto& [hashes, ends] = found[static_cast<std::size_t>(worker)];
            std::size_t at = 0;
            for (const std::size_t end : ends) {
                std::size_t before = buckets.documents.size();
                for (; at < end; ++at) {
                    const std::size_t bucket = hashes[at] >> (64 - buckets.bits);
                    if (buckets.documents[bucket] == 0) buckets.first[bucket] = hashes[at];
                    else if (buckets.first[bucket] != hashes[at]) buckets.shared[bucket] = 1;
                    if (bucket != before) ++buckets.documents[bucket];
                    before = bucket;
                }
            }
        });
}

namespace {

// Rows of documents: fill(worker, document, row, totals) puts the columns of a document's terms into an empty row.
template <class Value, class Fill>
void encode_rows(const Team& team, Index count, const Weighting& weighting, Matrix32<Value>& out, Fill fill) {
    const std::size_t workers = static_cast<std::size_t>(std::max(1, team.threads));
    std::vector<Matrix32<Value>> found(workers);
    std::vector<std::vector<std::uint32_t>> rooms(workers);
    out.starts.reserve(static_cast<std::size_t>(count) + 1);
    out.starts.push_back(0);
    run(
        team, chunks_of(count),
        [&](int worker, Index chunk, Watch& watch) {
            Matrix32<Value>& mine = found[static_cast<std::size_t>(worker)];
            std::vector<std::uint32_t>& row = rooms[static_cast<std::size_t>(worker)];
            mine.starts.clear();
            mine.columns.clear();
            mine.values.clear();
            mine.terms = mine.unknown = mine.largest = 0;
            const Index end = std::min(count, (chunk + 1) * chunk_size);
            for (Index i = chunk * chunk_size; i < end; ++i) {
                if (i % 64 == 0 && watch.stop()) return;
                row.clear();
                fill(static_cast<std::size_t>(worker), i, row, mine);
                sort(row);
                const std::size_t begin = mine.values.size();
                std::size_t size = begin;
                mine.columns.resize(begin + row.size());
                mine.values.resize(begin + row.size());
                double square = 0;
                for (std::size_t at = 0; at < row.size();) {
                    std::size_t next = at + 1;
                    while (next < row.size() && row[next] == row[at]) ++next;
                    const Index times = static_cast<Index>(next - at);
                    mine.largest = std::max(mine.largest, times);
                    double value = weighting.binary ? 1.0 : static_cast<double>(times);
                    if (weighting.scale) value *= weighting.scale[row[at]];
                    square += value * value;
                    mine.columns[size] = static_cast<std::int32_t>(row[at]);
                    mine.values[size++] = static_cast<Value>(value);
                    at = next;
                }
                mine.columns.resize(size);
                mine.values.resize(size);
                if (weighting.scale && square > 0) {
                    const double length = std::sqrt(square);
                    for (std::size_t k = begin; k < mine.values.size(); ++k) mine.values[k] = static_cast<Value>(static_cast<double>(mine.values[k]) / length);
                }
                mine.starts.push_back(static_cast<std::int64_t>(mine.columns.size()));
            }
        },
        [&](int worker) {
            const Matrix32<Value>& mine = found[static_cast<std::size_t>(worker)];
            const auto before = static_cast<std::int64_t>(out.columns.size());
            if (!before) {  // the chunks are alike, more or less
                const std::size_t guess = mine.columns.size() * static_cast<std::size_t>(chunks_of(count)) / 15 * 16;
                out.columns.reserve(guess);
                out.values.reserve(guess);
            }
            for (const std::int64_t end : mine.starts) out.starts.push_back(before + end);
            out.columns.insert(out.columns.end(), mine.columns.begin(), mine.columns.end());
            out.values.insert(out.values.end(), mine.values.begin(), mine.values.end());
            out.terms += mine.terms;
            out.unknown += mine.unknown;
            out.largest = std::max(out.largest, mine.largest);
        });
}

}  // namespace

template <class Value>
void encode_terms(const Team& team, const Documents& documents, const Reading& reading, const Place& place, const Weighting& weighting,
                  Matrix32<Value>& out) {
    std::vector<Reader> readers = readers_of(static_cast<std::size_t>(std::max(1, team.threads)), reading);
    encode_rows(team, documents.count, weighting, out, [&](std::size_t worker, Index i, std::vector<std::uint32_t>& row, Matrix32<Value>& mine) {
        readers[worker].read(documents[i]);
        readers[worker].terms([&](const char* text, std::size_t size) {
            const std::uint64_t h = hash(text, size);
            std::uint32_t column;
            if (place.lexicon) column = place.lexicon->find({text, size}, h);
            else {
                column = static_cast<std::uint32_t>(h >> (64 - place.bits));
                if (place.columns) column = static_cast<std::uint32_t>(place.columns[column]);
            }
            ++mine.terms;
            if (column == Lexicon::none) ++mine.unknown;
            else row.push_back(column);
        });
    });
}

template <class Value>
void encode_tokens(const Team& team, const Tokens& tokens, const std::int32_t* columns, const Weighting& weighting, Matrix32<Value>& out) {
    const Index count = static_cast<Index>(tokens.starts.size()) - 1;
    encode_rows(team, count, weighting, out, [&](std::size_t, Index i, std::vector<std::uint32_t>& row, Matrix32<Value>& mine) {
        const std::size_t document = static_cast<std::size_t>(i);
        for (std::int64_t t = tokens.starts[document]; t < tokens.starts[document + 1]; ++t) {
            const std::int32_t column = columns[tokens.numbers[static_cast<std::size_t>(t)]];
            ++mine.terms;
            if (column < 0) ++mine.unknown;
            else row.push_back(static_cast<std::uint32_t>(column));
        }
    });
}

namespace {

bool is_number(std::string_view word) {
    const Characters& plain = Characters::of(false, false);
    const unsigned char* p = reinterpret_cast<const unsigned char*>(word.data());
    const unsigned char* const end = p + word.size();
    while (p < end)
        if (!(plain[decode(p, end)] & Characters::digit)) return false;
    return true;
}

void describe(const Reader& reader, const Lexicon* known, std::vector<std::string_view>& words, double* out) {
    const Characters& plain = Characters::of(false, false);
    const std::string_view body = reader.body();
    const unsigned char* p = reinterpret_cast<const unsigned char*>(body.data());
    const unsigned char* const end = p + body.size();
    Index characters = 0, punctuation = 0, brackets = 0, capitals = 0, letters = 0, numbers = 0, strange = 0;
    while (p < end) {
        const std::uint32_t entry = plain[decode(p, end)];
        ++characters;
        punctuation += (entry & Characters::punctuation) != 0;
        brackets += (entry & Characters::bracket) != 0;
        capitals += (entry & Characters::upper) != 0;
    }
    words.clear();
    for (Index i = 0; i < reader.count(); ++i) {
        const std::string_view word = reader.piece(i);
        words.push_back(word);
        for (const char byte : word) letters += (byte & 0xC0) != 0x80;
        const bool number = is_number(word);
        numbers += number;
        if (known && !number) strange += known->find(word, hash(word.data(), word.size())) == Lexicon::none;
    }
    std::sort(words.begin(), words.end());
    const auto different = std::unique(words.begin(), words.end()) - words.begin();
    const auto share = [](auto part, Index whole) { return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0.0; };
    const Index count = reader.count();
    out[0] = static_cast<double>(count);
    out[1] = static_cast<double>(characters);
    out[2] = share(letters, count);
    out[3] = share(different, count);
    out[4] = share(punctuation, characters);
    out[5] = share(brackets, characters);
    out[6] = share(numbers, count);
    out[7] = share(capitals, characters);
    if (known) out[8] = share(strange, count);
}

}  // namespace

void text_statistics(const Team& team, const Documents& documents, const Reading& reading, const Lexicon* known, double* out) {
    const std::size_t workers = static_cast<std::size_t>(std::max(1, team.threads));
    std::vector<Reader> readers = readers_of(workers, reading);
    std::vector<std::vector<std::string_view>> rooms(workers);
    const Index width = statistic_columns + (known ? 1 : 0);
    run(
        team, chunks_of(documents.count),
        [&](int worker, Index chunk, Watch& watch) {
            Reader& reader = readers[static_cast<std::size_t>(worker)];
            read_chunk(documents, reader, chunk, watch, [&](Index i) { describe(reader, known, rooms[static_cast<std::size_t>(worker)], out + i * width); });
        },
        [](int) {});
}

template void encode_terms(const Team&, const Documents&, const Reading&, const Place&, const Weighting&, Matrix32<float>&);
template void encode_terms(const Team&, const Documents&, const Reading&, const Place&, const Weighting&, Matrix32<double>&);
template void encode_tokens(const Team&, const Tokens&, const std::int32_t*, const Weighting&, Matrix32<float>&);
template void encode_tokens(const Team&, const Tokens&, const std::int32_t*, const Weighting&, Matrix32<double>&);

}  // namespace lineal
