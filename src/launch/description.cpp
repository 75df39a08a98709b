#include "launch/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "isa/parameters.h"
#include "launch/npy.h"

static_assert(std::endian::native == std::endian::little, "arrays are kept in the byte order of the machine");

namespace qwengpu::launch {
namespace {

constexpr std::string_view argument_help =
    "an argument is TYPE:NUMBER, in:FILE.npy, inout:FILE.npy, in:TYPE[N]=iota|zero|random:SEED (or inout:) "
    "or "
    "out:TYPE[N]; keep:NAME:BUFFER, use:NAME or free:NAME in a sequence of launches; types are u8 i8 u16 i16 "
    "u32 i32 u64 i64 f32 f64";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// The whole text as a number of type T: decimal, or hexadecimal after 0x for integers.
template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<T>) {
    result = std::from_chars(text.data(), text.data() + text.size(), value);
  } else if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    if (text.starts_with('-')) return std::nullopt;
    std::make_unsigned_t<T> bits{};  // 0xffffffff is a fine i32
    result = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    value = static_cast<T>(bits);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), value);
  }
  if (text.empty() || result.ec != std::errc{} || result.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

// SplitMix64 (Steele, Lea, Flood 2014): element i of stream SEED, the same on every machine.
std::uint64_t random_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ull + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

template <typename T>
T random_value(std::uint64_t word, std::optional<T> low, std::optional<T> high) {
  if constexpr (std::is_floating_point_v<T>) {
    const T from = low.value_or(T{-1}), to = high.value_or(T{1});
    return from + (to - from) * (static_cast<T>(word >> 40) * static_cast<T>(0x1p-24));
  } else {
    if (!low) return static_cast<T>(word);
    const std::uint64_t span = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low) + 1;
    return static_cast<T>(static_cast<std::uint64_t>(*low) + (span == 0 ? word : word % span));
  }
}

Array generate(const Shape& shape, std::string_view rule) {
  if (shape.bytes() > isa::Parameters::host_bytes)
    throw UsageError(fmt::format("{} has {} bytes; a launch takes in at most {}", shape.text(), shape.bytes(),
                                 isa::Parameters::host_bytes));
  Array array{shape, std::vector<std::uint8_t>(shape.bytes())};
  const std::vector<std::string_view> parts = split(rule, ':');
  const auto bad = [&](std::string_view why) {
    return UsageError(fmt::format(
        "'{}' generates no data: {} (zero, iota, random:SEED or random:SEED:LOW:HIGH)", rule, why));
  };
  if (rule == "zero") return array;
  with_type(shape.type, [&](auto zero) {
    using T = decltype(zero);
    if (rule == "iota") {
      for (std::uint64_t i = 0; i < shape.elements(); ++i) array.set(i, static_cast<T>(i));
    } else if (parts[0] == "random" && (parts.size() == 2 || parts.size() == 4)) {
      const auto seed = number<std::uint64_t>(parts[1]);
      if (!seed) throw bad("the seed is not a number");
      std::optional<T> low, high;
      if (parts.size() == 4) {
        low = number<T>(parts[2]);
        high = number<T>(parts[3]);
        if (!low || !high || *high < *low)
          throw bad(fmt::format("LOW and HIGH are not an interval of {}", type_name(shape.type)));
      }
      for (std::uint64_t i = 0; i < shape.elements(); ++i)
        array.set(i, random_value<T>(random_word(*seed, i), low, high));
    } else {
      throw bad("this rule does not exist");
    }
  });
  return array;
}

// "i32[8,4]"
Shape parse_shape(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return UsageError(fmt::format("'{}' is not a type with a size such as i32[64]: {}", text, why));
  };
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']')) throw bad("it has no [N]");
  Shape shape;
  const auto type = find_type(text.substr(0, open));
  if (!type) throw bad(fmt::format("there is no type '{}'", text.substr(0, open)));
  shape.type = *type;
  for (std::string_view extent : split(text.substr(open + 1, text.size() - open - 2), ',')) {
    const auto count = number<std::uint32_t>(extent);
    if (!count) throw bad(fmt::format("'{}' is not a number of elements", extent));
    if (*count != 0 && shape.bytes() > std::numeric_limits<std::uint32_t>::max() / *count)
      throw bad("a buffer has less than 4 GiB");
    shape.extents.push_back(*count);
  }
  return shape;
}

// TEXT is "i32:7", of which NUMBER_TEXT is the number.
Array parse_scalar(Type type, std::string_view number_text, std::string_view text) {
  Array array{{type, {}}, std::vector<std::uint8_t>(static_cast<std::size_t>(type_bytes(type)))};
  with_type(type, [&](auto zero) {
    const auto value = number<decltype(zero)>(number_text);
    if (!value)
      throw UsageError(
          fmt::format("'{}': '{}' is not a number that {} holds", text, number_text, type_name(type)));
    array.set(0, *value);
  });
  return array;
}

