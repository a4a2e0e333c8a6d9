// The different texts of a column, numbered in the order in which they came.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "csv/cells.hpp"

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

}  // namespace lineal
