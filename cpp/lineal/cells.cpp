#include "cells.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <new>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace lineal {

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
#if defined(__unix__) || defined(__APPLE__)
    if (bytes == 0) return;
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
        data_ = nullptr;
        throw std::bad_alloc();
    }
#else
    data_ = ::operator new(bytes);
#endif
}

Pages::~Pages() {
    if (data_ == nullptr) return;
#if defined(__unix__) || defined(__APPLE__)
    munmap(data_, bytes_);
#else
    ::operator delete(data_);
#endif
}

namespace {

// Where cells end, one after the other: delimiters, line ends and the end of the text. They are sought 64 bytes at a time,
// so that where one is does not have to be known to look for the next.
class Ends {
public:
    Ends(std::string_view text, char delimiter) : at_(text.data()), end_(at_ + text.size()), delimiter_(delimiter) {}

    const char* next() {
        while (!mask_) {
            if (at_ == end_) return end_;
            look();
        }
        const char* found = base_ + std::countr_zero(mask_);
        mask_ &= mask_ - 1;
        return found;
    }

private:
    void look() {
        base_ = at_;
        const Index size = std::min<Index>(64, end_ - at_);
        at_ += size;
#if defined(__SSE2__)
        if (size == 64) {
            const __m128i delimiter = _mm_set1_epi8(delimiter_), line = _mm_set1_epi8('\n'), carriage = _mm_set1_epi8('\r');
            for (int part = 0; part < 4; ++part) {
                const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(base_ + 16 * part));
                const __m128i found = _mm_or_si128(_mm_cmpeq_epi8(some, delimiter),
                                                   _mm_or_si128(_mm_cmpeq_epi8(some, line), _mm_cmpeq_epi8(some, carriage)));
                mask_ |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(found))) << 16 * part;
            }
            return;
        }
#endif
        for (Index i = 0; i < size; ++i)
            if (base_[i] == delimiter_ || base_[i] == '\n' || base_[i] == '\r') mask_ |= std::uint64_t{1} << i;
    }

    const char *at_, *end_, *base_ = nullptr;
    char delimiter_;
    std::uint64_t mask_ = 0;
};

constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool digit(const char* at, const char* end) { return at < end && static_cast<unsigned char>(*at - '0') < 10; }

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

// A number of at most eight characters beside its sign: all at once, with hardly a branch. Eight bytes must be readable there.
bool short_number(const char* at, std::size_t size, bool minus, double& out) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
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
    const double value = static_cast<double>(eight(digits << (64 - 8 * size))) / powers[behind];  // both exact: rounded once
    out = minus ? -value : value;
    return true;
}

// The number that a whole cell is; false if it is none, or none that this build can round rightly.
bool number(const char* at, const char* end, const char* limit, double& out) {
    const bool minus = at < end && *at == '-';
    const char* first = at + minus;
    if constexpr (std::endian::native == std::endian::little)
        if (end > first && end - first <= 8 && limit - first >= 8 &&
            short_number(first, static_cast<std::size_t>(end - first), minus, out))
            return true;
    return long_number(at, end, out);
}

// The different texts of a column, by the order in which they came.
class Words {
public:
    explicit Words(CellColumn& column) : column_(column), slots_(64, -1) { column.ends.push_back(0); }