std::string kind_text(const Argument& argument) {
  if (argument.earlier()) return fmt::format("the memory {}", argument.name);
  switch (argument.kind) {
    case Argument::Kind::Scalar:
      return fmt::format("the number {}", type_name(argument.shape.type));
    case Argument::Kind::In:
      return "the buffer in:" + argument.shape.text();
    case Argument::Kind::Out:
      return "the buffer out:" + argument.shape.text();
    case Argument::Kind::InOut:
      return "the buffer inout:" + argument.shape.text();
    case Argument::Kind::Device:
      return "the buffer " + argument.shape.text();
  }
  return "?";
}

// Empty when the argument fits.
std::string mismatch(const Argument& argument, const isa::KernelParameter& parameter) {
  if (argument.buffer()) {
    if (parameter.bytes == 8 && parameter.ptx_type != "f64") return "";
    return fmt::format("is {}, but the kernel takes a number ({})", kind_text(argument), parameter.ptx_type);
  }
  if (parameter.pointer)
    return fmt::format("is {}, but the kernel takes a pointer: use in:, out: or inout:", kind_text(argument));
  if (parameter.ptx_type.find('[') != std::string::npos)
    return fmt::format(
        "is {}, but the kernel takes a struct of {} bytes: pass its fields as parameters of their own",
        kind_text(argument), parameter.bytes);
  const bool bits = parameter.ptx_type.starts_with('b');
  const bool same_class = bits || is_float(argument.shape.type) == parameter.ptx_type.starts_with('f');
  if (same_class && type_bytes(argument.shape.type) == parameter.bytes) return "";
  return fmt::format("is {}, but the kernel takes {} of {} bytes", kind_text(argument), parameter.ptx_type,
                     parameter.bytes);
}

// TEXT is "keep:NAME:BUFFER", of which REST is "NAME:BUFFER".
Argument parse_lasting(Argument::Lifetime lifetime, std::string_view rest, std::string_view text,
                       const std::filesystem::path& folder) {
  const auto bad = [&](std::string_view why) { return UsageError(fmt::format("'{}': {}", text, why)); };
  const std::size_t colon = rest.find(':');
  const std::string_view name = rest.substr(0, colon);
  const bool has_more = colon != std::string_view::npos;
  const std::string_view buffer = has_more ? rest.substr(colon + 1) : "";
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  if (!is_name) throw bad(fmt::format("'{}' is not a name of letters, digits, _ and -", name));

  Argument argument;
  argument.kind = Argument::Kind::Device;
  if (lifetime == Argument::Lifetime::Keep) {
    if (!has_more)
      throw bad("it says no buffer: give keep:NAME:TYPE[N], or in:, out: or inout: instead of TYPE[N]");
    if (buffer.find(':') < buffer.find('['))
      argument = parse_argument(buffer, folder);
    else
      argument.shape = parse_shape(buffer);
  } else if (buffer == "out") {
    argument.kind = Argument::Kind::Out;
  } else if (has_more) {
    argument = parse_argument(buffer, folder);
    if (!argument.copied_in())
      throw bad(
          fmt::format("after the name comes nothing, out, or new contents (in:, inout:), not '{}'", buffer));
  }
  if (!argument.buffer() || !argument.name.empty()) throw bad(fmt::format("'{}' is not a buffer", buffer));
  argument.lifetime = lifetime;
  argument.name = name;
  return argument;
}

Dim3 dim3_of(const nlohmann::json& value, std::string_view name) {
  const auto bad = [&] {
    return UsageError(fmt::format("\"{}\" is not one to three numbers from 0 to 4294967295", name));
  };
  const nlohmann::json list = value.is_array() ? value : nlohmann::json::array({value});
  if (list.empty() || list.size() > 3) throw bad();
  Dim3 dim;
  std::uint32_t* const fields[] = {&dim.x, &dim.y, &dim.z};
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_number_unsigned() ||
        list[i].get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      throw bad();
    *fields[i] = list[i].get<std::uint32_t>();
  }
  return dim;
}

std::uint32_t number_of(const nlohmann::json& value, std::string_view name) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(fmt::format("\"{}\" is not a number from 0 to 4294967295", name));
  return value.get<std::uint32_t>();
}

}  // namespace

