#include "csv/cells.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "csv/scanning.hpp"
#include "passes/part.hpp"

// A number as it is written in a cell of a table.
namespace lineal {

namespace {

constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool digit(const char* at, const char* end) { return at < end && static_cast<unsigned char>(*at - '0') < 10; }

// A number as the quotient of two that are known exactly, so that it is rounded once; all quotients of a row are made together.
struct Quotient {
    double above, below;
};

constexpr double signed_powers[2][8] = {{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}, {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7}};

// A number of any length.
bool long_number(const char* at, const char* end, double& out) {
    const char* start = at;
    const bool minus = at < end && *at == '-';
    at += minus;
    std::uint64_t whole = 0;
    const char* first = at;
    for (; digit(at, end); ++at) whole = 10 * whole + static_cast<std::uint64_t>(*at - '0');
    Index digits = at - first, behind = 0;
    if (at < end && *at == '.') {
        first = ++at;
        for (; digit(at, end); ++at) whole = 10 * whole + static_cast<std::uint64_t>(*at - '0');
        behind = at - first;
        digits += behind;
    }
    if (digits == 0 || (at < end && *at != 'e' && *at != 'E')) return false;
    if (at == end && digits <= 19 && whole <= (std::uint64_t{1} << 53) && behind <= 22) {
        const double value = static_cast<double>(whole) / powers[behind];  // both exact: rounded once
        out = minus ? -value : value;
        return true;
    }
#if defined(__cpp_lib_to_chars)
    const std::from_chars_result found = std::from_chars(start, end, out);
    return found.ptr == end && found.ec == std::errc();
#else
    (void)start;
    return false;
#endif
}

// Eight digits, the first in the lowest byte, each as its value.
std::uint64_t eight(std::uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return ((digits & 0x000000ff000000ffu) * 0x000f424000000064u + ((digits >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
}

// A number of at most eight characters, loaded with what follows them, beside its sign: all at once, with hardly a branch.
bool short_number(std::uint64_t word, std::size_t size, std::size_t minus, Quotient& out) {
    const std::uint64_t kept = ~std::uint64_t{0} >> (64 - 8 * size);
    std::uint64_t digits = (word ^ 0x3030303030303030u) & kept;
    const std::uint64_t others = (((digits & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u) | digits) & 0x8080808080808080u;
    std::size_t behind = 0;
    if (others) {
        const int place = std::countr_zero(others) / 8 * 8;
        if ((others & (others - 1)) || static_cast<char>(word >> place) != '.' || size == 1) return false;
        const std::uint64_t before = (std::uint64_t{1} << place) - 1;
        digits = (digits & before) | ((digits >> 8) & ~before);
        --size;
        behind = size - static_cast<std::size_t>(place) / 8;
    }
    out.above = static_cast<double>(static_cast<std::int64_t>(eight(digits << (64 - 8 * size))));
    out.below = signed_powers[minus][behind];
    return true;
}

// The number that a whole cell is; false if it is not one, or not one that this build can round correctly.
bool number(const char* at, std::size_t size, const char* limit, Quotient& out) {
    if (size == 0) return false;
    // 1 for a minus, without a branch: signs come at random, and would be foretold wrongly half of the time
    const std::size_t minus = ((static_cast<std::uint32_t>(static_cast<unsigned char>(*at)) ^ '-') - 1) >> 31;
    const char* first = at + minus;
    const std::size_t left = size - minus;
    if constexpr (std::endian::native == std::endian::little)
        if (left - 1 < 8 && limit - first >= 8) {
            std::uint64_t word;
            std::memcpy(&word, first, 8);
            if (short_number(word, left, minus, out)) return true;
        }
    out.below = 1;
    return long_number(at, at + size, out.above);
}

}  // namespace

}  // namespace lineal

// The different texts of a column, numbered in the order in which they came.
namespace lineal {

namespace {

class Words {
public:
    explicit Words(CellColumn& column) : column_(column), slots_(64) { column.ends.push_back(0); }

    std::int32_t code(const char* at, std::size_t size, const char* limit) {
        std::uint64_t head = 0;
        if (std::endian::native == std::endian::little && limit - at >= 8) {
            std::memcpy(&head, at, 8);
            if (size < 8) head &= (std::uint64_t{1} << 8 * size) - 1;
        } else {
            std::memcpy(&head, at, std::min<std::size_t>(size, 8));
        }
        std::uint64_t hash = hashed(head, size);
        for (std::size_t done = 8; done < size; done += 8) {
            std::uint64_t next = 0;
            std::memcpy(&next, at + done, std::min<std::size_t>(size - done, 8));
            hash = ((hash ^ (hash >> 29)) + next) * 0xd6e8feb86659fd93u;
        }
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = (hash ^ (hash >> 32)) & mask;
        for (; slots_[slot].code >= 0; slot = (slot + 1) & mask) {
            const Slot& one = slots_[slot];
            if (one.head == head && one.size == size && (size <= 8 || same(one.code, at, size))) return one.code;
        }
        return add(slot, head, hash, at, size);
    }

    // Codes of cells `stride` places apart, of which the first ends at stops[0] and begins behind stops[-1]; eight bytes can be
    // read from the beginning of each. Most are short and found at the first look.
    void codes(const char* base, const std::uint32_t* stops, std::size_t stride, std::size_t count, const char* limit, std::int32_t* out) {
        for (std::size_t k = 0; k < count; ++k, stops += stride) {
            const char* at = base + (stops[-1] + 1);
            const std::size_t size = static_cast<std::size_t>(base + stops[0] - at);
            if (std::endian::native == std::endian::little && size - 1 < 8) {
                std::uint64_t head;
                std::memcpy(&head, at, 8);
                head &= ~std::uint64_t{0} >> (64 - 8 * size);
                const std::uint64_t hash = hashed(head, size);
                const Slot& one = slots_[(hash ^ (hash >> 32)) & (slots_.size() - 1)];
                if (one.head == head && one.size == size && one.code >= 0) {
                    out[k] = one.code;
                    continue;
                }
            }
            out[k] = code(at, size, limit);
        }
    }

private:
    static std::uint64_t hashed(std::uint64_t head, std::size_t size) { return (head ^ size * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u; }

    struct Slot {
        std::uint64_t head = 0;
        std::uint32_t size = 0;
        std::int32_t code = -1;
    };

    bool same(std::int32_t code, const char* at, std::size_t size) const {
        return std::memcmp(column_.words.data() + column_.ends[static_cast<std::size_t>(code)], at, size) == 0;
    }

    std::int32_t add(std::size_t slot, std::uint64_t head, std::uint64_t hash, const char* at, std::size_t size) {
        const std::int32_t code = static_cast<std::int32_t>(hashes_.size());
        slots_[slot] = {head, static_cast<std::uint32_t>(size), code};
        hashes_.push_back(hash);
        column_.words.insert(column_.words.end(), at, at + size);
        column_.ends.push_back(static_cast<std::int32_t>(column_.words.size()));
        if (4 * hashes_.size() > slots_.size()) grow();  // many free ones: a search seldom goes beyond its first slot
        return code;
    }

    void grow() {
        std::vector<Slot> before(2 * slots_.size());
        before.swap(slots_);
        const std::size_t mask = slots_.size() - 1;
        for (const Slot& one : before) {
            if (one.code < 0) continue;
            const std::uint64_t hash = hashes_[static_cast<std::size_t>(one.code)];
            std::size_t slot = (hash ^ (hash >> 32)) & mask;
            while (slots_[slot].code >= 0) slot = (slot + 1) & mask;
            slots_[slot] = one;
        }
    }

    CellColumn& column_;
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> hashes_;
};

}  // namespace

namespace {

// A cell that is no number is missing, or a reason to give up.
bool gone(CellColumn& column, std::string_view cell, const std::vector<std::string>& missing, Index row, Index most) {
    if (std::find(missing.begin(), missing.end(), cell) == missing.end()) return false;
    if (column.present.empty()) column.present.assign(static_cast<std::size_t>((most + 7) / 8), 0xff);
    column.present[static_cast<std::size_t>(row / 8)] &= static_cast<std::uint8_t>(~(1u << row % 8));
    return true;
}

// Reads rows, as many as a window of some kilobytes holds at a time, one after the other where that does not do.
class Reader {
public:
    Reader(std::string_view text, char delimiter, Index lines, const std::vector<Cell>& kinds, const std::vector<std::string>& missing,
           Cells& out)
        : at_(text.data()),
          end_(at_ + text.size()),
          delimiter_(delimiter),
          width_(kinds.size()),
          missing_(missing),
          most_(lines + 1),
          places_(ROOM + SPARE + 1),
          ends_(ROOM + 1),
          stops_(width_) {
        for (const Cell kind : kinds) {
            if (kind == Cell::skipped) continue;
            CellColumn& column = out.columns.emplace_back();
            if (kind == Cell::text) {
                column.codes.reset(new std::int32_t[static_cast<std::size_t>(most_)]);
                continue;
            }
            column.numbers.reset(new double[static_cast<std::size_t>(most_)]);
        }
        words_.reserve(out.columns.size());
        std::size_t wanted = 0;
        for (std::size_t j = 0; j < width_; ++j) {
            if (kinds[j] == Cell::skipped) continue;
            CellColumn& column = out.columns[wanted++];
            if (column.codes)
                texts_.push_back(j), words_.emplace_back(column), codes_.push_back(column.codes.get());
            else
                numbers_.push_back(j), columns_.push_back(&column);
        }
        quotients_.resize(numbers_.size());
    }

    bool read() {
        while (at_ < end_)
            if (!window() && !single()) return false;
        return true;
    }
    Index rows() const { return row_; }

private:
    static constexpr std::ptrdiff_t ROOM = 16384;
    static constexpr std::size_t MOST = 256;  // rows at a time

    // Whole rows that lie in the next kilobytes; false where the next row is not of the usual shape, or too long.
    bool window() {
        const char* base = at_;
        std::uint32_t* stops = places_.data() + 1;  // after the end of the row before, which is beyond the text
        stops[-1] = static_cast<std::uint32_t>(-1);
        std::size_t lines = 0, used = 0, line = 0;
        places(base, static_cast<std::size_t>(std::min(ROOM, end_ - at_)), delimiter_, stops, ends_.data(), lines);
        while (line < lines) {
            // as many rows as end alike
            const std::size_t first = used, stride = base[stops[ends_[line]]] == '\r' ? width_ + 1 : width_;
            std::size_t rows = 0;
            for (; line < lines && rows < MOST; ++rows, used += stride, line += stride - width_ + 1) {
                const std::size_t last = used + width_ - 1, end = used + stride - 1;
                if (ends_[line] != last ||
                    (stride > width_ && (line + 1 == lines || ends_[line + 1] != end || stops[end] != stops[last] + 1)))
                    break;
                const char* stop = base + stops[end];
                if (*stop != '\n' || end_ - stop < 10 || (width_ == 1 && stops[used] == stops[used - 1] + 1)) break;
            }
            if (rows == 0) break;
            if (!columns(base, stops + first, stride, rows)) return false;
            at_ = base + stops[used - 1] + 1;
        }
        return used > 0;
    }

    // Rows of which each has its places `stride` after those of the one before.
    bool columns(const char* base, const std::uint32_t* stops, std::size_t stride, std::size_t rows) {
        const std::size_t row = static_cast<std::size_t>(row_);
        for (std::size_t k = 0; k < numbers_.size(); ++k) {
            double* out = columns_[k]->numbers.get() + row;
            for (std::size_t i = 0; i < rows; ++i)
                if (!one(k, base, stops + numbers_[k] + i * stride, row_ + static_cast<Index>(i), out[i])) return false;
        }
        for (std::size_t k = 0; k < texts_.size(); ++k) words_[k].codes(base, stops + texts_[k], stride, rows, end_, codes_[k] + row);
        row_ += static_cast<Index>(rows);
        return true;
    }

    // A number, or missing.
    bool one(std::size_t k, const char* base, const std::uint32_t* stops, Index row, double& out) {
        const char* at = base + (stops[-1] + 1);
        const std::size_t size = static_cast<std::size_t>(base + stops[0] - at);
        Quotient found{0, 1};
        if (!number(at, size, end_, found)) {
            if (!gone(*columns_[k], {at, size}, missing_, row, most_)) return false;
            found = {0, 1};
        }
        out = found.above / found.below;
        return true;
    }

    // One row, of any length, or an empty line.
    bool single() {
        const char* start = at_;
        std::size_t found = 0;
        for (;; ++at_) {
            if (at_ < end_ && *at_ != delimiter_ && *at_ != '\n' && *at_ != '\r') continue;
            const bool ends = at_ == end_ || *at_ != delimiter_;
            if (ends && at_ == start) break;  // an empty line
            if (found == width_ || at_ - start > 0x7fffffff) return false;
            stops_[found++] = static_cast<std::uint32_t>(at_ - start);
            if (!ends) continue;
            if (found < width_ || !cells(start, 0, stops_.data())) return false;
            break;
        }
        if (at_ < end_ && *at_ == '\r') {
            if (++at_ == end_ || *at_ != '\n') return false;
        }
        at_ += at_ < end_;
        return true;
    }

    // The cells of one row: they end at `stops`, the first begins at `first`, distances from `base`.
    bool cells(const char* base, std::size_t first, const std::uint32_t* stops) {
        const std::size_t row = static_cast<std::size_t>(row_);
        for (std::size_t k = 0; k < numbers_.size(); ++k) {
            const std::size_t j = numbers_[k], start = j ? stops[j - 1] + 1 : first, size = stops[j] - start;
            if (number(base + start, size, end_, quotients_[k])) continue;
            if (!gone(*columns_[k], {base + start, size}, missing_, row_, most_)) return false;
            quotients_[k] = {0, 1};
        }
        for (std::size_t k = 0; k < numbers_.size(); ++k) columns_[k]->numbers[row] = quotients_[k].above / quotients_[k].below;
        for (std::size_t k = 0; k < texts_.size(); ++k) {
            const std::size_t j = texts_[k], start = j ? stops[j - 1] + 1 : first;
            codes_[k][row] = words_[k].code(base + start, stops[j] - start, end_);
        }
        ++row_;
        return true;
    }

    const char *at_, *end_;
    char delimiter_;
    std::size_t width_;
    const std::vector<std::string>& missing_;
    Index most_, row_ = 0;
    std::vector<std::uint32_t> places_, ends_, stops_;
    std::vector<std::size_t> numbers_, texts_;
    std::vector<CellColumn*> columns_;
    std::vector<Words> words_;
    std::vector<std::int32_t*> codes_;
    std::vector<Quotient> quotients_;
};

}  // namespace

struct Dictionary::Table {
    Words words;
};

Dictionary::Dictionary() : table_(new Table{Words(column_)}) {}
Dictionary::~Dictionary() = default;

std::vector<std::int32_t> Dictionary::merge(const std::int32_t* ends, Index count, std::string_view text) {
    std::vector<std::int32_t> out{-1};
    const char *data = text.data(), *limit = data + text.size();
    for (Index k = 0; k < count; ++k)
        out.push_back(table_->words.code(data + ends[k], static_cast<std::size_t>(ends[k + 1] - ends[k]), limit));
    return out;
}

bool read_cells(std::string_view text, char delimiter, char quote, bool ascii, const std::vector<Cell>& kinds,
                const std::vector<std::string>& missing, Cells& out) {
    if (text.size() > 0x7fffffff || kinds.empty()) return false;
    const Index count = lines(text, quote, ascii);
    if (count < 0) return false;
    Reader reader(text, delimiter, count, kinds, missing, out);
    if (!reader.read()) return false;
    out.rows = reader.rows();
    return true;
}

}  // namespace lineal
