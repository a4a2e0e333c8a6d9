// Arrays in and out: views through the buffer protocol, checked against the shape a pass needs, and new numpy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/rows.hpp"

namespace {

namespace nb = nanobind;
using namespace lineal;

// Arrays without gaps: of one and of two dimensions, and of any number of them, to be read or to be written to.
template <class T>
using Line = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Grid = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Kept = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Marks = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Order = Line<std::int64_t>;

template <class Array>
auto data_of(const Array& array, std::size_t size, const char* name) {
    if (array.size() != size)
        throw nb::value_error(
            (std::string(name) + " must have " + std::to_string(size) + " entries, got " + std::to_string(array.size())).c_str());
    return array.data();
}
template <class Array>
auto data_of(const std::optional<Array>& array, std::size_t size, const char* name) {
    return array ? data_of(*array, size, name) : nullptr;
}

// A numpy array of that shape, which keeps the values it is made of.
template <class T>
nb::object owning(std::unique_ptr<T[]> values, std::initializer_list<std::size_t> shape) {
    T* data = values.release();
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}
template <class T>
nb::object handed(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner));
}

// What `work` returns, made without the interpreter lock: for calls so short that nothing needs to interrupt them.
template <class Work>
auto unlocked(Work work) {
    const nb::gil_scoped_release release;
    return work();
}

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

// Bytes of anything that holds some.
class BytesView {
public:
    BytesView(nb::handle array, const char* name) : view_(array, name, "bytes") {
        if (view_.dimensions() != 1 || !view_.is("Bbc")) throw nb::type_error((std::string(name) + " must be bytes").c_str());
        if (view_.size(0)) text = {static_cast<const char*>(view_.data()), static_cast<std::size_t>(view_.size(0))};
    }
    std::string_view text = "";

private:
    View view_;
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
