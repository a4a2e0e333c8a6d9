// Trees in brackets and their common fragments: equal subtrees of the whole set are compared once.
#include <algorithm>
#include <map>

#include "kernels/gram.hpp"

namespace lineal {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Hash {
    std::size_t operator()(const std::vector<Index>& key) const {
        std::size_t sum = key.size();
        for (const Index part : key) sum = (sum ^ static_cast<std::size_t>(part)) * 0x9e3779b97f4a7c15u + (sum >> 29);
        return sum;
    }
};

using Numbers = std::unordered_map<std::vector<Index>, Index, Hash>;

Index number(Numbers& known, const std::vector<Index>& key) {
    return known.try_emplace(key, static_cast<Index>(known.size())).first->second;
}

}  // namespace

// Numbers labels, productions and subtrees as trees are read.
struct Forest::Reader {
    struct Open {
        Index label;
        std::size_t children;  // where its children begin
    };
    struct Child {
        Index label, subtree;  // subtree -1: a leaf
    };
    Forest& forest;
    std::unordered_map<std::string_view, Index> labels;
    Numbers productions, subtrees;
    std::vector<Open> open;
    std::vector<Child> done;
    std::vector<Index> key;
    std::map<Index, Index> found;  // subtrees of the tree that is read, and how often

    Fault read(const char* text, Index size, Index& place) {
        open.clear();
        done.clear();
        found.clear();
        bool any = false;
        for (Index i = 0; i < size;) {
            place = i;
            if (blank(text[i])) {
                ++i;
                continue;
            }
            if (any && open.empty()) return behind;
            if (text[i] == '(') {
                ++i;
                while (i < size && blank(text[i])) ++i;
                const Index begin = i;
                while (i < size && !blank(text[i]) && text[i] != '(' && text[i] != ')') ++i;
                if (begin == i && (i == size || text[i] == ')')) return i == size ? unclosed : label;
                open.push_back({named({text + begin, at(i - begin)}), done.size()});
                any = true;
            } else if (open.empty()) {
                return outside;
            } else if (text[i] == ')') {
                close();
                ++i;
            } else {
                const Index begin = i;
                while (i < size && !blank(text[i]) && text[i] != '(' && text[i] != ')') ++i;
                done.push_back({named({text + begin, at(i - begin)}), -1});
            }
        }
        place = size;
        if (!any) return empty;
        return open.empty() ? none : unclosed;
    }

    Index named(std::string_view label) { return labels.try_emplace(label, static_cast<Index>(labels.size())).first->second; }

    // The innermost node is complete: a leaf, or a production with the subtrees of its children.
    void close() {
        const Open node = open.back();
        open.pop_back();
        Index subtree = -1;
        if (done.size() > node.children) {
            key.assign(1, node.label);
            for (std::size_t c = node.children; c < done.size(); ++c) key.push_back(done[c].label);
            const Index production = number(productions, key);
            key.assign(1, production);
            for (std::size_t c = node.children; c < done.size(); ++c) key.push_back(done[c].subtree);
            subtree = number(subtrees, key);
            if (subtree == static_cast<Index>(forest.production_.size())) {
                forest.production_.push_back(production);
                forest.children_.insert(forest.children_.end(), key.begin() + 1, key.end());
                forest.child_starts_.push_back(static_cast<Index>(forest.children_.size()));
            }
            ++found[subtree];
        }
        done.resize(node.children);
        done.push_back({node.label, subtree});
    }
};

Forest::Forest(const std::int64_t* starts, Index count, const char* text) : trees_(count), child_starts_{0}, tree_starts_{0} {
    Reader reader{*this, {}, {}, {}, {}, {}, {}, {}};
    for (Index tree = 0; tree < count; ++tree) {
        fault_ = reader.read(text + starts[tree], starts[tree + 1] - starts[tree], fault_place_);
        if (fault_ != none) {
            fault_tree_ = tree;
            return;
        }
        sizes_.push_back(0);
        for (const auto& [subtree, times] : reader.found) {
            parts_.push_back(subtree);
            times_.push_back(static_cast<double>(times));
            sizes_.back() += times;
        }
        tree_starts_.push_back(static_cast<Index>(parts_.size()));
    }
    index();
}

