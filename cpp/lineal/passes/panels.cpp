// Dense panels: packing rows into them, X w, X'r and moments by register tiles.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "passes/tiles.hpp"

namespace {

#if defined(__AVX512F__)
inline __m512d widen(__m256 x) { return (__m512d)widened((F)x); }
#endif

// `take` values into lanes `lane` ... of one group's row, the other lanes untouched.
template <class T>
inline void pack_some(const T* from, double* to, Index lane, Index take) {
#if defined(__AVX512F__)
    const __mmask8 mask = static_cast<__mmask8>(((1u << take) - 1) << lane);
    if constexpr (sizeof(T) == 8) {
        _mm512_mask_storeu_pd(to, mask, _mm512_maskz_loadu_pd(mask, from - lane));
    } else {
        _mm512_mask_storeu_pd(to, mask, widen(_mm256_maskz_loadu_ps(mask, from - lane)));
    }
#else
    for (Index j = 0; j < take; ++j) to[lane + j] = static_cast<double>(from[j]);
#endif
}

// Up to eight rows: group by group, so that the stores stay within a page and the rows are read side by side.
template <class T>
inline void pack_rows(const T* const* from, Index rows, double* to, Index stride, Index first, Index columns) {
    Index done = 0;
    double* out = to + (first / 8) * stride;
    if (first % 8 != 0 || columns < 8) {
        const Index lane = first % 8, take = columns < 8 - lane ? columns : 8 - lane;
        for (Index i = 0; i < rows; ++i) pack_some(from[i], out + 8 * i, lane, take);
        done = take;
        out += stride;
    }
    for (; done + 8 <= columns; done += 8, out += stride)
        for (Index i = 0; i < rows; ++i)
            for (int v = 0; v < VG; ++v) store(out + 8 * i + v * W, load(from[i] + done + v * W));
    if (done < columns)
        for (Index i = 0; i < rows; ++i) pack_some(from[i] + done, out + 8 * i, 0, columns - done);
}

// Asks for the first lines of eight rows from i on: nothing else foresees rows that are far apart. Inlined, or the
// compiler would leave out a call that changes nothing.
[[gnu::always_inline]] inline void soon(const Part& part, const Selection& rows, Index i) {
    const Index size = part.single ? 4 : 8, bytes = part.columns * size, most = bytes < 512 ? bytes : 512;
    for (Index r = i; r < i + 8 && r < rows.count; ++r) {
        const char* row = static_cast<const char*>(part.values) + rows[r] * part.row_stride * size;
        for (Index b = 0; b < most; b += 64) __builtin_prefetch(row + b);
        __builtin_prefetch(row + most - 1);
    }
}

template <class T>
void pack_dense(const T* values, const Part& part, const Selection& rows, const Panel& panel, Index first) {
    if (part.column_stride == 1) {
        const T* from[8];
        for (Index i = 0; i < rows.count; i += 8) {
            const Index some = rows.count - i < 8 ? rows.count - i : 8;
            for (Index r = 0; r < some; ++r) from[r] = values + rows[i + r] * part.row_stride;
            if (rows.index) soon(part, rows, i + 8);
            if (some == 8)
                pack_rows(from, 8, panel.data + 8 * i, panel.stride, first, part.columns);
            else
                pack_rows(from, some, panel.data + 8 * i, panel.stride, first, part.columns);
        }
        return;
    }
    for (Index j = 0; j < part.columns; ++j) {
        const T* column = values + j * part.column_stride;
        double* out = panel.data + ((first + j) / 8) * panel.stride + (first + j) % 8;
        for (Index i = 0; i < rows.count; ++i) out[8 * i] = static_cast<double>(column[rows[i] * part.row_stride]);
    }
}

inline double& entry(const Panel& panel, Index i, Index column) { return panel.data[(column / 8) * panel.stride + 8 * i + column % 8]; }

void pack_sparse(const Part& part, const Selection& rows, const Panel& panel, Index first, bool clear) {
    lineal::with_stored(part, [&](const auto* values, const auto* starts, const auto* indices) {
        for (Index i = 0; i < rows.count; ++i)
            for (Index t = starts[rows[i]]; t < starts[rows[i] + 1]; ++t) {
                double& at = entry(panel, i, first + indices[t]);
                at = clear ? 0.0 : at + static_cast<double>(values[t]);
            }
    });
}

void pack_codes(const Part& part, const Selection& rows, const Panel& panel, Index first, double value) {
    const std::int32_t* codes = static_cast<const std::int32_t*>(part.values);
    for (Index i = 0; i < rows.count; ++i) {
        const std::int32_t code = codes[rows[i] * part.row_stride];
        if (code >= 0) entry(panel, i, first + code) = value;
    }
}

void pack(const Part& part, const Selection& rows, const Panel& panel, Index first) {
    switch (part.kind) {
        case Kind::ones:
            for (Index i = 0; i < rows.count; ++i) entry(panel, i, first) = 1.0;
            return;
        case Kind::dense:
            lineal::with_numbers(part, [&](const auto* values) { pack_dense(values, part, rows, panel, first); });
            return;
        case Kind::codes:
            pack_codes(part, rows, panel, first, 1.0);
            return;
        case Kind::sparse:
            pack_sparse(part, rows, panel, first, false);
            return;
    }
}

void unpack(const Part& part, const Selection& rows, const Panel& panel, Index first) {
    if (part.kind == Kind::codes) pack_codes(part, rows, panel, first, 0.0);
    if (part.kind == Kind::sparse) pack_sparse(part, rows, panel, first, true);
}

// R rows times K outputs: every accumulator walks along the columns, its lanes are added at the end.
template <int R, int K>
inline void forward_tile(const Panel& panel, Index i, const double* coef, Index coef_stride, double* eta, Index room) {
    constexpr int sums_of = (R * K + W - 1) / W;
    V sum[sums_of * W];
#pragma GCC unroll 32
    for (int t = 0; t < sums_of * W; ++t) sum[t] = V{};
    const double* x = panel.data + 8 * i;
    for (Index g = 0; g < panel.groups; ++g, x += panel.stride) {
#pragma GCC unroll 4
        for (int v = 0; v < VG; ++v) {
            V row[R];
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) row[r] = load(x + 8 * r + v * W);
#pragma GCC unroll 8
            for (int c = 0; c < K; ++c) {
                const V w = load(coef + c * coef_stride + g * 8 + v * W);
#pragma GCC unroll 8
                for (int r = 0; r < R; ++r) sum[c * R + r] = fma(row[r], w, sum[c * R + r]);
            }
        }
    }
    double out[sums_of * W];
    for (int t = 0; t < sums_of; ++t) store(out + t * W, sums(sum + t * W));
    for (int c = 0; c < K; ++c)
        for (int r = 0; r < R; ++r) eta[c * room + i + r] += out[c * R + r];
}

