#include "csv/cells.hpp"

#include <algorithm>

#include "csv/numerals.hpp"
#include "csv/scanning.hpp"
#include "csv/words.hpp"

namespace lineal {

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
