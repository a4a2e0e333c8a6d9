// Delimited text under the sanitizers: rows of any length at the edges of windows, numbers by strtod, buffers with no byte to spare.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "csv/cells.hpp"
#include "csv/scanning.hpp"
#include "csv/quotes.hpp"

namespace {

std::string written(std::mt19937& random) {
    static const char* const some[] = {"0",           "-0", "5.", ".5", "-.25", "1e5", "12345678", "-1234567.8", "123456789.125",
                                       "-12345678.5", "NA", ""};
    if (random() % 8 == 0) return some[random() % std::size(some)];
    std::string out = random() % 2 ? "-" : "";
    for (unsigned k = 1 + random() % 6; k > 0; --k) out += static_cast<char>('0' + random() % 10);
    if (random() % 3) out += '.';
    for (unsigned k = out.back() == '.' ? random() % 6 : 0; k > 0; --k) out += static_cast<char>('0' + random() % 10);
    return out;
}

// Whether a column of numbers and one of texts come out as they were written.
bool cells_hold(std::size_t rows, const char* line, bool last, unsigned seed) {
    using namespace lineal;
    std::mt19937 random(seed);
    std::vector<std::string> numbers, texts;
    std::string text;
    for (std::size_t k = 0; k < rows; ++k) {
        numbers.push_back(written(random));
        texts.push_back(std::string(random() % 3 ? random() % 12 : random() % 90, static_cast<char>('a' + random() % 4)));
        text += numbers.back() + ",skipped," + texts.back() + (last || k + 1 < rows ? line : "");
    }
    const auto exact = std::make_unique<char[]>(text.size());
    std::memcpy(exact.get(), text.data(), text.size());
    Cells found;
    if (!read_cells({exact.get(), text.size()}, ',', '"', true, {Cell::number, Cell::skipped, Cell::text}, {"", "NA"}, found)) return false;
    if (found.rows != static_cast<Index>(rows)) return false;
    const CellColumn &first = found.columns[0], &second = found.columns[1];
    for (std::size_t k = 0; k < rows; ++k) {
        const bool missing = numbers[k].empty() || numbers[k] == "NA",
                   present = first.present.empty() || (first.present[k / 8] >> k % 8 & 1);
        const double value = missing ? 0 : std::strtod(numbers[k].c_str(), nullptr);
        const std::size_t code = static_cast<std::size_t>(second.codes[k]), from = static_cast<std::size_t>(second.ends[code]);
        const std::string_view told(second.words.data() + from, static_cast<std::size_t>(second.ends[code + 1]) - from);
        if (present == missing || std::memcmp(&value, first.numbers.get() + k, 8) != 0 || told != texts[k]) return false;
    }
    return true;
}

// Whether places and numbers found with wide registers are those of plain loops, for any bytes.
bool wide_cells_hold(unsigned seed) {
    using namespace lineal;
    std::mt19937 random(seed);
    const std::size_t size = random() % 300;
    const char* const alphabet = seed % 2 ? ",\n\r0a" : ",0123456789.-\n+e ";
    const auto text = std::make_unique<char[]>(size + 10);
    for (std::size_t k = 0; k < size + 10; ++k)
        text[k] = random() % 40 ? alphabet[random() % std::strlen(alphabet)] : static_cast<char>(random());
    std::vector<std::uint32_t> places(size + SPARE + 1), others(size + SPARE + 1), ends(size + 1);
    const std::size_t count = places_plainly(text.get(), size, ',', others.data() + 1);
    std::size_t rows = 0, line = 0;
    if (lineal::places(text.get(), size, ',', places.data() + 1, ends.data(), rows) != count) return false;
    others[0] = places[0] = static_cast<std::uint32_t>(-1);
    for (std::size_t k = 0; k < count; ++k) {
        if (places[k + 1] != others[k + 1]) return false;
        if (text[places[k + 1]] != ',' && (line == rows || ends[line++] != k)) return false;
    }
    if (line != rows) return false;
    return true;
}

// Whether quotes are counted alike in one piece and line by line, for any text that fills its buffer.
bool quotes_hold(unsigned seed) {
    using namespace lineal;
    std::mt19937 random(seed);
    const std::size_t size = random() % 400;
    const std::string alphabet = seed % 2 ? "ab,\"\n" : "aaaaaaaaaaaaaaaaaaa,,\"\r\n";
    std::string text;
    for (std::size_t k = 0; k < size; ++k) text += alphabet[random() % alphabet.size()];
    Quotes whole('"', ','), parts('"', ',');
    const auto exact = std::make_unique<char[]>(size);
    std::memcpy(exact.get(), text.data(), size);
    whole.feed({exact.get(), size});
    for (std::size_t at = 0; at < size;) {
        const std::size_t end = std::min(text.find('\n', at), size - 1) + 1;
        const auto line = std::make_unique<char[]>(end - at);
        std::memcpy(line.get(), text.data() + at, end - at);
        parts.feed({line.get(), end - at});
        at = end;
    }
    whole.finish(), parts.finish();
    return whole.lines == parts.lines && whole.sound == parts.sound && whole.odd == parts.odd && whole.alike == parts.alike &&
           whole.middle == parts.middle && whole.inner == parts.inner && whole.ragged_line == parts.ragged_line &&
           whole.doubtful == parts.doubtful;
}

void check_cells() {
    for (unsigned seed = 0; seed < 400; ++seed) CHECK(quotes_hold(seed));
    for (unsigned seed = 0; seed < 400; ++seed) CHECK(wide_cells_hold(seed));
    for (const std::size_t rows : {1, 2, 9, 255, 256, 257, 3000})
        for (const char* line : {"\n", "\r\n", "\n\n"})
            for (const bool last : {true, false}) CHECK(cells_hold(rows, line, last, static_cast<unsigned>(rows)));
}

}  // namespace
