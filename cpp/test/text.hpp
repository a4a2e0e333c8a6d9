// Text under the sanitizers: any bytes at all, growing tables, chunks on several threads.
#pragma once

#include <cctype>
#include <map>
#include <random>
#include <string>

#include "text/text.hpp"

namespace {

// Documents of words, broken UTF-8 and bytes that mean nothing.
struct Texts {
    std::string text;
    std::vector<std::int64_t> starts{0};
    explicit Texts(lineal::Index count) {
        std::mt19937 random(7);
        const char* const pieces[] = {"word", "Straße ", " ",   "\xc3",     "\xf0\x9f", "\xe2\x82\xac",
                                      "İ",    "\xff",    "a_1", "ὈΔΥΣΣΕΎΣ", "NA",       "\xed\xa0\x80"};
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

// Whether words of ASCII, with blocks of 64 beginning and ending anywhere in them, are those of a plain loop, and rows their counts.
bool plain_text_holds() {
    using namespace lineal;
    std::mt19937 random(11);
    const Reading reading{false, true, false, 3, 1, 1, {}, {}};
    Reader reader(reading);
    bool holds = true;
    for (int trial = 0; holds && trial < 2000; ++trial) {
        const std::string alphabet = trial % 2 ? "aZ_09 " : "bcDEfghijklmnopqrstuvwxyz-";
        std::string text;
        for (unsigned k = random() % 200; k > 0; --k) text += alphabet[random() % alphabet.size()];
        std::vector<std::string> words(1), found;
        for (const char c : text)
            if (std::isalnum(static_cast<unsigned char>(c)) || c == '_')
                words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            else
                words.emplace_back();
        std::erase_if(words, [](const std::string& word) { return word.size() < 3; });
        const std::vector<char> exact(text.begin(), text.end());  // no byte beyond the end
        reader.read({exact.data(), exact.size()});
        reader.terms([&](const char* word, std::size_t size) { found.emplace_back(word, size); });
        std::map<std::int32_t, float> counted;
        for (const std::string& word : words) {
            std::vector<char> padded(word.begin(), word.end());
            padded.resize(word.size() + 8);
            ++counted[static_cast<std::int32_t>(hash(padded.data(), word.size()) >> 60)];  // few buckets: every row has several of a kind
        }
        const std::string_view apart[] = {{exact.data(), exact.size()}};
        Matrix32<float> row;
        encode_terms(Team{1, {}}, Documents{nullptr, nullptr, 1, apart}, reading, {nullptr, 4, nullptr}, {}, row);
        holds = words == found && row.terms == static_cast<Index>(words.size()) && row.columns.size() == counted.size();
        std::size_t at = 0;
        for (auto [column, times] : counted) {
            holds = holds && row.columns[at] == column && row.values[at] == times;
            ++at;
        }
    }
    return holds;
}

// Whether one pass counts every term as often as the plain map, and three threads give the bits of one.
bool text_holds(const lineal::Reading& reading) {
    using namespace lineal;
    const Texts texts(5000);
    const Documents documents = texts.documents();
    Lexicon one, three;
    if (!count_terms(Team{1, {}}, documents, reading, 1 << 20, one) || !count_terms(Team{3, {}}, documents, reading, 1 << 20, three))
        return false;
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