Dim3 parse_dim3(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  Dim3 dim;
  std::uint32_t* const fields[] = {&dim.x, &dim.y, &dim.z};
  if (parts.size() > 3) throw UsageError(fmt::format("'{}' has more than three dimensions", text));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = number<std::uint32_t>(parts[i]);
    if (!value) throw UsageError(fmt::format("'{}' is not a size such as 4 or 4,2,1", text));
    *fields[i] = *value;
  }
  return dim;
}

std::string text_of(const Dim3& dim) { return fmt::format("({},{},{})", dim.x, dim.y, dim.z); }

Argument parse_argument(std::string_view text, const std::filesystem::path& folder) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    throw UsageError(fmt::format("'{}' is not an argument: {}", text, argument_help));
  const std::string_view head = text.substr(0, colon), rest = text.substr(colon + 1);

  Argument argument;
  if (const auto type = find_type(head)) {
    argument.data = parse_scalar(*type, rest, text);
    argument.shape = argument.data.shape;
    return argument;
  }
  if (head == "keep") return parse_lasting(Argument::Lifetime::Keep, rest, text, folder);
  if (head == "use") return parse_lasting(Argument::Lifetime::Use, rest, text, folder);
  if (head == "free") return parse_lasting(Argument::Lifetime::Free, rest, text, folder);
  if (head == "in")
    argument.kind = Argument::Kind::In;
  else if (head == "out")
    argument.kind = Argument::Kind::Out;
  else if (head == "inout")
    argument.kind = Argument::Kind::InOut;
  else
    throw UsageError(fmt::format("'{}' is not an argument: {}", text, argument_help));

  if (argument.kind == Argument::Kind::Out) {
    argument.shape = parse_shape(rest);
  } else if (rest.ends_with(".npy")) {
    argument.data = read_npy(folder / std::string(rest));
    argument.shape = argument.data.shape;
  } else {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos)
      throw UsageError(
          fmt::format("'{}' says no contents: give FILE.npy or TYPE[N]=iota|zero|random:SEED", text));
    argument.shape = parse_shape(rest.substr(0, equals));
    argument.data = generate(argument.shape, rest.substr(equals + 1));
  }
  return argument;
}

Description read_launch_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path))
    throw std::runtime_error(fmt::format("{}: cannot be read", path.string()));
  try {
    const nlohmann::json json = nlohmann::json::parse(file);
    if (!json.is_object()) throw UsageError("it is not a JSON object");
    Description description;
    for (const auto& [key, value] : json.items()) {
      if (key == "file") {
        description.file = path.parent_path() / value.get<std::string>();
      } else if (key == "kernel") {
        description.kernel = value.get<std::string>();
      } else if (key == "grid") {
        description.grid = dim3_of(value, key);
      } else if (key == "block") {
        description.block = dim3_of(value, key);
      } else if (key == "shared") {
        description.shared_bytes = number_of(value, key);
      } else if (key == "device") {
        description.device = number_of(value, key);
      } else if (key == "out") {
        description.out = value.get<std::string>();
      } else if (key == "arguments") {
        for (const nlohmann::json& argument : value)
          description.arguments.push_back(parse_argument(argument.get<std::string>(), path.parent_path()));
      } else {
        throw UsageError(
            fmt::format("\"{}\" is not a field of a launch file (file, kernel, grid, block, shared, "
                        "device, arguments, out)",
                        key));
      }
    }
    if (description.file.empty()) throw UsageError("it has no \"file\"");
    return description;
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("{}: {}", path.string(), error.what()));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::string argument_label(const isa::Kernel& kernel, std::size_t n) {
  const std::string& name = kernel.parameters.at(n).name;
  return name.empty() ? fmt::format("argument {}", n) : fmt::format("argument {} ({})", n, name);
}

void check_arguments(const Description& description, const isa::Kernel& kernel) {
  const std::size_t given = description.arguments.size(), wanted = kernel.parameters.size();
  std::string problems;
  if (given != wanted)
    problems += fmt::format("\n  it takes {} argument{}, not {}", wanted, wanted == 1 ? "" : "s", given);
  for (std::size_t n = 0; n < std::min(given, wanted); ++n) {
    const std::string problem = mismatch(description.arguments[n], kernel.parameters[n]);
    if (!problem.empty()) problems += fmt::format("\n  {} {}", argument_label(kernel, n), problem);
  }
  if (problems.empty()) return;
  std::string signature;
  for (const isa::KernelParameter& parameter : kernel.parameters)
    signature += fmt::format("{}{}{}{}", signature.empty() ? "" : ", ",
                             parameter.pointer ? "pointer" : parameter.ptx_type,
                             parameter.name.empty() ? "" : " ", parameter.name);
  throw UsageError(
      fmt::format("the arguments do not fit kernel {}({}):{}", kernel.name, signature, problems));
}

}  // namespace qwengpu::launch
