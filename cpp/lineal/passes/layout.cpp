#include "passes/layout.hpp"

#include <algorithm>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lineal {

std::align_val_t border_of(std::size_t bytes) { return std::align_val_t(bytes < (1 << 22) ? 64 : 1 << 21); }

void* allocated(std::size_t bytes) {
    void* data = ::operator new(bytes, border_of(bytes));
#if defined(MADV_HUGEPAGE)
    if (border_of(bytes) > std::align_val_t{64}) madvise(data, bytes, MADV_HUGEPAGE);  // advice: whether it is taken does not matter
#endif
    return data;
}

Layout::Layout(const std::vector<Part>& parts, bool expanded) {
    for (const Part& part : parts) place(part, columns, expanded);
}

Layout Layout::widest_first(const std::vector<Part>& parts) {
    std::vector<Index> column(parts.size());
    std::size_t widest = parts.size();
    for (std::size_t at = 0; at < parts.size(); ++at) {
        if (at > 0) column[at] = column[at - 1] + parts[at - 1].columns;
        if (parts[at].kind != Kind::dense) continue;
        if (widest == parts.size() || parts[at].columns > parts[widest].columns) widest = at;
    }
    Layout out({}, false);
    if (widest < parts.size()) out.place(parts[widest], column[widest], false);
    for (std::size_t at = 0; at < parts.size(); ++at)
        if (at != widest) out.place(parts[at], column[at], false);
    return out;
}

void Layout::place(const Part& part, Index column, bool expanded) {
    rows = part.rows;
    const bool dense = expanded || part.kind == Kind::ones || part.kind == Kind::dense;
    std::vector<Index>& to_column = dense ? panel_to_column : loose_to_column;
    (dense ? panel : loose).push_back({part, column, static_cast<Index>(to_column.size())});
    for (Index j = 0; j < part.columns; ++j) to_column.push_back(column + j);
    columns += part.columns;
    if (part.kind == Kind::codes) nonzeros += part.rows;
    if (part.kind == Kind::sparse && part.rows > 0)
        nonzeros += with_places(part, [&](const auto* starts, const auto*) -> Index { return starts[part.rows] - starts[0]; });
}

void Layout::place_gradient(Index outputs, const double* sums, double* out) const {
    for (Index c = 0; c < outputs; ++c)
        for (Index j = 0; j < panel_columns(); ++j) out[panel_to_column[static_cast<std::size_t>(j)] * outputs + c] = sums[c * width() + j];
    const double* loose_sums = sums + outputs * width();
    for (Index j = 0; j < loose_columns(); ++j)
        for (Index c = 0; c < outputs; ++c) out[loose_to_column[static_cast<std::size_t>(j)] * outputs + c] = loose_sums[j * outputs + c];
}

Index Layout::room(Index more, Index least) const {
    const Index fitting = more * 32768 / std::max<Index>(width(), 1) / 8 * 8;
    return std::min(std::clamp<Index>(fitting, least, 128), std::max<Index>(8, (rows + 7) / 8 * 8));
}

Coefficients::Coefficients(const Layout& layout, const Matrix& coef) : panel(layout.width() * coef.columns) {
    if (!layout.loose.empty()) loose = Buffer(layout.loose_columns() * coef.columns);
    if (!layout.loose.empty() && coef.columns == 1) coded = Buffer(layout.loose_columns() + static_cast<Index>(layout.loose.size()));
    for (Index c = 0; c < coef.columns; ++c) {
        for (Index j = 0; j < layout.panel_columns(); ++j)
            panel.get()[c * layout.width() + j] = coef.at(layout.panel_to_column[static_cast<std::size_t>(j)], c);
        for (Index j = 0; j < layout.loose_columns(); ++j) {
            const double value = coef.at(layout.loose_to_column[static_cast<std::size_t>(j)], c);
            loose.get()[j * coef.columns + c] = value;
            idle = idle && value == 0;
        }
    }
    for (std::size_t q = 0; coded.size() > 0 && q < layout.loose.size(); ++q) {
        const Placed& placed = layout.loose[q];
        std::copy_n(loose.get() + placed.at, placed.part.columns, coded.get() + placed.at + static_cast<Index>(q) + 1);
    }
}

}  // namespace lineal
