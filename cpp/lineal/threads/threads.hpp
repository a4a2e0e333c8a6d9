// Chunks of work on several threads, merged in order: any number of threads gives the same bits.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>

#include "passes/part.hpp"

namespace lineal {

// Where the given chunk of `chunks` nearly equal ones begins; where the rows end for the one after the last.
inline Index cut(Index rows, Index chunk, Index chunks) { return rows / chunks * chunk + std::min(chunk, rows % chunks); }

// Thrown in the calling thread when `interrupted` said yes.
struct Interrupted {};

struct Team {
    int threads = 1;
    // Asked by the calling thread about every 50 ms; true stops the work.
    std::function<bool()> interrupted;
};

// The calling thread has asked by itself: runs ask again after 50 ms, however many of them there are.
void just_asked();

// What a chunk asks after every block of rows: must I stop?
class Watch {
public:
    Watch(std::atomic<bool>& stop, const std::function<bool()>* interrupted) : stop_(stop), interrupted_(interrupted) {}
    bool stop();

private:
    std::atomic<bool>& stop_;
    const std::function<bool()>* interrupted_;  // null in all threads but the calling one
};

// work(worker, chunk, watch) fills the worker's partial result, merge(worker) adds it to the whole; merges happen one
// at a time in the order of the chunks, so only one partial result per worker is alive. Without merge nobody waits for the others.
void run(const Team& team, Index chunks, const std::function<void(int, Index, Watch&)>& work, const std::function<void(int)>& merge);

}  // namespace lineal
