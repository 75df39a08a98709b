# Writes OUTPUT, a C++ file with the hash of the files that SOURCES lists.
file(STRINGS ${SOURCES} files)
set(hashes "")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  get_filename_component(name ${file} NAME)
  list(APPEND hashes "${name} ${hash}")
endforeach()
list(SORT hashes)  # independent of where the sources lie
string(SHA256 version "${hashes}")
string(SUBSTRING ${version} 0 16 version)
file(WRITE ${OUTPUT} "#include \"model.h\"\n\nconst char* const qwengpu::model_version = \"${version}\";\n")
