// Documents as rows of a sparse matrix: the columns of their terms, sorted and counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "text/text.hpp"

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

}  // namespace lineal
