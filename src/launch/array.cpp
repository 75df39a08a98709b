#include "launch/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qwengpu::launch {

std::string_view type_name(Type type) {
  switch (type) {
#define X(name, spelling, cpp, descr) \
  case Type::name:                    \
    return spelling;
    QWENGPU_TYPES(X)
#undef X
  }
  return "?";
}

int type_bytes(Type type) {
  return with_type(type, [](auto zero) { return static_cast<int>(sizeof zero); });
}

bool is_float(Type type) { return type == Type::F32 || type == Type::F64; }

std::optional<Type> find_type(std::string_view name) {
#define X(type, spelling, cpp, descr) \
  if (name == spelling) return Type::type;
  QWENGPU_TYPES(X)
#undef X
  return std::nullopt;
}

std::uint64_t Shape::elements() const {
  std::uint64_t count = 1;
  for (std::uint64_t extent : extents) count *= extent;
  return count;
}

std::string Shape::text() const { return fmt::format("{}[{}]", type_name(type), fmt::join(extents, ",")); }

std::string Array::element_text(std::uint64_t index) const {
  return with_type(shape.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 1)
      return fmt::format("{}", static_cast<int>(at<T>(index)));
    else
      return fmt::format("{}", at<T>(index));
  });
}

}  // namespace qwengpu::launch
