#include "csv/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lineal {

namespace {

alignas(16) constexpr std::uint32_t ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void blocks_plainly(std::uint32_t* state, const std::uint8_t* data, std::size_t count) {
    for (; count > 0; --count, data += 64) {
        std::uint32_t w[64], s[8];
        for (int t = 0; t < 16; ++t)
            w[t] = static_cast<std::uint32_t>(data[4 * t]) << 24 | static_cast<std::uint32_t>(data[4 * t + 1]) << 16 |
                   static_cast<std::uint32_t>(data[4 * t + 2]) << 8 | data[4 * t + 3];
        for (int t = 16; t < 64; ++t) {
            const std::uint32_t a = w[t - 15], b = w[t - 2];
            w[t] = w[t - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[t - 7] + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
        }
        std::copy_n(state, 8, s);
        for (int t = 0; t < 64; ++t) {
            const std::uint32_t one = s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
                                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + ROUNDS[t] + w[t];
            const std::uint32_t two =
                (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            std::copy_backward(s, s + 7, s + 8);
            s[4] += one;
            s[0] = one + two;
        }
        for (int k = 0; k < 8; ++k) state[k] += s[k];
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
// The same by the instructions that processors have for it.
__attribute__((target("sha,sse4.1"))) void blocks_quickly(std::uint32_t* state, const std::uint8_t* data, std::size_t count) {
    const __m128i turn = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state)), 0xb1);
    const __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4)), 0x1b);
    __m128i a = _mm_alignr_epi8(low, high, 8), c = _mm_blend_epi16(high, low, 0xf0);
    for (; count > 0; --count, data += 64) {
        const __m128i before_a = a, before_c = c;
        __m128i w[4];
        for (int k = 0; k < 4; ++k) w[k] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 16 * k)), turn);
#pragma GCC unroll 16
        for (int r = 0; r < 16; ++r) {
            if (r >= 4) {
                const __m128i last = w[(r + 3) & 3];
                const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[r & 3], w[(r + 1) & 3]), _mm_alignr_epi8(last, w[(r + 2) & 3], 4));
                w[r & 3] = _mm_sha256msg2_epu32(sum, last);
            }
            const __m128i four = _mm_add_epi32(w[r & 3], _mm_load_si128(reinterpret_cast<const __m128i*>(ROUNDS + 4 * r)));
            c = _mm_sha256rnds2_epu32(c, a, four);
            a = _mm_sha256rnds2_epu32(a, c, _mm_shuffle_epi32(four, 0x0e));
        }
        a = _mm_add_epi32(a, before_a);
        c = _mm_add_epi32(c, before_c);
    }
    const __m128i first = _mm_shuffle_epi32(a, 0x1b), second = _mm_shuffle_epi32(c, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(first, second, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(second, first, 8));
}

bool quick() {
    static const bool can = [] {
        unsigned a = 0, b = 0, c = 0, d = 0, one = 0, more = 0, rest = 0;
        return __get_cpuid(1, &a, &one, &c, &rest) && (c >> 19 & 1) && __get_cpuid_count(7, 0, &a, &b, &more, &d) && (b >> 29 & 1);
    }();
    return can;
}
#endif

void blocks(std::uint32_t* state, const std::uint8_t* data, std::size_t count) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (quick()) return blocks_quickly(state, data, count);
#endif
    blocks_plainly(state, data, count);
}

}  // namespace

void Sha256::add(const void* data, std::size_t size) {
    const auto* at = static_cast<const std::uint8_t*>(data);
    const std::size_t held = size_ % 64;
    size_ += size;
    if (held > 0) {
        const std::size_t some = std::min(size, 64 - held);
        std::copy_n(at, some, rest_.data() + held);
        at += some;
        size -= some;
        if (held + some < 64) return;
        blocks(state_.data(), rest_.data(), 1);
    }
    blocks(state_.data(), at, size / 64);
    std::copy_n(at + size / 64 * 64, size % 64, rest_.data());
}

std::array<std::uint8_t, 32> Sha256::digest() const {
    Sha256 last = *this;
    std::array<std::uint8_t, 72> end{0x80};
    const std::size_t fill = (119 - size_ % 64) % 64 + 1;  // up to eight bytes before the end of a block
    for (int k = 0; k < 8; ++k) end[fill + static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(size_ * 8 >> (56 - 8 * k));
    last.add(end.data(), fill + 8);
    std::array<std::uint8_t, 32> out;
    for (std::size_t k = 0; k < 32; ++k) out[k] = static_cast<std::uint8_t>(last.state_[k / 4] >> (24 - 8 * (k % 4)));
    return out;
}

void hash_numbers(const double* values, Index count, Sha256& to) {
    constexpr Index SOME = 512;
    constexpr bool little = std::endian::native == std::endian::little;
    for (Index start = 0; start < count; start += SOME) {
        const Index size = std::min(SOME, count - start);
        const double* from = values + start;
        bool missing = false;
        for (Index i = 0; i < size; ++i) missing |= from[i] != from[i];
        if (little && !missing) {
            to.add(from, static_cast<std::size_t>(size) * 8);
            continue;
        }
        std::uint8_t bytes[8 * SOME];
        for (Index i = 0; i < size; ++i) {
            const std::uint64_t bits = from[i] != from[i] ? 0x7ff8000000000000u : std::bit_cast<std::uint64_t>(from[i]);
            for (int k = 0; k < 8; ++k) bytes[8 * i + k] = static_cast<std::uint8_t>(bits >> 8 * k);
        }
        to.add(bytes, static_cast<std::size_t>(size) * 8);
    }
}

template <class Code>
void hash_records(const Code* codes, Index count, const std::int64_t* ends, const char* text, Sha256& to) {
    constexpr std::size_t ROOM = 8192;
    char some[ROOM + 16];
    std::size_t used = 0;
    for (Index i = 0; i < count; ++i) {
        const Index k = static_cast<Index>(codes[i]) + 1;
        const char* from = text + ends[k];
        const std::size_t size = static_cast<std::size_t>(ends[k + 1] - ends[k]);
        if (used + size > ROOM) to.add(some, used), used = 0;
        if (size > 16) {
            to.add(some, used);
            to.add(from, size);
            used = 0;
            continue;
        }
        std::memcpy(some + used, from, 16);  // what is too much is written over
        used += size;
    }
    to.add(some, used);
}

template void hash_records(const std::int8_t*, Index, const std::int64_t*, const char*, Sha256&);
template void hash_records(const std::int16_t*, Index, const std::int64_t*, const char*, Sha256&);
template void hash_records(const std::int32_t*, Index, const std::int64_t*, const char*, Sha256&);

}  // namespace lineal