void forward(const Panel& panel, Index count, const double* coef, Index coef_stride, Index outputs, double* eta, Index room) {
    // a few outputs: all lanes of the result are rows; many: more outputs for each row that is read
    constexpr int many = W == 8 ? 6 : 3;
    for (Index c = 0; c < outputs;) {
        const Index left = outputs - c, rounds = (left + many - 1) / many, take = (left + rounds - 1) / rounds;
        with_count<many>(take, [&]<int K>() {
            constexpr int R = K > 3 ? 4 : W;
            for (Index i = 0; i < count; i += R) forward_tile<R, K>(panel, i, coef + c * coef_stride, coef_stride, eta + c * room, room);
        });
        c += take;
    }
}

void backward(const Panel& panel, Index count, const double* values, Index outputs, double* gradient, Index gradient_stride) {
    for (Index c = 0; c < outputs;) {
        const Index left = outputs - c, rounds = (left + wide - 1) / wide, take = (left + rounds - 1) / rounds;
        with_count<wide>(take, [&]<int B>() {
            constexpr int A = groups_for(B) > 0 ? groups_for(B) : 1;
            strip<A, B>(values + c, outputs, panel, 0, panel.groups, count, gradient + c * gradient_stride, gradient_stride);
        });
        c += take;
    }
}

// Moments of N vectors of columns: one sum alone would wait for its own additions.
template <int N>
inline void moments_of(const double* x, Index apart, Index count, const double* weight, double weight_sum, const double* origin,
                       double* mean, double* scatter, double* largest) {
    V zero[N], sum[N], top[N], square[N], rest[N], middle[N];
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) {
        zero[v] = load(origin + v * W);
        sum[v] = top[v] = square[v] = rest[v] = V{};
    }
    for (Index i = 0; i < count; ++i) {
        const V w = splat(weight[i]);
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) {
            const V value = load(x + v * apart + 8 * i), size = absolute(value);
            sum[v] = fma(value - zero[v], w, sum[v]);
            top[v] = size <= top[v] ? top[v] : size;  // a NaN stays
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) middle[v] = sum[v] / weight_sum;
    for (Index i = 0; i < count; ++i) {
        const V w = splat(weight[i]);
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) {
            const V d = (load(x + v * apart + 8 * i) - zero[v]) - middle[v], share = d * w;
            square[v] = fma(d, share, square[v]);
            rest[v] += share;
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) {
        store(mean + v * W, middle[v]);
        store(scatter + v * W, square[v] - rest[v] * rest[v] / weight_sum);
        store(largest + v * W, top[v]);
    }
}

void moments(const Panel& panel, Index count, const double* weight, double weight_sum, const double* origin, double* mean, double* scatter,
             double* largest) {
    Index g = 0;
    if constexpr (VG == 1)
        for (; g + 4 <= panel.groups; g += 4)
            moments_of<4>(panel.data + g * panel.stride, panel.stride, count, weight, weight_sum, origin + 8 * g, mean + 8 * g,
                          scatter + 8 * g, largest + 8 * g);
    if constexpr (VG == 1)
        if (g + 3 == panel.groups || g + 2 == panel.groups) {
            const auto rest = g + 3 == panel.groups ? moments_of<3> : moments_of<2>;
            rest(panel.data + g * panel.stride, panel.stride, count, weight, weight_sum, origin + 8 * g, mean + 8 * g, scatter + 8 * g,
                 largest + 8 * g);
            return;
        }
    for (; g < panel.groups; ++g)
        moments_of<VG>(panel.data + g * panel.stride, W, count, weight, weight_sum, origin + 8 * g, mean + 8 * g, scatter + 8 * g,
                       largest + 8 * g);
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

void add_panels(Kernels& table) {
    table.pack = ::pack;
    table.unpack = ::unpack;
    table.forward = ::forward;
    table.backward = ::backward;
    table.moments = ::moments;
}

}  // namespace lineal::LINEAL_LEVEL
