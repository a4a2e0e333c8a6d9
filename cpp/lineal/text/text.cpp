#include "text/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

// Documents as rows of a sparse matrix: the columns of their terms, sorted and counted.
namespace lineal {

// The columns of one document's terms; those of a row come in any order, each as often as its term.
struct Row {
    static constexpr std::size_t few = 48;                       // a multiple of 16
    typedef std::int32_t Four __attribute__((vector_size(16)));  // signed, which every processor compares at once
    std::vector<std::uint32_t> columns = std::vector<std::uint32_t>(few);
    std::size_t size = 0;

    void begin(std::size_t most) {
        size = 0;
        if (most > columns.size()) columns.resize(2 * most);
    }

    // Every column once, in order, and how often it was there; both have room for one more than the row has. Returns how many.
    std::size_t close(std::int32_t* out, std::int32_t* times) {
        if (size > few) return close_long(out, times);
        // By rank: how many are smaller. More comparisons than other ways, but no branch to guess, and equal ones meet in one place.
        std::int32_t at[few] = {}, count[few] = {};
        std::fill_n(columns.begin() + static_cast<std::ptrdiff_t>(size), (16 - size % 16) % 16, std::uint32_t{INT32_MAX});
        for (std::size_t block = 0; block < size; block += 16) {
            Four key[4], rank[4] = {};
            std::memcpy(key, columns.data() + block, sizeof key);
            for (std::size_t i = 0; i < size; ++i) {
                const std::int32_t one = static_cast<std::int32_t>(columns[i]);
                const Four other = {one, one, one, one};
                for (int k = 0; k < 4; ++k) rank[k] -= other < key[k];
            }
            std::int32_t place[16];
            std::memcpy(place, rank, sizeof place);
            for (std::size_t j = 0; j < 16 && block + j < size; ++j) {
                at[place[j]] = static_cast<std::int32_t>(columns[block + j]);
                ++count[place[j]];
            }
        }
        std::size_t different = 0;
        for (std::size_t i = 0; i < size; ++i) {
            out[different] = at[i];
            times[different] = count[i];
            different += count[i] > 0;
        }
        return different;
    }

private:
    std::size_t close_long(std::int32_t* out, std::int32_t* times) {
        std::sort(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(size));
        std::size_t different = 0;
        for (std::size_t i = 0; i < size;) {
            std::size_t next = i + 1;
            while (next < size && columns[next] == columns[i]) ++next;
            out[different] = static_cast<std::int32_t>(columns[i]);
            times[different++] = static_cast<std::int32_t>(std::min<std::size_t>(next - i, INT32_MAX));
            i = next;
        }
        return different;
    }
};

// The rows of a chunk; its vectors only grow, and `size` of their entries count.
template <class Value>
struct Rows32 {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> columns, times;
    std::vector<Value> values;
    std::size_t size = 0;
    Index terms = 0, unknown = 0, largest = 0;

    void clear() {
        starts.clear();
        size = 0;
        terms = unknown = largest = 0;
    }

    void add(Row& row, const Weighting& weighting) {
        const std::size_t most = size + row.size + 1;
        if (most > columns.size()) {
            columns.resize(2 * most);
            values.resize(2 * most);
        }
        if (row.size + 1 > times.size()) times.resize(2 * row.size + 2);
        std::int32_t* const column = columns.data() + size;
        Value* const value = values.data() + size;
        const std::size_t count = row.close(column, times.data());
        std::int32_t top = 0;
        for (std::size_t k = 0; k < count; ++k) top = std::max(top, times[k]);
        largest = std::max<Index>(largest, top);
        if (weighting.binary) std::fill(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count), 1);
        if (weighting.scale) {
            double square = 0;
            for (std::size_t k = 0; k < count; ++k) {
                const double scaled = static_cast<double>(times[k]) * weighting.scale[column[k]];
                square += scaled * scaled;
                value[k] = static_cast<Value>(scaled);
            }
            const double length = std::sqrt(square);
            for (std::size_t k = 0; k < count && square > 0; ++k) value[k] = static_cast<Value>(static_cast<double>(value[k]) / length);
        } else
            for (std::size_t k = 0; k < count; ++k) value[k] = static_cast<Value>(times[k]);
        size += count;
        starts.push_back(static_cast<std::int64_t>(size));
    }
};