    std::int32_t code(const char* at, std::size_t size, const char* limit) {
        std::uint64_t head = 0;
        if (std::endian::native == std::endian::little && limit - at >= 8) {
            std::memcpy(&head, at, 8);
            if (size < 8) head &= (std::uint64_t{1} << 8 * size) - 1;
        } else {
            std::memcpy(&head, at, std::min<std::size_t>(size, 8));
        }
        std::uint64_t hash = (head ^ size * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
        for (std::size_t done = 8; done < size; done += 8) {
            std::uint64_t next = 0;
            std::memcpy(&next, at + done, std::min<std::size_t>(size - done, 8));
            hash = ((hash ^ (hash >> 29)) + next) * 0xd6e8feb86659fd93u;
        }
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = (hash ^ (hash >> 32)) & mask;
        for (; slots_[slot] >= 0; slot = (slot + 1) & mask)
            if (same(slots_[slot], head, at, size)) return slots_[slot];
        return add(slot, head, hash, at, size);
    }

private:
    bool same(std::int32_t code, std::uint64_t head, const char* at, std::size_t size) const {
        const std::size_t k = static_cast<std::size_t>(code);
        const std::int32_t start = column_.ends[k];
        return heads_[k] == head && static_cast<std::size_t>(column_.ends[k + 1] - start) == size &&
               (size <= 8 || std::memcmp(column_.words.data() + start, at, size) == 0);
    }

    std::int32_t add(std::size_t slot, std::uint64_t head, std::uint64_t hash, const char* at, std::size_t size) {
        const std::int32_t code = static_cast<std::int32_t>(heads_.size());
        slots_[slot] = code;
        heads_.push_back(head);
        hashes_.push_back(hash);
        column_.words.insert(column_.words.end(), at, at + size);
        column_.ends.push_back(static_cast<std::int32_t>(column_.words.size()));
        if (2 * heads_.size() > slots_.size()) grow();
        return code;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), -1);
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t k = 0; k < hashes_.size(); ++k) {
            std::size_t slot = (hashes_[k] ^ (hashes_[k] >> 32)) & mask;
            while (slots_[slot] >= 0) slot = (slot + 1) & mask;
            slots_[slot] = static_cast<std::int32_t>(k);
        }
    }

    CellColumn& column_;
    std::vector<std::int32_t> slots_;
    std::vector<std::uint64_t> heads_, hashes_;
};

// A cell that is no number is missing, or a reason to give up.
bool gone(CellColumn& column, std::string_view cell, const std::vector<std::string>& missing, Index row, Index most) {
    if (std::find(missing.begin(), missing.end(), cell) == missing.end()) return false;
    if (column.present.empty()) column.present.assign(static_cast<std::size_t>((most + 7) / 8), 0xff);
    column.present[static_cast<std::size_t>(row / 8)] &= static_cast<std::uint8_t>(~(1u << row % 8));
    column.numbers[static_cast<std::size_t>(row)] = 0;
    return true;
}

}  // namespace

bool read_cells(std::string_view text, char delimiter, const std::vector<Cell>& kinds, const std::vector<std::string>& missing,
                Cells& out) {
    if (text.size() > 0x7fffffff) return false;
    const Index most = std::count(text.begin(), text.end(), '\n') + 1;
    for (const Cell kind : kinds) {
        if (kind == Cell::skipped) continue;
        CellColumn& column = out.columns.emplace_back();
        const std::size_t size = static_cast<std::size_t>(most) * (kind == Cell::number ? sizeof(double) : sizeof(std::int32_t));
        column.memory = Pages(size);
        if (kind == Cell::number) column.numbers = static_cast<double*>(column.memory.data());
        else column.codes = static_cast<std::int32_t*>(column.memory.data());
    }
    std::vector<Words> words;
    words.reserve(out.columns.size());
    for (CellColumn& column : out.columns)
        if (column.codes) words.emplace_back(column);
    const char *at = text.data(), *end = at + text.size();
    Ends ends(text, delimiter);
    Index row = 0;
    while (at < end) {
        const char* stop = ends.next();
        const bool empty = stop == at && *stop != delimiter;  // an empty line
        std::size_t wanted = 0, texts = 0;
        for (std::size_t j = 0; !empty && j < kinds.size(); ++j) {
            if (j > 0) {
                if (stop == end || *stop != delimiter) return false;
                at = stop + 1;
                stop = ends.next();
            }
            const std::size_t size = static_cast<std::size_t>(stop - at);
            if (kinds[j] == Cell::number) {
                CellColumn& column = out.columns[wanted++];
                if (!number(at, stop, end, column.numbers[static_cast<std::size_t>(row)]) && !gone(column, {at, size}, missing, row, most))
                    return false;
            } else if (kinds[j] == Cell::text) {
                out.columns[wanted++].codes[static_cast<std::size_t>(row)] = words[texts++].code(at, size, end);
            }
        }
        if (stop < end && *stop == '\r') {
            const char* line = ends.next();
            if (line != stop + 1 || line == end || *line != '\n') return false;
            stop = line;
        }
        if (stop < end && *stop != '\n') return false;
        at = stop < end ? stop + 1 : end;
        row += !empty;
    }
    out.rows = row;
    return true;
}

}  // namespace lineal
