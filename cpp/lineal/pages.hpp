// Memory for many rows in large pages, which go from those who have used it to those who need it.
#pragma once

#include <cstddef>
#include <memory>

namespace lineal {

struct Slab;

// Memory that is let go of when nobody uses it: what a reader leaves behind must not pile up beside a fit. Some columns share
// a slab of large pages, which goes with the last of them: to a Room that waits, or back to the system.
class Pages {
public:
    Pages() = default;
    explicit Pages(std::size_t bytes);
    void* data() const { return data_; }

private:
    std::shared_ptr<Slab> slab_;
    void* data_ = nullptr;
};

// One long piece of memory that is written from its start on. Large pages that slabs let go of meanwhile are moved there, which
// costs nothing: new ones would have to be found and cleared.
class Room {
public:
    explicit Room(std::size_t bytes);
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room();
    void* data() const { return data_; }
    std::size_t size() const { return size_; }
    // Before bytes up to `stop` are written; no bytes before an earlier stop change.
    void reach(std::size_t stop);
    // No more will be written: other pages go back to the system.
    void settle();

private:
    std::size_t size_, bytes_, reached_ = 0;
    void* whole_ = nullptr;
    char* data_ = nullptr;
    bool waits_ = true;
};

}  // namespace lineal
