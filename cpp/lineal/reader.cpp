#include "reader.hpp"

#include <algorithm>

namespace lineal {

Reader::Reader(const Reading& reading) : reading_(&reading), characters_(&Characters::of(reading.lower, reading.fold)) {}

std::string_view Reader::trimmed(std::string_view document) const {
    const Characters& plain = Characters::of(false, false);
    const unsigned char* begin = reinterpret_cast<const unsigned char*>(document.data());
    const unsigned char* end = begin + document.size();
    for (const unsigned char* p = begin; p < end && plain[decode(p, end)] & Characters::blank;) begin = p;
    while (begin < end) {
        const unsigned char* last = end - 1;
        while (last > begin && end - last < 4 && (*last & 0xC0) == 0x80) --last;
        const unsigned char* p = last;
        if (!(plain[decode(p, end)] & Characters::blank) || p != end) break;
        end = last;
    }
    return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(end - begin)};
}

void Reader::read(std::string_view document) {
    pieces_.clear();
    body_ = {};
    document = trimmed(document);
    if (document.empty()) return;
    if (document.size() < 64 && std::find(reading_->missing.begin(), reading_->missing.end(), document) != reading_->missing.end()) return;
    body_ = document;
    const std::size_t needed = 3 * document.size() + 32;  // no character grows more than threefold; some bytes beyond the end are read
    if (needed > size_) {
        size_ = needed + needed / 2;
        room_.reset(new char[size_]());
    }
    if (reading_->characters) letters(document);
    else words(document);
}

void Reader::words(std::string_view document) {
    const unsigned char* p = reinterpret_cast<const unsigned char*>(document.data());
    const unsigned char* const end = p + document.size();
    char* const room = room_.get();
    char *out = room, *start = room;
    Index length = 0;
    const std::uint8_t* const ascii = characters_->ascii_words();
    const auto close = [&] {
        if (length >= reading_->least && out > start) {
            pieces_.push_back({static_cast<std::size_t>(start - room), static_cast<std::size_t>(out - room)});
            *out++ = ' ';
            start = out;
        } else out = start;
        length = 0;
    };
    const auto put = [&](std::uint32_t entry) {
        if (entry & Characters::word) {
            out = encode(entry & Characters::code, out);
            ++length;
        } else if (out > start) close();
    };
    while (p < end) {
        if (*p < 0x80) {
            const std::uint8_t found = ascii[*p++];
            if (found) {
                *out++ = static_cast<char>(found);
                ++length;
            } else if (out > start) close();
            continue;
        }
        const std::uint32_t entry = (*characters_)[decode(p, end)];
        if (!(entry & Characters::several)) put(entry);
        else {
            const std::uint32_t* pool = characters_->pool(entry);
            for (std::uint32_t i = 0; i < *pool; ++i) put(pool[i + 1]);
        }
    }
    if (out > start) close();
}

void Reader::letters(std::string_view document) {
    const unsigned char* p = reinterpret_cast<const unsigned char*>(document.data());
    const unsigned char* const end = p + document.size();
    char* const room = room_.get();
    char* out = room;
    bool blank = false;
    const auto put = [&](std::uint32_t entry) {
        const bool now = entry & Characters::blank;
        if (!(now && blank)) {
            const std::size_t begin = static_cast<std::size_t>(out - room);
            out = encode(now ? ' ' : entry & Characters::code, out);
            pieces_.push_back({begin, static_cast<std::size_t>(out - room)});
        }
        blank = now;
    };
    while (p < end) {
        const std::uint32_t entry = (*characters_)[decode(p, end)];
        if (!(entry & Characters::several)) put(entry);
        else {
            const std::uint32_t* pool = characters_->pool(entry);
            for (std::uint32_t i = 0; i < *pool; ++i) put(pool[i + 1]);
        }
    }
}

}  // namespace lineal
