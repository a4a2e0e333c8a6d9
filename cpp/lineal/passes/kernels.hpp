// The loops that exist once per CPU level, behind one table of function pointers.
//
// A panel holds some rows of all dense columns in groups of eight columns: entry (i, 8 g + j) is at
// panel[g * stride + 8 * i + j], so that a register tile walks through consecutive cache lines. A panel of single precision
// has groups of sixteen.
// Quantities of a block's rows are stored by output: eta[c * room + i].
#pragma once

#include <string>
#include <vector>

#include "passes/part.hpp"

namespace lineal {

template <class T>
constexpr Index lanes = 64 / static_cast<Index>(sizeof(T));  // numbers of a cache line, columns of a group

template <class T>
struct PanelOf {
    T* data = nullptr;
    Index stride = 0;  // numbers between groups
    Index groups = 0;
};
using Panel = PanelOf<double>;
using SinglePanel = PanelOf<float>;

// Memory that will be read soon, as far as it has not been asked for yet.
struct Ahead {
    const char* at = nullptr;
    const char* end = nullptr;
};

// sum[j] += sum_i weight[i] x[i][j], largest[j] = max(largest[j], |x[i][j]|), where a NaN may be lost: the sum has it.
struct Extent {
    const double* weight = nullptr;
    double* sum = nullptr;
    double* largest = nullptr;
};

// The lower triangle of a gram lies in blocks of one group of columns b by three groups of columns a, in the order in which tiles
// make them: so many numbers before those of the strip h of three groups, and in all.
template <class T>
constexpr Index gram_start(Index groups, Index h) {
    return 3 * lanes<T> * lanes<T> * (h * groups - 3 * h * (h - 1) / 2);
}
template <class T>
constexpr Index gram_size(Index groups) {
    return gram_start<T>(groups, (groups + 2) / 3);
}
constexpr Index block_columns = 3 * lanes<double>;
constexpr Index block_start(Index groups, Index h) { return gram_start<double>(groups, h); }
constexpr Index block_size(Index groups) { return gram_size<double>(groups); }
constexpr Index block_entry(Index groups, Index b, Index a) {
    const Index h = a / block_columns;
    return block_start(groups, h) + block_columns * (b - block_columns * h) + a % block_columns;
}

enum class Loss { squared, logistic, softmax, huber, poisson, squared_hinge };

// One block of rows of a loss: targets, weights and scores in, slopes and curvatures out.
struct LossBlock {
    Loss loss = Loss::squared;
    double parameter = 0;                    // of the loss: Huber's threshold
    Index outputs = 1, count = 0, room = 0;  // room: doubles per output, a multiple of 8, at least count
    const double* y = nullptr;               // by target
    const double* weight = nullptr;          // zero beyond count
    const double* eta = nullptr;
    const double* step = nullptr;  // dual: X shift, by output
    double* slope = nullptr;       // s slope (dual: s theta), by output
    double* curvature = nullptr;   // s curvature by output; softmax: the probabilities, without s
    Index bent_room = 0;           // doubles per output of `curvature`, where it is only read
    double high = 0, low = 0;      // sum of s loss (dual: of s mismatch)
    double weight_sum = 0;
    double* slope_sum = nullptr;  // sum of s |slope|, by output
    double reach = 0;             // dual: max |step|
    double scale = 1;             // dual: theta is that much of it (squared, logistic)
};

// The codes of a categorical part of at least one column, and its coefficients or its gradient, of one output.
struct Coded {
    const std::int32_t* codes;
    Index stride;
    double* table;
};

struct PairSteps;

struct Kernels {
    // panel[:, first column ...] = the part's rows (sparse and codes: expanded, the columns must be zero before)
    void (*pack)(const Part& part, const Selection& rows, const Panel& panel, Index first);
    void (*unpack)(const Part& part, const Selection& rows, const Panel& panel, Index first);  // zero again
    // eta[c][i] += sum_j panel[i][j] coef[c][j]
    void (*forward)(const Panel& panel, Index count, const double* coef, Index coef_stride, Index outputs, double* eta, Index room);
    // gradient[c][j] += sum_i panel[i][j] values[i][c]
    void (*backward)(const Panel& panel, Index count, const double* values, Index outputs, double* gradient, Index gradient_stride);
    // (b, a) += sum_i weight[i] panel[i][b] panel[i][a] for a <= b, at block_entry; weight may be null, scratch holds three
    // groups, extents are taken if they are asked for
    void (*gram)(const Panel& panel, Index count, const double* weight, double* scratch, const Extent* extents, double* gram, Ahead& ahead);
    // The same in single precision, without extents; and the rows it is made of: panel[i][first + j] = (x_ij - centre[j]) factor[j],
    // rounded
    void (*single_gram)(const SinglePanel& panel, Index count, const float* weight, float* scratch, float* gram, Ahead& ahead);
    void (*round)(const Part& part, const Selection& rows, const double* centre, const double* factor, const SinglePanel& panel,
                  Index first);
    // to[i] += from[i]
    void (*add_singles)(const float* from, double* to, Index count);
    // The rows whose weight is not zero move to the front, with their weights; returns how many
    Index (*gather)(const Panel& panel, Index count, double* weight);
    // x_i <- (x_i - sum_{from <= k < i} R_ki x_k) / R_ii for the rows first ... last of three groups, `stride` apart, R in a panel;
    // all multiples of eight. own >= 0: x is R itself from column `own` on, of whose rows the factor is made; false: a pivot is not
    // positive
    bool (*substitute)(const Panel& factor, Index from, Index first, Index last, double* strip, Index stride, Index own);
    // high + low [b][a] += sum_i left[i][b] right[i][a] in double-double, at least for b <= a; left is left + left_low, if given
    void (*gram_dd)(const Panel& left, const Panel& left_low, const Panel& right, Index count, double* high, double* low,
                    Index gram_stride);
    // (out, low) = diag(weight) panel exactly
    void (*scale_dd)(const Panel& panel, Index count, const double* weight, const Panel& out, const Panel& low);
    // max over rows of |x.d| / sum |x_j d_j|
    double (*dependence)(const Panel& panel, Index count, const double* high, const double* low);
    // Moments around `origin`: mean[j] = sum s d / sum s, scatter[j] = sum s (d - mean)^2, d = x - origin; largest |x|
    void (*moments)(const Panel& panel, Index count, const double* weight, double weight_sum, const double* origin, double* mean,
                    double* scatter, double* largest);

