// Double-double: sums of products to about 32 digits, a pivoted Cholesky factor of them, triangular solves.
// Compiled once per CPU level: everything but the last function is in an anonymous namespace.
#include "passes/tiles.hpp"

namespace {

template <class T>
struct Doubled {
    T high{}, low{};
};

template <class T>
inline Doubled<T> operator+(Doubled<T> a, Doubled<T> b) {
    T error, tail;
    T high = two_sum(a.high, b.high, error);
    const T low = two_sum(a.low, b.low, tail);
    high = quick_two_sum(high, error + low, error);
    high = quick_two_sum(high, error + tail, error);
    return {high, error};
}
template <class T>
inline Doubled<T> operator-(Doubled<T> a, Doubled<T> b) {
    return a + Doubled<T>{-b.high, -b.low};
}
template <class T>
inline Doubled<T> operator*(Doubled<T> a, Doubled<T> b) {
    T error;
    const T high = two_prod(a.high, b.high, error);
    error += a.high * b.low + a.low * b.high;
    T low;
    const T sum = quick_two_sum(high, error, low);
    return {sum, low};
}
inline Doubled<double> operator/(Doubled<double> a, Doubled<double> b) {
    const double first = a.high / b.high;
    Doubled<double> rest = a - b * Doubled<double>{first, 0.0};
    const double second = rest.high / b.high;
    rest = rest - b * Doubled<double>{second, 0.0};
    const double third = rest.high / b.high;
    double low;
    const double high = quick_two_sum(first, second, low);
    return Doubled<double>{high, low} + Doubled<double>{third, 0.0};
}
inline Doubled<double> root(Doubled<double> a) {
    // one Newton step on the double root: x + (a - x^2) / (2 x)
    const double x = __builtin_sqrt(a.high);
    if (!(x > 0)) return {x, 0.0};
    const Doubled<double> first{x, 0.0};
    Doubled<double> rest = a - first * first;
    const double second = rest.high / (2 * x);
    const Doubled<double> better = first + Doubled<double>{second, 0.0};
    rest = a - better * better;
    return better + Doubled<double>{rest.high / (2 * x), 0.0};
}

// One vector of columns a against B columns b, summed over the rows with all rounding errors kept (Ogita, Rump, Oishi).
template <int B, bool weighted>
inline void tile_dd(const double* left, const double* left_low, const double* right, Index count, double* high, double* low,
                    Index out_stride) {
    V sum[B], rest[B];
    for (int b = 0; b < B; ++b) sum[b] = rest[b] = V{};
    for (Index i = 0; i < count; ++i) {
        const V x = load(right + 8 * i);
        for (int b = 0; b < B; ++b) {
            V error, lost;
            const V product = two_prod(x, splat(left[8 * i + b]), error);
            if constexpr (weighted) error = fma(x, splat(left_low[8 * i + b]), error);
            sum[b] = two_sum(sum[b], product, lost);
            rest[b] += lost + error;
        }
    }
    for (int b = 0; b < B; ++b) {
        Doubled<V> block;
        block.high = two_sum(sum[b], rest[b], block.low);
        const Doubled<V> out = Doubled<V>{load(high + b * out_stride), load(low + b * out_stride)} + block;
        store(high + b * out_stride, out.high);
        store(low + b * out_stride, out.low);
    }
}

void gram_dd(const Panel& left, const Panel& left_low, const Panel& right, Index count, double* high, double* low, Index gram_stride) {
    constexpr int B = W == 8 ? 8 : W == 4 ? 4 : 2;
    for (Index g = 0; g < right.groups; ++g)
        for (int v = 0; v < VG; ++v)
            for (Index b = 0; b < 8 * (g + 1); b += B) {
                const double* x = right.data + g * right.stride + v * W;
                const Index from = (b / 8) * left.stride + b % 8, to = b * gram_stride + 8 * g + v * W;
                if (left_low.data)
                    tile_dd<B, true>(left.data + from, left_low.data + from, x, count, high + to, low + to, gram_stride);
                else
                    tile_dd<B, false>(left.data + from, nullptr, x, count, high + to, low + to, gram_stride);
            }
}

void scale_dd(const Panel& panel, Index count, const double* weight, const Panel& out, const Panel& low) {
    for (Index g = 0; g < panel.groups; ++g)
        for (Index i = 0; i < count; ++i)
            for (int v = 0; v < VG; ++v) {
                const Index at = 8 * i + v * W;
                V error;
                store(out.data + g * out.stride + at, two_prod(load(panel.data + g * panel.stride + at), splat(weight[i]), error));
                store(low.data + g * low.stride + at, error);
            }
}

double dependence(const Panel& panel, Index count, const double* high, const double* low) {
    double worst = 0;
    for (Index i = 0; i < count; ++i) {
        V sum{}, rest{}, size{};
        for (Index g = 0; g < panel.groups; ++g)
            for (int v = 0; v < VG; ++v) {
                const V x = load(panel.data + g * panel.stride + 8 * i + v * W);
                const V d = load(high + 8 * g + v * W);
                V error, lost;
                const V product = two_prod(x, d, error);
                sum = two_sum(sum, product, lost);
                rest += lost + fma(x, load(low + 8 * g + v * W), error);
                size += absolute(product);
            }
        double top = 0, tail = 0, all = 0;
        for (int l = 0; l < W; ++l) {
            accumulate(top, tail, sum[l]);
            tail += rest[l];
            all += size[l];
        }
        double ratio = __builtin_fabs(top + tail) / all;
        if (all == 0) ratio = 0;
        if (!(ratio <= worst)) worst = ratio;
    }
    return worst;
}

void add_dd(const double* from_high, const double* from_low, double* high, double* low, Index count) {
    for (Index i = 0; i < count; i += W) {
        const Doubled<V> sum = Doubled<V>{load(high + i), load(low + i)} + Doubled<V>{load(from_high + i), load(from_low + i)};
        store(high + i, sum.high);
        store(low + i, sum.low);
    }
}

// row -= factor * source over columns from `first`, in double-double
inline void eliminate(double* high, double* low, const double* source_high, const double* source_low, Doubled<double> factor, Index first,
                      Index last) {
    Index j = first;
    const Doubled<V> f{splat(factor.high), splat(factor.low)};
    for (; j + W <= last; j += W) {
        const Doubled<V> value = Doubled<V>{load(high + j), load(low + j)} - f * Doubled<V>{load(source_high + j), load(source_low + j)};
        store(high + j, value.high);
        store(low + j, value.low);
    }
    for (; j < last; ++j) {
        const Doubled<double> value = Doubled<double>{high[j], low[j]} - factor * Doubled<double>{source_high[j], source_low[j]};
        high[j] = value.high;
        low[j] = value.low;
    }
}

inline void swap_columns(double* m, Index n, Index a, Index b) {
    for (Index j = 0; j < n; ++j) {
        const double t = m[a * n + j];
        m[a * n + j] = m[b * n + j];
        m[b * n + j] = t;
    }
    for (Index i = 0; i < n; ++i) {
        const double t = m[i * n + a];
        m[i * n + a] = m[i * n + b];
        m[i * n + b] = t;
    }
}

// In place: columns 0 .. rank-1 become the lower factor L, the block behind them the Schur complement. The next pivot is the column
// that keeps the largest share of its own diagonal, so that units do not matter; it must keep more than `threshold`.
Index factor_dd(double* high, double* low, Index n, Index candidates, double threshold, Index* order) {
    double* whole = new double[static_cast<std::size_t>(n) + 1];
    for (Index j = 0; j < n; ++j) {
        order[j] = j;
        whole[j] = high[j * n + j];
    }
    Index rank = 0;
    for (; rank < candidates; ++rank) {
        Index best = -1;
        double share = threshold;
        for (Index j = rank; j < candidates; ++j)
            if (whole[j] > 0 && high[j * n + j] / whole[j] > share) {
                share = high[j * n + j] / whole[j];
                best = j;
            }
        if (best < 0) break;
        if (best != rank) {
            swap_columns(high, n, rank, best);
            swap_columns(low, n, rank, best);
            const Index was = order[rank];
            order[rank] = order[best];
            order[best] = was;
            const double kept = whole[rank];
            whole[rank] = whole[best];
            whole[best] = kept;
        }
        double* h = high + rank * n;
        double* l = low + rank * n;
        const Doubled<double> pivot = root({h[rank], l[rank]});
        for (Index j = rank + 1; j < n; ++j) {
            const Doubled<double> value = Doubled<double>{h[j], l[j]} / pivot;
            h[j] = value.high;
            l[j] = value.low;
        }
        h[rank] = pivot.high;
        l[rank] = pivot.low;
        for (Index i = rank + 1; i < n; ++i) {
            eliminate(high + i * n, low + i * n, h, l, {h[i], l[i]}, i, n);
            high[i * n + rank] = low[i * n + rank] = 0;
        }
        // swaps need both triangles of what is left
        for (Index i = rank + 1; i < n; ++i)
            for (Index j = i + 1; j < n; ++j) {
                high[j * n + i] = high[i * n + j];
                low[j * n + i] = low[i * n + j];
            }
    }
    delete[] whole;
    // hand the factor out as a lower triangle
    for (Index i = 0; i < rank; ++i)
        for (Index j = i + 1; j < n; ++j) {
            high[j * n + i] = high[i * n + j];
            low[j * n + i] = low[i * n + j];
            high[i * n + j] = low[i * n + j] = 0;
        }
    return rank;
}

// L z = r, or L' z = r, with the leading rank x rank triangle of a factor; right is [rank][right_columns]
void solve_dd(const double* high, const double* low, Index n, Index rank, bool transpose, double* right_high, double* right_low, Index m) {
    for (Index step = 0; step < rank; ++step) {
        const Index i = transpose ? rank - 1 - step : step;
        for (Index c = 0; c < m; ++c) {
            const Doubled<double> value =
                Doubled<double>{right_high[i * m + c], right_low[i * m + c]} / Doubled<double>{high[i * n + i], low[i * n + i]};
            right_high[i * m + c] = value.high;
            right_low[i * m + c] = value.low;
        }
        for (Index t = 0; t < rank; ++t) {
            if (transpose ? t >= i : t <= i) continue;
            const Index at = transpose ? i * n + t : t * n + i;
            eliminate(right_high + t * m, right_low + t * m, right_high + i * m, right_low + i * m, {high[at], low[at]}, 0, m);
        }
    }
}

// out[n][m] = matrix[n][p] right[p][m]
void times_dd(const double* high, const double* low, Index n, Index p, const double* right_high, const double* right_low, Index m,
              double* out_high, double* out_low) {
    for (Index i = 0; i < n * m; ++i) out_high[i] = out_low[i] = 0;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < p; ++j)
            eliminate(out_high + i * m, out_low + i * m, right_high + j * m, right_low + j * m, {-high[i * p + j], -low[i * p + j]}, 0, m);
}

}  // namespace

namespace lineal::LINEAL_LEVEL {

void add_doubled(Kernels& table) {
    table.gram_dd = ::gram_dd;
    table.scale_dd = ::scale_dd;
    table.dependence = ::dependence;
    table.add_dd = ::add_dd;
    table.factor_dd = ::factor_dd;
    table.solve_dd = ::solve_dd;
    table.times_dd = ::times_dd;
}

}  // namespace lineal::LINEAL_LEVEL
