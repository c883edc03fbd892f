# What find_package(trnemu) reads: the target trnemu::testing, whose header is
# <trnemu/testing.h>. Needs the Debian packages of scripts/packages.txt.
include(CMakeFindDependencyMacro)
find_dependency(absl)
find_dependency(Protobuf)
find_dependency(Threads)
find_dependency(GTest)
include(${CMAKE_CURRENT_LIST_DIR}/trnemu.cmake)
