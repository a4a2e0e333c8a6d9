// SHA-256 (FIPS 180-4), and the bytes of a column's cells that go into it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "passes/part.hpp"

namespace lineal {

class Sha256 {
public:
    void add(const void* data, std::size_t size);
    std::array<std::uint8_t, 32> digest() const;  // of all bytes so far; more may follow

private:
    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> rest_{};
    std::uint64_t size_ = 0;
};

// Numbers as little-endian doubles, every NaN as 0x7ff8000000000000.
void hash_numbers(const double* values, Index count, Sha256& to);

// Of every code its record: record k is the stretch of `text` from ends[k] to ends[k + 1], k = code + 1. Codes are known to
// fit, and `text` is readable for 16 bytes beyond its end.
template <class Code>
void hash_records(const Code* codes, Index count, const std::int64_t* ends, const char* text, Sha256& to);

}  // namespace lineal
