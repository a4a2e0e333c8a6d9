#include "pages.hpp"

#include <mutex>
#include <new>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace lineal {

namespace {

constexpr std::size_t LARGE = std::size_t{1} << 21;

char* aligned(void* whole) {
    return reinterpret_cast<char*>((reinterpret_cast<std::size_t>(whole) + LARGE - 1) / LARGE * LARGE);
}

// Memory of its own, on Linux in large pages where they fit: one fault for 512 small ones.
void* map(std::size_t bytes) {
#if defined(__unix__) || defined(__APPLE__)
    void* whole = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    madvise(whole, bytes, MADV_HUGEPAGE);  // advice: whether it is taken does not matter
#endif
    return whole;
#else
    return ::operator new(bytes);
#endif
}

void unmap(void* whole, std::size_t bytes) {
#if defined(__unix__) || defined(__APPLE__)
    if (bytes > 0) munmap(whole, bytes);
#else
    (void)bytes;
    ::operator delete(whole);
#endif
}

// Large pages in use by nobody, for rooms that wait.
class Spare {
public:
    void wait(std::size_t pages) {
        const std::lock_guard held(lock_);
        wanted_ += pages;
    }

    // No room wants these any more.
    void leave(std::size_t pages) {
        const std::lock_guard held(lock_);
        wanted_ -= pages;
        for (; free_.size() > wanted_; free_.pop_back()) unmap(free_.back(), LARGE);
    }

    // Takes a piece of memory, or what is wanted of it.
    void take(void* whole, std::size_t bytes) {
#if defined(__linux__)
        const std::lock_guard held(lock_);
        char *at = aligned(whole), *end = static_cast<char*>(whole) + bytes;
        if (free_.size() < wanted_) unmap(whole, static_cast<std::size_t>(at - static_cast<char*>(whole)));
        else at = static_cast<char*>(whole);
        for (; free_.size() < wanted_ && end - at >= static_cast<std::ptrdiff_t>(LARGE); at += LARGE) free_.push_back(at);
        unmap(at, static_cast<std::size_t>(end - at));
#else
        unmap(whole, bytes);
#endif
    }

    // Moves a page to `place`, if there is one.
    void give(char* place) {
        const std::lock_guard held(lock_);
        --wanted_;
#if defined(__linux__)
        if (free_.empty()) return;
        char* page = free_.back();
        free_.pop_back();
        if (mremap(page, LARGE, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) unmap(page, LARGE);
#else
        (void)place;
#endif
    }

private:
    std::mutex lock_;
    std::vector<char*> free_;
    std::size_t wanted_ = 0;
};

Spare& spare() {
    static Spare all;
    return all;
}

}  // namespace

struct Slab {
    static constexpr std::size_t SIZE = 4 * LARGE;

    explicit Slab(std::size_t wanted) : bytes((wanted + LARGE - 1) / 4096 * 4096 + LARGE), whole(map(bytes)), data(aligned(whole)) {}
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;
    ~Slab() { spare().take(whole, bytes); }

    std::size_t bytes, used = 0;
    void* whole;
    char* data;
};

Pages::Pages(std::size_t bytes) {
    if (bytes == 0) return;
    if (bytes > LARGE) {
        slab_ = std::make_shared<Slab>(bytes);
        data_ = slab_->data;
        return;
    }
    static std::mutex lock;
    static std::weak_ptr<Slab> last;
    const std::lock_guard held(lock);
    slab_ = last.lock();
    if (!slab_ || slab_->used + bytes > Slab::SIZE) last = slab_ = std::make_shared<Slab>(Slab::SIZE);
    data_ = slab_->data + slab_->used;
    slab_->used += (bytes + 63) / 64 * 64;
}

Room::Room(std::size_t bytes)
    : size_(bytes), bytes_((bytes + LARGE - 1) / LARGE * LARGE), whole_(map(bytes_ + LARGE)), data_(aligned(whole_)) {
    spare().wait(bytes_ / LARGE);
}

Room::~Room() {
    settle();
    unmap(whole_, bytes_ + LARGE);
}

void Room::reach(std::size_t stop) {
    if (!waits_) return;
    for (; reached_ < stop && reached_ < bytes_; reached_ += LARGE) spare().give(data_ + reached_);
}

void Room::settle() {
    if (waits_) spare().leave((bytes_ - reached_) / LARGE);
    waits_ = false;
}

}  // namespace lineal
