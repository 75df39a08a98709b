# Writes OUTPUT, a C++ source with the text of every file of DIRECTORY, so that the program carries its device headers along.
file(GLOB_RECURSE headers RELATIVE ${DIRECTORY} ${DIRECTORY}/*.h)
set(text "#include \"ptx/device_headers.h\"\n\nnamespace qwengpu::ptx {\n\nconst std::vector<DeviceHeader>& device_headers() {\n  static const std::vector<DeviceHeader> headers = {\n")
foreach(header ${headers})
  file(READ ${DIRECTORY}/${header} content)
  string(APPEND text "      {\"${header}\", R\"~~~~(${content})~~~~\"},\n")
endforeach()
string(APPEND text "  };\n  return headers;\n}\n\n}  // namespace qwengpu::ptx\n")
file(WRITE ${OUTPUT} "${text}")