namespace {

constexpr Index chunk_size = 2048;

Index chunks_of(Index count) { return (count + chunk_size - 1) / chunk_size; }

std::vector<Reader> readers_of(std::size_t workers, const Reading& reading) {
    std::vector<Reader> readers;
    readers.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) readers.emplace_back(reading);
    return readers;
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

namespace {

// What one worker has seen: terms by numbers of its own, which of them are known to all, and the terms of its chunk.
struct Share {
    static constexpr Index enough = Index{1} << 18;  // more different terms than this are not remembered from chunk to chunk
    Lexicon lexicon;
    std::vector<std::uint32_t> global;
    Tokens chunk;
    std::vector<std::string_view> terms;  // of one document
    std::vector<std::uint64_t> hashes;

    void read(const Reader& reader, Index document, bool keep) {
        terms.clear();
        hashes.clear();
        reader.terms([&](const char* text, std::size_t size) {
            terms.emplace_back(text, size);
            hashes.push_back(hash(text, size));
            lexicon.expect(hashes.back());
        });
        const std::size_t before = chunk.numbers.size();
        for (std::size_t k = 0; k < terms.size(); ++k) {
            chunk.numbers.push_back(lexicon.add(terms[k], hashes[k]));
            lexicon.expect_seen(chunk.numbers.back());
        }
        for (std::size_t k = before; k < chunk.numbers.size(); ++k) lexicon.seen(chunk.numbers[k], document);
        if (!keep) chunk.numbers.clear();
        if (keep) chunk.starts.push_back(static_cast<std::int64_t>(chunk.numbers.size()));
    }

    // Tells all of them the new terms; false if there are too many.
    bool tell(Lexicon& all, Index most) {
        for (Index k = static_cast<Index>(global.size()); k < lexicon.size(); ++k) {
            global.push_back(all.add(lexicon[k], lexicon.hash_of(k)));
            if (all.size() > most) return false;
        }
        return true;
    }

    // Adds what was counted, and forgets it.
    void close(Lexicon& all) {
        for (Index k = 0; k < lexicon.size(); ++k) all.seen(global[static_cast<std::size_t>(k)], lexicon.documents(k), lexicon.times(k));
        lexicon.clear();
        global.clear();
    }
};

}  // namespace

bool count_terms(const Team& team, const Documents& documents, const Reading& reading, Index most, Lexicon& lexicon, Tokens* kept) {
    const std::size_t workers = static_cast<std::size_t>(std::max(1, team.threads));
    std::vector<Reader> readers = readers_of(workers, reading);
    std::vector<Share> shares(workers);
    bool room = true;
    run(
        team, chunks_of(documents.count),
        [&](int worker, Index chunk, Watch& watch) {
            Reader& reader = readers[static_cast<std::size_t>(worker)];
            Share& mine = shares[static_cast<std::size_t>(worker)];
            mine.chunk.starts.clear();
            mine.chunk.numbers.clear();
            read_chunk(documents, reader, chunk, watch, [&](Index i) { mine.read(reader, i, kept); });
        },
        [&](int worker) {
            Share& mine = shares[static_cast<std::size_t>(worker)];
            room = room && mine.tell(lexicon, most);
            if (!room) return;
            if (kept) {
                const auto before = static_cast<std::int64_t>(kept->numbers.size());
                for (const std::int64_t end : mine.chunk.starts) kept->starts.push_back(before + end);
                if (!before)
                    kept->numbers.reserve(mine.chunk.numbers.size() * static_cast<std::size_t>(chunks_of(documents.count)) / 15 *
                                          16);  // they are alike
                for (const std::uint32_t k : mine.chunk.numbers) kept->numbers.push_back(mine.global[k]);
            }
            if (mine.lexicon.size() > Share::enough) mine.close(lexicon);
        });
    if (room)
        for (Share& mine : shares) mine.close(lexicon);
    if (kept) kept->different = lexicon.size();
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
                    if (buckets.documents[bucket] == 0)
                        buckets.first[bucket] = hashes[at];
                    else if (buckets.first[bucket] != hashes[at])
                        buckets.shared[bucket] = 1;
                    if (bucket != before) ++buckets.documents[bucket];
                    before = bucket;
                }
            }
        });
}

