// Gram matrices: one entry for every pair of points, the symmetric half computed once; any number of threads gives the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/entries.hpp"
#include "threads/threads.hpp"

namespace lineal {

// Points of which the first `split` are compared with the others; all with all where split is negative.
struct Pairs {
    Index count, split;
    bool symmetric() const { return split < 0; }
    Index rows() const { return symmetric() ? count : split; }
    Index first() const { return symmetric() ? 0 : split; }
    Index columns() const { return count - first(); }
};

// left, right: rows in C order; right null: of the left ones with themselves. out[rows][columns]
void dense_gram(const Team& team, Between between, const Finish& finish, const double* left, Index rows, const double* right, Index others,
                Index numbers, double* out);

// Sums over the columns that both of two compressed rows have: of products, or of |a| + |b| - |a - b|
void sparse_gram(const Team& team, const Pairs& pairs, Between between, const std::int64_t* starts, const std::int64_t* columns,
                 const double* values, Index width, double* out);

// Symbols of texts, one after the other, none negative
void subsequence_gram(const Team& team, const Pairs& pairs, const std::int64_t* starts, const std::int64_t* symbols, int length,
                      double decay, double* out);
// Of every text with itself
void subsequence_diagonal(const Team& team, Index count, const std::int64_t* starts, const std::int64_t* symbols, int length, double decay,
                          double* out);

// Trees in brackets, (label child child ...), a child a tree or a word; equal subtrees of the whole set are kept once.
class Forest {
public:
    enum Fault { none, empty, outside, unclosed, label, behind };
    // Reads the trees; stops at the first that is malformed.
    Forest(const std::int64_t* starts, Index count, const char* text);

    Index trees() const { return trees_; }
    Fault fault() const { return fault_; }
    Index fault_tree() const { return fault_tree_; }
    Index fault_place() const { return fault_place_; }
    const std::vector<std::int64_t>& sizes() const { return sizes_; }  // nodes with children, of every tree

    void gram(const Team& team, Index split, double decay, double* out) const;
    void diagonal(const Team& team, double decay, double* out) const;

private:
    struct Reader;
    struct Worker;
    void index();
    bool row(Index tree, Index first, double decay, Worker& worker, Watch& watch) const;

    Index trees_ = 0;
    Fault fault_ = none;
    Index fault_tree_ = 0, fault_place_ = 0;
    std::vector<std::int64_t> sizes_;
    // of every different subtree: its production, its children (-1: a leaf) from child_starts_ on, its place in its production
    std::vector<Index> production_, child_starts_, children_, rank_;
    // of every tree the subtrees it has, rising, and how often
    std::vector<Index> tree_starts_, parts_;
    std::vector<double> times_;
    // of every subtree the trees that have it, rising, and how often
    std::vector<Index> part_starts_, holders_;
    std::vector<double> held_;
    // of every production its subtrees, those that come in late trees first
    std::vector<Index> production_starts_, members_;
};

}  // namespace lineal
