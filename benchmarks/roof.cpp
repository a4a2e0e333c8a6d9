// What this machine can do: bytes read from memory and multiply-adds in registers per second, on a number of threads.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

#ifdef __AVX512F__
constexpr std::size_t WIDTH = 8;
#else
constexpr std::size_t WIDTH = 4;
#endif
using Lane = double __attribute__((vector_size(WIDTH * sizeof(double))));
constexpr int LANES = 16;  // sums at once: two units of four cycles want eight, and 16 registers are always there
volatile double sink;

double seconds(int threads, const std::function<void(int)>& work) {
    double best = 1e300;
    for (int round = 0; round < 7; ++round) {
        const auto start = std::chrono::steady_clock::now();
        std::vector<std::thread> team;
        for (int t = 1; t < threads; ++t) team.emplace_back(work, t);
        work(0);
        for (auto& one : team) one.join();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

void keep(const Lane* sums) {
    double total = 0.0;
    for (int k = 0; k < LANES; ++k)
        for (std::size_t j = 0; j < WIDTH; ++j) total += sums[k][j];
    sink = total;
}

}  // namespace

int main(int count, char** words) {
    const int threads = count > 1 ? std::atoi(words[1]) : 1;
    const std::size_t length = std::size_t{1} << 26;  // 512 MB, far beyond any cache
    std::vector<double> data(length, 1.0);
    const double reading = seconds(threads, [&](int t) {
        const std::size_t share = length / threads / (LANES * WIDTH) * (LANES * WIDTH);
        const double* from = data.data() + share * t;
        Lane sums[LANES] = {};
        for (std::size_t i = 0; i < share; i += LANES * WIDTH)
            for (int k = 0; k < LANES; ++k) {
                Lane value;
                __builtin_memcpy(&value, from + i + k * WIDTH, sizeof value);
                sums[k] += value;
            }
        keep(sums);
    });
    const long steps = 20'000'000;
    const double multiplying = seconds(threads, [&](int t) {
        Lane sums[LANES] = {}, factor = sums[0] + 0.999 + 1e-9 * t, term = factor * 1e-9;
        for (int k = 0; k < LANES; ++k) sums[k] += sink + k;  // different ones, or the compiler makes one of them
        for (long i = 0; i < steps; ++i)
            for (int k = 0; k < LANES; ++k) sums[k] = sums[k] * factor + term;
        keep(sums);
    });
    std::printf("{\"bytes\": %.4g, \"flops\": %.4g}\n", 8.0 * length / reading,
                2.0 * WIDTH * LANES * steps * threads / multiplying);
}