// Turns the lists of parts around, and puts the members of every production in order.
void Forest::index() {
    const Index subtrees = static_cast<Index>(production_.size());
    part_starts_.assign(at(subtrees) + 1, 0);
    for (const Index part : parts_) ++part_starts_[at(part) + 1];
    for (std::size_t u = 0; u < at(subtrees); ++u) part_starts_[u + 1] += part_starts_[u];
    holders_.resize(parts_.size());
    held_.resize(parts_.size());
    std::vector<Index> next(part_starts_.begin(), part_starts_.end() - 1);
    for (Index tree = 0; tree < trees_; ++tree)
        for (Index i = tree_starts_[at(tree)]; i < tree_starts_[at(tree) + 1]; ++i) {
            const std::size_t to = at(next[at(parts_[at(i)])]++);
            holders_[to] = tree;
            held_[to] = times_[at(i)];
        }
    const Index productions = subtrees == 0 ? 0 : *std::max_element(production_.begin(), production_.end()) + 1;
    production_starts_.assign(at(productions) + 1, 0);
    for (const Index production : production_) ++production_starts_[at(production) + 1];
    for (std::size_t p = 0; p < at(productions); ++p) production_starts_[p + 1] += production_starts_[p];
    members_.resize(at(subtrees));
    next.assign(production_starts_.begin(), production_starts_.end() - 1);
    for (Index u = 0; u < subtrees; ++u) members_[at(next[at(production_[at(u)])]++)] = u;
    rank_.resize(at(subtrees));
    const auto last = [&](Index u) { return holders_[at(part_starts_[at(u) + 1] - 1)]; };
    for (std::size_t p = 0; p < at(productions); ++p) {
        const auto begin = members_.begin() + production_starts_[p], end = members_.begin() + production_starts_[p + 1];
        std::stable_sort(begin, end, [&](Index a, Index b) { return last(a) > last(b); });
        for (auto member = begin; member != end; ++member) rank_[at(*member)] = member - begin;
    }
}

// What a thread keeps from row to row.
struct Forest::Worker {
    std::vector<double> common;  // C(a, u) of the subtrees a of one tree with all u of the same production
    std::vector<Index> where;    // where those of a begin
    std::vector<double> sums;    // over the a of one production
    std::vector<Index> order;    // the productions of the tree, as they come
    std::vector<char> seen;      // of every production
    double* row = nullptr;       // the entries with trees from 0 on
};

// row[t] += sum over subtrees a of the tree and u of t of C(a, u), for the trees t from `first` on, with
//   C(a, u) = 0 for different productions, else decay prod_j (1 + C(child j of a, child j of u)), C of leaves 0.
bool Forest::row(Index tree, Index first, double decay, Worker& w, Watch& watch) const {
    w.common.clear();
    w.order.clear();
    const auto count = [&](Index p) {  // members that come in trees from `first` on
        const auto begin = members_.begin() + production_starts_[at(p)], end = members_.begin() + production_starts_[at(p) + 1];
        return std::partition_point(begin, end, [&](Index u) { return holders_[at(part_starts_[at(u) + 1] - 1)] >= first; }) - begin;
    };
    for (Index i = tree_starts_[at(tree)]; i < tree_starts_[at(tree) + 1]; ++i) {
        if (watch.stop()) return false;
        const Index a = parts_[at(i)], p = production_[at(a)], many = count(p);
        const Index* const members = members_.data() + production_starts_[at(p)];
        const Index begin = static_cast<Index>(w.common.size()), arity = child_starts_[at(a) + 1] - child_starts_[at(a)];
        w.where[at(a)] = begin;
        w.common.resize(at(begin + many));
        const Index* const mine = children_.data() + child_starts_[at(a)];
        double* const sums = w.sums.data() + production_starts_[at(p)];
        if (!w.seen[at(p)]) {
            w.seen[at(p)] = 1;
            w.order.push_back(p);
            std::fill(sums, sums + many, 0.0);
        }
        double* const common = w.common.data() + begin;
        std::fill(common, common + many, decay);
        for (Index c = 0; c < arity; ++c) {
            if (mine[c] < 0) continue;
            const Index kind = production_[at(mine[c])];
            const double* const below = w.common.data() + w.where[at(mine[c])];
            for (Index r = 0; r < many; ++r) {
                const Index other = children_[at(child_starts_[at(members[r])] + c)];
                if (other >= 0 && production_[at(other)] == kind) common[r] *= 1.0 + below[rank_[at(other)]];
            }
        }
        for (Index r = 0; r < many; ++r) sums[r] += times_[at(i)] * common[r];
    }
    for (const Index p : w.order) {
        w.seen[at(p)] = 0;
        const Index many = count(p);
        for (Index r = 0; r < many; ++r) {
            const Index u = members_[at(production_starts_[at(p)] + r)];
            const double sum = w.sums[at(production_starts_[at(p)] + r)];
            const auto begin = holders_.begin() + part_starts_[at(u)], end = holders_.begin() + part_starts_[at(u) + 1];
            for (auto holder = std::lower_bound(begin, end, first); holder != end; ++holder)
                w.row[*holder] += sum * held_[at(holder - holders_.begin())];
        }
        if (watch.stop()) return false;
    }
    return true;
}

