// The files of device/, carried in the program.
#pragma once

#include <string>
#include <vector>

namespace qwengpu::ptx {

struct DeviceHeader {
  std::string path;  // below device/
  std::string text;
};
const std::vector<DeviceHeader>& device_headers();

}  // namespace qwengpu::ptx
