// Short numbers of one column, eight rows at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "numerals.hpp"
#include "part.hpp"
#include "scanning.hpp"

namespace lineal {

namespace {

// Cells of one column as loaded: the eight bytes behind the sign, the first in the lowest, and by how many bits they are
// to be shifted for the cell's last character to come highest; 64 if it has none or more than eight. Above that the sign.
// Of every eight, a bit for each that is no number, or is written otherwise than with digits and a point.
struct Loaded {
    static constexpr std::size_t MOST = 256;
    alignas(64) std::uint64_t words[MOST], shifts[MOST];
    std::uint8_t strange[MOST / 8];
};

// Cells `stride` places apart, of which the first ends at stops[0] and begins behind stops[-1]; nine bytes can be read behind each.
void load(const char* base, const std::uint32_t* stops, std::size_t stride, std::size_t count, Loaded& out) {
    for (std::size_t k = 0; k < count; ++k, stops += stride) {
        const char* at = base + (stops[-1] + 1);
        const std::uint64_t minus = *at == '-';
        const std::uint64_t size = static_cast<std::uint64_t>(base + stops[0] - at) - minus;
        std::memcpy(&out.words[k], at + minus, 8);
        out.shifts[k] = (size > 8 ? 64 : 64 - 8 * size) | minus << 63;
    }
    for (; count % 8; ++count) out.words[count] = '0', out.shifts[count] = 56;
}

// The numbers that they are; whether some are strange.
bool eights_plainly(Loaded& all, std::size_t count, double* out) {
    unsigned any = 0;
    for (std::size_t k = 0; k < count; ++k) {
        if (k % 8 == 0) all.strange[k / 8] = 0;
        const std::uint64_t shift = all.shifts[k] & 0x7f;
        Quotient found{0, 1};
        const unsigned bad = shift == 64 || !short_number(all.words[k], 8 - shift / 8, all.shifts[k] >> 63, found);
        all.strange[k / 8] = static_cast<std::uint8_t>(all.strange[k / 8] | bad << k % 8);
        any |= bad;
        out[k] = found.above / found.below;
    }
    return any != 0;
}

#if defined(__x86_64__) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // what the compiler's own header leaves open on purpose
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
LINEAL_WIDE bool eights_widely(Loaded& all, std::size_t count, double* out) {
    const __m512i zeros = _mm512_set1_epi8('0'), none = _mm512_setzero_si512(), one = _mm512_set1_epi64(1), sixty = _mm512_set1_epi64(64);
    const __m512d tens = _mm512_loadu_pd(powers);
    unsigned any = 0;
    for (std::size_t k = 0; k < count; k += 8) {
        const __m512i meta = _mm512_load_si512(all.shifts + k), shift = _mm512_and_si512(meta, _mm512_set1_epi64(0x7f));
        __m512i digits = _mm512_sllv_epi64(_mm512_xor_si512(_mm512_load_si512(all.words + k), zeros), shift);
        const __mmask64 points = _mm512_cmpeq_epi8_mask(digits, _mm512_set1_epi8('.' ^ '0'));
        const __mmask64 others = _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9)) ^ points;
        const __m512i point = _mm512_movm_epi8(points), bits = _mm512_popcnt_epi64(point);
        // no digit, or two points
        unsigned strange = _mm512_cmpge_epu64_mask(_mm512_add_epi64(shift, bits), sixty) | _mm512_cmpgt_epu64_mask(bits, _mm512_set1_epi64(8));
        if (others)
            for (unsigned i = 0; i < 8; ++i) strange |= unsigned{(others >> 8 * i & 0xff) != 0} << i;
        all.strange[k / 8] = static_cast<std::uint8_t>(strange);
        any |= strange;
        // digits before the point move to its place
        const __mmask8 some = _mm512_test_epi64_mask(point, point);
        const __m512i before = _mm512_maskz_sub_epi64(some, _mm512_and_si512(point, _mm512_sub_epi64(none, point)), one);
        const __m512i behind = _mm512_andnot_si512(_mm512_or_si512(before, point), digits);
        digits = _mm512_or_si512(behind, _mm512_slli_epi64(_mm512_and_si512(digits, before), 8));
        const __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
        const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00010064));
        const __m512i whole = _mm512_add_epi64(_mm512_mul_epu32(fours, _mm512_set1_epi64(10000)), _mm512_srli_epi64(fours, 32));
        // as many digits stand behind the point, eight if there is none
        const __m512i places = _mm512_srli_epi64(_mm512_lzcnt_epi64(point), 3);
        const __m512d found = _mm512_div_pd(_mm512_cvtepi64_pd(whole), _mm512_permutex2var_pd(tens, places, _mm512_set1_pd(1)));
        const __m512i sign = _mm512_slli_epi64(_mm512_srli_epi64(meta, 63), 63);
        const __mmask8 asked = static_cast<__mmask8>(count - k < 8 ? (1u << (count - k)) - 1 : 0xffu);
        _mm512_mask_storeu_pd(out + k, asked, _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(found), sign)));
    }
    return any != 0;
}
#pragma GCC diagnostic pop
#endif

bool eights(Loaded& all, std::size_t count, double* out) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (wide()) return eights_widely(all, count, out);
#endif
    return eights_plainly(all, count, out);
}

}  // namespace

}  // namespace lineal
