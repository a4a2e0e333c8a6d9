#include "linalg/triangle.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace lineal {

namespace {

constexpr Index wide = block_columns, block = 2 * wide;

// An upper triangle in panels, filled up with ones on the diagonal.
struct Triangle {
    explicit Triangle(Index n)
        : n(n),
          width((n + block - 1) / block * block),
          memory(width / 8 * 8 * (width + 1)),
          panel{memory.get(), 8 * (width + 1), width / 8} {
        for (Index j = n; j < width; ++j) at(j, j) = 1.0;
    }
    double& at(Index i, Index j) const { return panel.data[(j / 8) * panel.stride + 8 * i + j % 8]; }
    double* strip(Index s) const { return panel.data + 3 * s * panel.stride; }
    Index strips() const { return width / wide; }
    Index n, width;
    Buffer memory;
    Panel panel;
};

}  // namespace

bool cholesky(const Team& team, const double* matrix, Index n, double* out) {
    const Triangle r(n);
    const Kernels& k = kernels();
    run(
        team, r.strips(),
        [&](int, Index s, Watch&) {
            for (Index i = 0; i < std::min(n, wide * (s + 1)); ++i)
                for (Index j = wide * s; j < std::min(n, wide * (s + 1)); ++j) r.at(i, j) = matrix[i * n + j];
        },
        nullptr);
    for (Index top = 0; top < r.width; top += block) {
        const Index next = (top + block) / wide;
        for (Index s = top / wide; s < next; ++s)
            if (!k.substitute(r.panel, 0, top, top + block, r.strip(s), r.panel.stride, wide * s)) return false;
        const Index left = r.strips() - next;
        run(
            left > 4 ? team : Team{1, team.interrupted}, left,
            [&](int, Index s, Watch&) { k.substitute(r.panel, 0, top, top + block, r.strip(next + s), r.panel.stride, -1); }, nullptr);
    }
    run(
        team, r.strips(),
        [&](int, Index s, Watch&) {
            for (Index j = wide * s; j < std::min(n, wide * (s + 1)); ++j)
                for (Index i = 0; i < n; ++i) out[j * n + i] = i <= j ? r.at(i, j) : 0.0;
        },
        nullptr);
    return true;
}

void inverse_squares(const Team& team, const double* upper, Index n, double* out) {
    const Triangle r(n);
    const Kernels& k = kernels();
    run(
        team, r.strips(),
        [&](int, Index s, Watch&) {
            for (Index j = wide * s; j < std::min(n, wide * (s + 1)); ++j)
                for (Index i = 0; i <= j; ++i) r.at(i, j) = upper[j * n + i];
        },
        nullptr);
    std::vector<std::unique_ptr<Buffer>> rooms(static_cast<std::size_t>(team.threads));
    run(
        team, r.strips(),
        [&](int id, Index s, Watch&) {
            std::unique_ptr<Buffer>& room = rooms[static_cast<std::size_t>(id)];
            if (!room) room = std::make_unique<Buffer>(3 * r.panel.stride);
            room->clear();
            double* x = room->get();
            const Index first = wide * s;
            for (Index j = 0; j < wide; ++j) x[(j / 8) * r.panel.stride + 8 * (first + j) + j % 8] = 1.0;
            k.substitute(r.panel, first, first, r.width, x, r.panel.stride, -1);
            for (Index j = first; j < std::min(n, first + wide); ++j) {
                double sum = 0;
                for (Index i = j; i < n; ++i) {
                    const double value = x[((j - first) / 8) * r.panel.stride + 8 * i + j % 8];
                    sum += value * value;
                }
                out[j] = sum;
            }
        },
        nullptr);
}

namespace {

// The place of the first of `count` numbers that is not zero; `count` if all are.
Index first_other(const double* values, Index count, Index stride) {
    constexpr Index SOME = 32;
    Index i = 0;
    if (stride == 1)
        for (; i + SOME <= count; i += SOME) {
            std::uint64_t all = 0;
            for (Index k = 0; k < SOME; ++k) all |= std::bit_cast<std::uint64_t>(values[i + k]);
            if (all << 1) break;  // but for the sign, which zero may have
        }
    while (i < count && values[i * stride] == 0.0) ++i;
    return i;
}

}  // namespace

Stretch apart(const double* matrix, Index n, Index row_stride, Index column_stride) {
    Stretch best{n > 0 ? n - 1 : 0, n};
    for (Index start = n - 2, stop = n; start >= 0; --start) {
        stop = start + 1 + first_other(matrix + start * row_stride + (start + 1) * column_stride, stop - start - 1, column_stride);
        if (stop - start > best.last - best.first) best = {start, stop};
    }
    return best;
}

}  // namespace lineal
