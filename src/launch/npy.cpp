#include "launch/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace qwengpu::launch {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;  // of the data in the file

std::string_view descr(Type type) {
  switch (type) {
#define X(name, spelling, cpp, descr) \
  case Type::name:                    \
    return descr;
    QWENGPU_TYPES(X)
#undef X
  }
  return "?";
}

std::optional<Type> type_of_descr(std::string_view text) {
#define X(name, spelling, cpp, descr) \
  if (text == descr) return Type::name;
  QWENGPU_TYPES(X)
#undef X
  return std::nullopt;
}

// The header is a Python dictionary literal with three keys: {'descr': '<i4', 'fortran_order': False,
// 'shape': (8, 4), }
class Header {
 public:
  Header(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  Shape parse() const {
    Shape shape;
    const std::string_view type = value_of("descr");
    if (!type.starts_with('\'')) fail("its elements are records; save one array of numbers instead");
    const std::string_view name = type.substr(1, type.find('\'', 1) - 1);
    if (name.starts_with('>')) fail("it is big endian; save it with array.astype('<i4') or the like");
    if (name == "|O") fail("its elements are Python objects; save it with array.astype('<i4') or the like");
    const auto known = type_of_descr(name);
    if (!known)
      fail(fmt::format("element type '{}' is not one of u8 i8 u16 i16 u32 i32 u64 i64 f32 f64", name));
    shape.type = *known;
    if (!value_of("fortran_order").starts_with("False"))
      fail("it is in Fortran order; save it with numpy.ascontiguousarray(array)");
    shape.extents = extents(value_of("shape"));
    return shape;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}: {}", file_, what));
  }

  std::string_view value_of(std::string_view key) const {
    const std::size_t at = text_.find(fmt::format("'{}'", key));
    const std::size_t colon = at == std::string_view::npos ? at : text_.find(':', at);
    const std::size_t value =
        colon == std::string_view::npos ? colon : text_.find_first_not_of(" ", colon + 1);
    if (value == std::string_view::npos) fail(fmt::format("not a .npy file: its header has no '{}'", key));
    return text_.substr(value);
  }

  std::vector<std::uint64_t> extents(std::string_view tuple) const {
    std::vector<std::uint64_t> result;
    std::uint64_t elements = 1;
    const std::size_t close = tuple.find(')');
    if (!tuple.starts_with('(') || close == std::string_view::npos)
      fail("not a .npy file: its shape is not a tuple");
    for (std::size_t at = 1; at < close;) {
      at = tuple.find_first_not_of(" ,", at);
      if (at >= close) break;
      std::uint64_t extent = 0;
      const auto [end, error] = std::from_chars(tuple.data() + at, tuple.data() + close, extent);
      if (error != std::errc{}) fail("not a .npy file: its shape is not a tuple of numbers");
      if (extent != 0 && elements > std::numeric_limits<std::uint32_t>::max() / extent)
        fail("it has more than 4 G elements");
      elements *= extent;
      result.push_back(extent);
      at = static_cast<std::size_t>(end - tuple.data());
    }
    return result;
  }

  std::string_view text_;
  std::string file_;
};

}  // namespace

Array read_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw std::runtime_error(fmt::format("{}: cannot be read", path.string()));
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const auto fail = [&](const std::string& what) -> std::runtime_error {
    return std::runtime_error(fmt::format("{}: {}", path.string(), what));
  };
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(content[at]));
  };

  if (content.size() < 10 || !std::string_view(content).starts_with(magic))
    throw fail("not a .npy file; write it with numpy.save(file, array)");
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    throw fail(fmt::format("it has .npy version {}; 1 to 3 are known", version));
  const std::size_t start = version == 1 ? 10 : 12;
  if (content.size() < start) throw fail("the file is truncated");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (content.size() < start + length) throw fail("the file is truncated");

  Array array;
  array.shape = Header(std::string_view(content).substr(start, length), path.string()).parse();
  const std::size_t have = content.size() - start - length;
  if (have != array.shape.bytes())
    throw fail(fmt::format("{} has {} bytes of data, the file {}{}", array.shape.text(), array.shape.bytes(),
                           have, have < array.shape.bytes() ? ": it is truncated" : ""));
  array.bytes.assign(content.begin() + static_cast<std::ptrdiff_t>(start + length), content.end());
  return array;
}

void write_npy(const std::filesystem::path& path, const Array& array) {
  std::string extents;
  for (std::uint64_t extent : array.shape.extents) extents += fmt::format("{}, ", extent);
  // A tuple of one is written (8,), of several (8, 4).
  if (array.shape.extents.size() > 1) extents.resize(extents.size() - 2);
  if (array.shape.extents.size() == 1) extents.resize(extents.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descr(array.shape.type), extents);
  const std::size_t start = magic.size() + 4;
  header += std::string(alignment - (start + header.size() + 1) % alignment, ' ') + "\n";

  const std::filesystem::path temporary = path.string() + ".part";
  {
    std::ofstream file(temporary, std::ios::binary);
    file << magic << '\x01' << '\x00' << static_cast<char>(header.size() & 255)
         << static_cast<char>(header.size() >> 8) << header;
    file.write(reinterpret_cast<const char*>(array.bytes.data()),
               static_cast<std::streamsize>(array.bytes.size()));
    file.flush();
    if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path.string()));
  }
  std::filesystem::rename(temporary, path);
}

}  // namespace qwengpu::launch
