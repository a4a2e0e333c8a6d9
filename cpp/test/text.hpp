// Text under the sanitizers: any bytes at all, growing tables, chunks on several threads.
#pragma once

#include <map>
#include <random>
#include <string>

#include "../lineal/text.hpp"

namespace {

// Documents of words, broken UTF-8 and bytes that mean nothing.
struct Texts {
    std::string text;
    std::vector<std::int64_t> starts{0};
    explicit Texts(lineal::Index count) {
        std::mt19937 random(7);
        const char* const pieces[] = {"word", "Straße ", " ", "\xc3", "\xf0\x9f", "\xe2\x82\xac", "İ", "\xff", "a_1", "ὈΔΥΣΣΕΎΣ", "NA", "\xed\xa0\x80"};
        for (lineal::Index i = 0; i < count; ++i) {
            for (unsigned k = random() % 12; k > 0; --k) {
                text += pieces[random() % std::size(pieces)];
                if (random() % 3 == 0) text += " w" + std::to_string(random() % 3000);
            }
            starts.push_back(static_cast<std::int64_t>(text.size()));
        }
    }
    lineal::Documents documents() const { return {starts.data(), text.data(), static_cast<lineal::Index>(starts.size()) - 1}; }
};

// Whether one pass counts every term as often as the plain map, and three threads give the bits of one.
bool text_holds(const lineal::Reading& reading) {
    using namespace lineal;
    const Texts texts(5000);
    const Documents documents = texts.documents();
    Lexicon one, three;
    if (!count_terms(Team{1, {}}, documents, reading, 1 << 20, one) || !count_terms(Team{3, {}}, documents, reading, 1 << 20, three)) return false;
    std::map<std::string, Index> counted;
    Reader reader(reading);
    for (Index i = 0; i < documents.count; ++i) {
        reader.read(documents[i]);
        reader.terms([&](const char* text, std::size_t size) { ++counted[std::string(text, size)]; });
    }
    bool holds = one.size() == static_cast<Index>(counted.size()) && one.size() == three.size();
    for (Index k = 0; holds && k < one.size(); ++k)
        holds = one[k] == three[k] && one.times(k) == counted[std::string(one[k])] && one.documents(k) == three.documents(k);
    Matrix32<float> a, b;
    encode_terms(Team{1, {}}, documents, reading, {&one, 0, nullptr}, {}, a);
    encode_terms(Team{3, {}}, documents, reading, {&one, 0, nullptr}, {}, b);
    holds = holds && a.unknown == 0 && a.starts == b.starts && a.columns == b.columns && a.values == b.values;
    Buckets buckets(7), again(7);
    count_buckets(Team{1, {}}, documents, reading, buckets);
    count_buckets(Team{3, {}}, documents, reading, again);
    return holds && buckets.documents == again.documents && buckets.shared == again.shared;
}

}  // namespace
