// Host arrays: what kernel arguments are made of and what .npy files hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qwengpu::launch {

// X(name, "SPELLING", C++ type, "numpy descr")
#define QWENGPU_TYPES(X)              \
  X(U8, "u8", std::uint8_t, "|u1")    \
  X(I8, "i8", std::int8_t, "|i1")     \
  X(U16, "u16", std::uint16_t, "<u2") \
  X(I16, "i16", std::int16_t, "<i2")  \
  X(U32, "u32", std::uint32_t, "<u4") \
  X(I32, "i32", std::int32_t, "<i4")  \
  X(U64, "u64", std::uint64_t, "<u8") \
  X(I64, "i64", std::int64_t, "<i8")  \
  X(F32, "f32", float, "<f4")         \
  X(F64, "f64", double, "<f8")

enum class Type {
#define X(name, spelling, cpp, descr) name,
  QWENGPU_TYPES(X)
#undef X
};

std::string_view type_name(Type type);
int type_bytes(Type type);
bool is_float(Type type);
std::optional<Type> find_type(std::string_view name);

// Calls f with a value-initialised object of the C++ type.
template <typename F>
decltype(auto) with_type(Type type, F&& f) {
  switch (type) {
#define X(name, spelling, cpp, descr) \
  case Type::name:                    \
    return f(cpp{});
    QWENGPU_TYPES(X)
#undef X
  }
  return f(std::int32_t{});
}

struct Shape {
  Type type = Type::I32;
  std::vector<std::uint64_t> extents;  // empty: one element

  std::uint64_t elements() const;
  std::uint64_t bytes() const { return elements() * static_cast<std::uint64_t>(type_bytes(type)); }
  std::string text() const;  // "i32[8,4]"
  bool operator==(const Shape&) const = default;
};

// C order, little endian.
struct Array {
  Shape shape;
  std::vector<std::uint8_t> bytes;

  template <typename T>
  T at(std::uint64_t index) const {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T>
  void set(std::uint64_t index, T value) {
    std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
  }
  std::string element_text(std::uint64_t index) const;
  bool operator==(const Array&) const = default;
};

}  // namespace qwengpu::launch
