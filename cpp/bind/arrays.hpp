// Arrays in and out: views through the buffer protocol, checked against the shape a pass needs, and new numpy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "passes/rows.hpp"

namespace {

namespace nb = nanobind;
using namespace lineal;

// A view of an array through the buffer protocol, held until the object dies.
class View {
public:
    View(nb::handle array, const char* name, const char* accepted) {
        if (PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
            PyErr_Clear();
            throw nb::type_error((std::string(name) + " must be " + accepted + ", got " + type_name(array)).c_str());
        }
        held_ = true;
    }
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    ~View() {
        if (held_) PyBuffer_Release(&buffer_);
    }

    static std::string type_name(nb::handle object) { return nb::cast<std::string>(object.type().attr("__name__")); }

    bool is(const char* codes) const {
        const char* format = buffer_.format;
        if (format == nullptr) return false;
        if (*format == '@' || *format == '=' || *format == '<') ++format;
        return std::strlen(format) == 1 && std::strchr(codes, *format) != nullptr;
    }
    bool is_int(Py_ssize_t bytes) const { return is("ilq") && buffer_.itemsize == bytes; }
    int dimensions() const { return buffer_.ndim; }
    Index size(int axis) const { return buffer_.shape[axis]; }
    Index stride(int axis) const {
        if (buffer_.strides[axis] % buffer_.itemsize != 0)
            throw nb::value_error("an array's strides must be whole numbers of elements; copy it first");
        return buffer_.strides[axis] / buffer_.itemsize;
    }
    const void* data() const {
        if (reinterpret_cast<std::uintptr_t>(buffer_.buf) % static_cast<std::size_t>(buffer_.itemsize) != 0)
            throw nb::value_error("an array's elements must be aligned; copy it first");
        return buffer_.buf;
    }
    std::string format() const { return buffer_.format ? buffer_.format : "bytes"; }

private:
    Py_buffer buffer_{};
    bool held_ = false;
};

std::string shape_text(const std::vector<Index>& shape) {
    std::string out = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
    return out + (shape.size() == 1 ? ",)" : ")");
}

// A float64 array of the given shape; -1 stands for any size.
class Input {
public:
    Input(nb::handle array, const char* name, std::vector<Index> shape) {
        if (array.is_none()) throw nb::type_error((std::string(name) + " must be a float64 array, got None").c_str());
        view_.emplace(array, name, "a float64 array");
        if (!view_->is("d")) throw nb::type_error((std::string(name) + " must be float64, got format '" + view_->format() + "'").c_str());
        std::vector<Index> got;
        for (int i = 0; i < view_->dimensions(); ++i) got.push_back(view_->size(i));
        bool fits = got.size() == shape.size();
        for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] < 0 || shape[i] == got[i];
        if (!fits)
            throw nb::value_error(
                (std::string(name) + " must have shape " + shape_text(shape) + " (-1: any), got " + shape_text(got)).c_str());
        static const double nothing = 0;
        matrix_.rows = got.empty() ? 1 : got[0];
        matrix_.columns = got.size() < 2 ? 1 : got[1];
        matrix_.row_stride = got.empty() ? 0 : view_->stride(0);
        matrix_.column_stride = got.size() < 2 ? 0 : view_->stride(1);
        matrix_.data = view_->data() ? static_cast<const double*>(view_->data()) : &nothing;
    }
    static std::optional<Input> maybe(nb::handle array, const char* name, std::vector<Index> shape) {
        if (array.is_none()) return std::nullopt;
        return std::optional<Input>(std::in_place, array, name, std::move(shape));
    }
    const Matrix& matrix() const { return matrix_; }

private:
    std::optional<View> view_;
    Matrix matrix_;
};

Matrix matrix_of(const std::optional<Input>& input) { return input ? input->matrix() : Matrix{}; }

// A new numpy array of zeros or of nothing in particular, and its data.
struct Output {
    nb::object array;
    double* data;
    explicit Output(const std::vector<Index>& shape, bool zeros = false) {
        static PyObject* const empty = nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
        static PyObject* const clean = nb::object(nb::module_::import_("numpy").attr("zeros")).release().ptr();
        nb::object size = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
        for (std::size_t i = 0; i < shape.size(); ++i)
            PyTuple_SetItem(size.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
        array = nb::handle(zeros ? clean : empty)(size);
        data = static_cast<double*>(const_cast<void*>(View(array, "result", "an array").data()));
    }
};

}  // namespace
