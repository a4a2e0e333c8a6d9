// A design for Python, and what a pass over it is asked for, checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parts.hpp"

namespace {

Loss loss_of(int number) {
    if (number < 0 || number > 5)
        throw nb::value_error(("loss " + std::to_string(number) + " is unknown; see the numbers in docs/core.md").c_str());
    return static_cast<Loss>(number);
}

// Everything a pass is asked for, checked; keeps the views alive.
struct Asked {
    Asked(const Rows& rows, int loss, nb::handle y_array, nb::handle weight_array, nb::handle offset_array, nb::handle coef_array,
          double parameter = 0)
        : coef(coef_array, "coef", {rows.columns(), -1}),
          weight(Input::maybe(weight_array, "weight", {rows.rows()})),
          offset(Input::maybe(offset_array, "offset", {rows.rows(), coef.matrix().columns})) {
        request.loss = loss_of(loss);
        request.parameter = parameter;
        request.outputs = coef.matrix().columns;
        if (request.loss > Loss::softmax && request.outputs != 1)
            throw nb::value_error(("a loss of one score needs coef with 1 column, got " + std::to_string(request.outputs)).c_str());
        if (!y_array.is_none())
            y.emplace(y_array, "y", std::vector<Index>{rows.rows(), request.loss == Loss::softmax ? 1 : request.outputs});
        request.y = matrix_of(y);
        request.weight = matrix_of(weight);
        request.offset = matrix_of(offset);
    }
    Input coef;
    std::optional<Input> weight, offset, y;
    Request request;
};

class PyRows {
public:
    explicit PyRows(nb::list parts) : owner_(parts), rows_(parts_of(parts)) {}
    const Rows& rows() const { return rows_; }

private:
    nb::tuple owner_;
    Rows rows_;
};

}  // namespace
