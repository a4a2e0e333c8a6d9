// Two threads that present the same rows, each with half of the columns.
#pragma once

#include "perceptron.hpp"

namespace lineal {

// Whether two threads gain: dense rows of one segment and several outputs, where nothing happens but updates. `least` is how many
// products a row must need.
bool paired(const Presentation& e, int threads, Index least = 2048);

// Presents rows on two threads; false where the other thread did not come to run, e.at says how far it went. The bits are those of one.
bool together(Presentation& e, Index patience = 20000);

}  // namespace lineal
