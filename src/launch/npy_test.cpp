#include "launch/npy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "launch/testing.h"

namespace qwengpu::launch {
namespace {

using testing::message_of;
using testing::temporary_file;

// A .npy file as NumPy writes it, version 1.
std::filesystem::path npy(const std::string& header, const std::string& data) {
  const auto path = temporary_file("handmade.npy");
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(header.size()) << '\x00' << header << data;
  return path;
}

TEST(Npy, ReadsWhatNumPyWrites) {
  const Array array = read_npy(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }     \n",
                                   std::string("\1\0\2\0\3\0\4\0\5\0\xff\xff", 12)));
  EXPECT_EQ(array.shape, (Shape{Type::I16, {2, 3}}));
  EXPECT_EQ(array.at<std::int16_t>(3), 4);
  EXPECT_EQ(array.at<std::int16_t>(5), -1);
}

TEST(Npy, WritesWhatItReads) {
  const auto path = temporary_file("written.npy");
  for (const Shape& shape :
       {Shape{Type::F32, {5}}, Shape{Type::U8, {2, 3, 4}}, Shape{Type::I64, {}}, Shape{Type::U32, {0}}}) {
    Array array{shape, std::vector<std::uint8_t>(shape.bytes(), 7)};
    write_npy(path, array);
    EXPECT_EQ(read_npy(path), array) << shape.text();
    EXPECT_EQ((std::filesystem::file_size(path) - shape.bytes()) % 64,
              0u);  // numpy.lib.format aligns the data
  }
}

TEST(Npy, RefusesWithAReason) {
  struct Case {
    std::string header, data, message;
  };
  const Case cases[] = {
      {"{'descr': '<i4', 'fortran_order': True, 'shape': (1,), }\n", "abcd",
       "Fortran order; save it with numpy.ascontiguousarray"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", "abcd", "Python objects"},
      {"{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }\n", "abcd", "big endian"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }\n", "abcd", "'<f2' is not one of"},
      {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }\n", "abcd", "records"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", "abcd",
       "i32[2] has 8 bytes of data, the file 4: it is truncated"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (99999999, 99999999), }\n", "",
       "more than 4 G elements"},
      {"{'descr': '<i4', 'shape': (2,), }\n", "abcd", "no 'fortran_order'"},
  };
  for (const Case& c : cases)
    EXPECT_NE(message_of([&] { read_npy(npy(c.header, c.data)); }).find(c.message), std::string::npos)
        << message_of([&] { read_npy(npy(c.header, c.data)); });
  EXPECT_NE(message_of([] { read_npy("does/not/exist.npy"); }).find("does/not/exist.npy: cannot be read"),
            std::string::npos);
  const auto path = temporary_file("text.npy");
  std::ofstream(path) << "hello, world";
  EXPECT_NE(message_of([&] { read_npy(path); }).find("not a .npy file"), std::string::npos);
}

}  // namespace
}  // namespace qwengpu::launch