void Forest::gram(const Team& team, Index split, double decay, double* out) const {
    const Pairs pairs{trees_, split};
    const Index size = pairs.columns();
    std::vector<Worker> workers(at(team.threads));
    run(
        team, pairs.rows(),
        [&](int worker, Index i, Watch& watch) {
            Worker& w = workers[at(worker)];
            w.where.resize(production_.size());
            w.sums.resize(members_.size());
            w.seen.resize(production_starts_.size());
            const Index first = pairs.symmetric() ? i : pairs.first();
            w.row = out + i * size - pairs.first();
            std::fill(w.row + first, w.row + trees_, 0.0);
            if (!row(i, first, decay, w, watch) || !pairs.symmetric()) return;
            for (Index j = i + 1; j < trees_; ++j) out[j * size + i] = w.row[j];
        },
        nullptr);
}

// The same for one tree with itself, in the same order of sums.
void Forest::diagonal(const Team& team, double decay, double* out) const {
    run(
        team, trees_,
        [&](int, Index tree, Watch& watch) {
            std::vector<Index> order;                            // productions, as they come
            std::unordered_map<Index, std::vector<Index>> mine;  // their subtrees in this tree, in the order of the whole set
            for (Index i = tree_starts_[at(tree)]; i < tree_starts_[at(tree) + 1]; ++i) {
                std::vector<Index>& members = mine[production_[at(parts_[at(i)])]];
                if (members.empty()) order.push_back(production_[at(parts_[at(i)])]);
                members.push_back(i);
            }
            std::unordered_map<Index, Index> local;  // the place of a subtree among those of its production
            for (auto& [production, members] : mine) {
                std::sort(members.begin(), members.end(),
                          [&](Index a, Index b) { return rank_[at(parts_[at(a)])] < rank_[at(parts_[at(b)])]; });
                for (std::size_t r = 0; r < members.size(); ++r) local[parts_[at(members[r])]] = static_cast<Index>(r);
            }
            std::unordered_map<Index, std::vector<double>> common, sums;
            for (Index i = tree_starts_[at(tree)]; i < tree_starts_[at(tree) + 1]; ++i) {
                if (watch.stop()) return;
                const Index a = parts_[at(i)], p = production_[at(a)];
                const std::vector<Index>& members = mine[p];
                std::vector<double>& with = common.try_emplace(a, members.size(), decay).first->second;
                for (Index c = child_starts_[at(a)]; c < child_starts_[at(a) + 1]; ++c) {
                    const Index child = children_[at(c)];
                    if (child < 0) continue;
                    for (std::size_t r = 0; r < members.size(); ++r) {
                        const Index u = parts_[at(members[r])], other = children_[at(child_starts_[at(u)] + c - child_starts_[at(a)])];
                        if (other >= 0 && production_[at(other)] == production_[at(child)])
                            with[r] *= 1.0 + common[child][at(local[other])];
                    }
                }
                std::vector<double>& sum = sums.try_emplace(p, members.size(), 0.0).first->second;
                for (std::size_t r = 0; r < members.size(); ++r) sum[r] += times_[at(i)] * with[r];
            }
            out[tree] = 0;
            for (const Index p : order)
                for (std::size_t r = 0; r < mine[p].size(); ++r) out[tree] += sums[p][r] * times_[at(mine[p][r])];
        },
        nullptr);
}

}  // namespace lineal