    // Sparse and codes parts row by row; coef and gradient are [columns][outputs]; sums, values are [count][outputs]
    void (*loose_forward)(const Part& part, const Selection& rows, const double* coef, Index outputs, double* sums);
    void (*loose_backward)(const Part& part, const Selection& rows, const double* values, Index outputs, double* gradient);
    // The same for several codes parts and one output; every table has an entry for code -1 before it
    void (*codes_forward)(const Coded* parts, Index count, const Selection& rows, double* sums);
    void (*codes_backward)(const Coded* parts, Index count, const Selection& rows, const double* values);
    // left-hand rows are loose columns: gram[rows[a]] on += s x_a panel row, then s x_a x_a; gram[pairs[a] + b] += s x_a x_b, a < b
    void (*loose_gram)(const Index* starts, const Index* columns, const double* entries, Index count, const double* weight,
                       const Panel& panel, double* gram, const Index* rows, const Index* pairs);

    // stats[column] = {sum s x, sum s x^2, sum s, max |x|} over the entries, and sum s (x - mean)^2 over the entries
    void (*loose_moments)(const Part& part, const Selection& rows, const double* weight, double* stats);
    void (*loose_scatter)(const Part& part, const Selection& rows, const double* weight, const double* mean, double* scatter);

    void (*loss)(LossBlock& block);
    void (*dual)(LossBlock& block);
    void (*mean)(Loss loss, Index outputs, Index count, Index room, double* eta);
    // slope = s W step, of the curvature that `loss` left
    void (*bend)(LossBlock& block);

    // eta[i] += constant + x_i.coef of a dense part whose rows have no gaps, read where they lie
    void (*inplace_matvec)(const Part& part, const Selection& rows, const double* coef, double constant, double* eta);
    // gradient[j] += sum_i values[i] x_ij of such a part
    void (*pull)(const Part& part, const Selection& rows, const double* values, double* gradient);
    // of such a part's columns first[j], that of the first row, sum[j] = sum_i (x_ij - first[j]), square[j] of their squares, largest
    // |x_ij|
    void (*spread)(const Part& part, const Selection& rows, double* first, double* sum, double* square, double* largest);
    // out[i] = {1 - mean[i], mean[i]}; returns whether every mean lies between 0 and 1, neither reached
    bool (*pair)(const double* mean, Index count, double* out);

    void (*add)(const double* from, double* to, Index count);
    void (*add_dd)(const double* from_high, const double* from_low, double* high, double* low, Index count);
    Index (*factor_dd)(double* high, double* low, Index n, Index candidates, double threshold, Index* order);
    void (*solve_dd)(const double* high, const double* low, Index n, Index rank, bool transpose, double* right_high, double* right_low,
                     Index right_columns);
    void (*times_dd)(const double* high, const double* low, Index n, Index p, const double* right_high, const double* right_low,
                     Index right_columns, double* out_high, double* out_low);

    // The factor R'R of a positive definite matrix of which the upper half is given, in its place, the rows `stride` apart, a multiple of
    // eight with zeros beyond n; below the diagonal anything is left. The least pivot, or the first that is not above zero
    double (*triangle)(double* upper, Index n, Index stride);
    // x[n], with zeros up to the stride, becomes (R'R)^-1 x
    void (*solve_triangle)(const double* upper, Index n, Index stride, double* x);

    // steps along pairs of the coefficients of a support vector machine (machines/pairs.hpp)
    void (*pairs)(PairSteps& problem);

    // function: 0 exp, 1 log1p, 2 excess; count a multiple of 8
    void (*elementary)(int function, double* values, Index count);
};

#if defined(LINEAL_LEVEL)
namespace LINEAL_LEVEL {
void add_panels(Kernels& table);
void add_grams(Kernels& table);
void add_losses(Kernels& table);
void add_sparse_rows(Kernels& table);
void add_inplace_matvec(Kernels& table);
void add_doubled(Kernels& table);
void add_triangles(Kernels& table);
void add_pairs(Kernels& table);
}  // namespace LINEAL_LEVEL
#endif

// The table for this CPU, or the one named by the environment variable LINEAL_CPU.
const Kernels& kernels();
// Names of the levels this build holds and this CPU runs, best first, and the one in use.
std::vector<std::string> levels();
std::string level_in_use();

}  // namespace lineal