namespace {

// Rows of documents: fill(worker, document, row, rows) puts the columns of a document's terms into a row.
template <class Value, class Fill>
void encode_rows(const Team& team, Index count, const Weighting& weighting, Matrix32<Value>& out, Fill fill) {
    const std::size_t workers = static_cast<std::size_t>(std::max(1, team.threads));
    std::vector<Rows32<Value>> found(workers);
    std::vector<Row> rooms(workers);
    out.starts.reserve(static_cast<std::size_t>(count) + 1);
    out.starts.push_back(0);
    run(
        team, chunks_of(count),
        [&](int worker, Index chunk, Watch& watch) {
            Rows32<Value>& mine = found[static_cast<std::size_t>(worker)];
            Row& row = rooms[static_cast<std::size_t>(worker)];
            mine.clear();
            const Index end = std::min(count, (chunk + 1) * chunk_size);
            for (Index i = chunk * chunk_size; i < end; ++i) {
                if (i % 64 == 0 && watch.stop()) return;
                fill(static_cast<std::size_t>(worker), i, row, mine);
                mine.add(row, weighting);
            }
        },
        [&](int worker) {
            const Rows32<Value>& mine = found[static_cast<std::size_t>(worker)];
            const auto before = static_cast<std::int64_t>(out.columns.size());
            if (!before) {  // the chunks are alike, more or less
                const std::size_t guess = mine.size * static_cast<std::size_t>(chunks_of(count)) / 15 * 16;
                out.columns.reserve(guess);
                out.values.reserve(guess);
            }
            for (const std::int64_t end : mine.starts) out.starts.push_back(before + end);
            out.columns.insert(out.columns.end(), mine.columns.begin(), mine.columns.begin() + static_cast<std::ptrdiff_t>(mine.size));
            out.values.insert(out.values.end(), mine.values.begin(), mine.values.begin() + static_cast<std::ptrdiff_t>(mine.size));
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
    encode_rows(team, documents.count, weighting, out, [&](std::size_t worker, Index i, Row& row, Rows32<Value>& mine) {
        Reader& reader = readers[worker];
        reader.read(documents[i]);
        row.begin(reader.visits());
        std::size_t size = 0;
        const auto put = [&](std::uint32_t column) {
            row.columns[size] = column;
            size += column != Lexicon::none;
        };
        if (place.lexicon)
            reader.terms([&](const char* text, std::size_t length) { put(place.lexicon->find({text, length}, hash(text, length))); });
        else if (place.columns)
            reader.terms([&](const char* text, std::size_t length) {
                put(static_cast<std::uint32_t>(place.columns[hash(text, length) >> (64 - place.bits)]));
            });
        else
            reader.terms(
                [&](const char* text, std::size_t length) { put(static_cast<std::uint32_t>(hash(text, length) >> (64 - place.bits))); });
        row.size = size;
        mine.terms += static_cast<Index>(reader.visits());
        mine.unknown += static_cast<Index>(reader.visits() - size);
    });
}

template <class Value>
void encode_tokens(const Team& team, const Tokens& tokens, const std::int32_t* columns, const Weighting& weighting, Matrix32<Value>& out) {
    const Index count = static_cast<Index>(tokens.starts.size()) - 1;
    encode_rows(team, count, weighting, out, [&](std::size_t, Index i, Row& row, Rows32<Value>& mine) {
        const std::size_t document = static_cast<std::size_t>(i);
        const std::int64_t terms = tokens.starts[document + 1] - tokens.starts[document];
        const std::uint32_t* const numbers = tokens.numbers.data() + tokens.starts[document];
        row.begin(static_cast<std::size_t>(terms));
        std::size_t size = 0;
        for (std::int64_t t = 0; t < terms; ++t) {
            const std::int32_t column = columns[numbers[t]];
            row.columns[size] = static_cast<std::uint32_t>(column);
            size += column >= 0;
        }
        row.size = size;
        mine.terms += terms;
        mine.unknown += terms - static_cast<std::int64_t>(size);
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
            read_chunk(documents, reader, chunk, watch,
                       [&](Index i) { describe(reader, known, rooms[static_cast<std::size_t>(worker)], out + i * width); });
        },
        [](int) {});
}

template void encode_terms(const Team&, const Documents&, const Reading&, const Place&, const Weighting&, Matrix32<float>&);
template void encode_terms(const Team&, const Documents&, const Reading&, const Place&, const Weighting&, Matrix32<double>&);
template void encode_tokens(const Team&, const Tokens&, const std::int32_t*, const Weighting&, Matrix32<float>&);
template void encode_tokens(const Team&, const Tokens&, const std::int32_t*, const Weighting&, Matrix32<double>&);

}  // namespace lineal
