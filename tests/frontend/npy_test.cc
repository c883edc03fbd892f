#include "frontend/cli/npy.h"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/diagnostic.h"

namespace trnemu::npy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string File(const std::string& dict, const std::string& data,
                 int version = 1) {
  std::string text("\x93NUMPY", 6);
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    text += static_cast<char>(dict.size() >> 8 * i);
  }
  return text + dict + data;
}

std::string Dict(const std::string& descr, const std::string& shape,
                 const std::string& fortran = "False") {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran,
                      ", 'shape': ", shape, ", }\n");
}

absl::StatusOr<Header> Parse(const std::string& file) {
  return ParseHeader(std::as_bytes(std::span(file)), "a.npy");
}

std::string ProblemOf(const std::string& file) {
  const auto header = Parse(file);
  if (header.ok()) return "no problem";
  const Diagnostic d = DiagnosticOf(header.status());
  EXPECT_EQ(d.category, Category::kInput);
  return absl::StrCat(d.id, ": ", d.message);
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    path_ = absl::StrCat(::testing::TempDir(), "/npy_test.", getpid(), ".npy");
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(NpyHeader, ReadsWhatNumpyWrites) {
  const auto header = Parse(File(Dict("<f4", "(2, 3)"), std::string(24, 'x')));
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->type.kind, 'f');
  EXPECT_EQ(header->type.bytes, 4);
  EXPECT_FALSE(header->fortran_order);
  EXPECT_THAT(header->shape, ElementsAre(2, 3));
  EXPECT_EQ(header->data_bytes, 24);
}

TEST(NpyHeader, ReadsVersions1To3) {
  for (const int version : {1, 2, 3}) {
    EXPECT_TRUE(Parse(File(Dict("|u1", "(1,)"), "x", version)).ok());
  }
  EXPECT_THAT(ProblemOf(File(Dict("|u1", "(1,)"), "x", 4)),
              HasSubstr("version 4"));
}

TEST(NpyHeader, ReadsScalarsAndEmptyArrays) {
  const auto scalar = Parse(File(Dict("<i4", "()"), "abcd"));
  ASSERT_TRUE(scalar.ok());
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_TRUE(Parse(File(Dict("<i4", "(0, 7)"), "")).ok());
  // Huge where it does not matter.
  EXPECT_TRUE(Parse(File(Dict("<i4", "(9000000000000000000, 9, 0)"), "")).ok());
}

TEST(NpyHeader, TakesKeysInAnyOrderAndPython2Longs) {
  EXPECT_TRUE(Parse(File("{\"shape\": (2L,), 'descr': \"|u1\", "
                         "'fortran_order': True}",
                         "ab"))
                  .ok());
}

TEST(NpyHeader, RefusesEachProblemWithItsOwnSentence) {
  const std::string good = File(Dict("<f4", "(2, 3)"), std::string(24, 'x'));
  EXPECT_THAT(ProblemOf(""), HasSubstr("the file is empty"));
  EXPECT_THAT(ProblemOf("hello world"), HasSubstr("not a .npy file"));
  EXPECT_THAT(ProblemOf("PK\x03\x04..."), HasSubstr(".npz archive"));
  EXPECT_THAT(ProblemOf(good.substr(0, 3)), HasSubstr("truncated"));
  EXPECT_THAT(ProblemOf(good.substr(0, 7)), HasSubstr("truncated"));
  EXPECT_THAT(ProblemOf(good.substr(0, 9)), HasSubstr("truncated"));
  EXPECT_THAT(ProblemOf(good.substr(0, 20)), HasSubstr("truncated"));
  EXPECT_THAT(ProblemOf(good.substr(0, good.size() - 1)),
              HasSubstr("needs 24 bytes, and 23 are there"));
  EXPECT_THAT(ProblemOf(good + "y"), HasSubstr("input.trailing"));
  EXPECT_THAT(ProblemOf(File(Dict("|O", "(1,)"), "x")), HasSubstr("pickled"));
  EXPECT_THAT(ProblemOf(File("{'descr': [('a', '<f4')], 'fortran_order': "
                             "False, 'shape': (1,), }",
                             "abcd")),
              HasSubstr("structured"));
  EXPECT_THAT(ProblemOf(File(Dict("<q9", "(1,)"), "x")),
              HasSubstr("\"<q9\" is not one of NumPy's"));
  EXPECT_THAT(ProblemOf(File(Dict("<f4", "(-1,)"), "")), HasSubstr("negative"));
  EXPECT_THAT(ProblemOf(File(Dict("<f4", "(3000000000, 3000000000)"), "")),
              HasSubstr("2^63"));
  EXPECT_THAT(ProblemOf(File(Dict("<f4", "(99999999999999999999,)"), "")),
              HasSubstr("64 bits"));
  EXPECT_THAT(ProblemOf(File("{}", "")), HasSubstr("dict"));
  EXPECT_THAT(ProblemOf(File(Dict("<f4", "(3)"), "")), HasSubstr("dict"));
  EXPECT_THAT(ProblemOf(File("__import__('os')", "")), HasSubstr("dict"));
}

TEST(NpyHeader, SurvivesRandomBytes) {
  std::mt19937 random(1);
  const std::string good = File(Dict("<f4", "(2, 3)"), std::string(24, 'x'));
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int flips = 0; flips < 3; ++flips) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    const auto header = Parse(bad.substr(0, random() % (bad.size() + 1)));
    if (!header.ok()) continue;
    EXPECT_LE(header->data_offset + static_cast<size_t>(header->data_bytes),
              bad.size());
  }
}

TEST(NpyRead, ConvertsFortranOrder) {
  const std::string data("\0\3\1\4\2\5", 6);  // columns of [[0,1,2],[3,4,5]]
  const TemporaryFile file(File(Dict("|u1", "(2, 3)", "True"), data));
  const auto array = Read(file.path());
  ASSERT_TRUE(array.ok()) << array.status();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(array->Number(i), i);
}

TEST(NpyRead, ConvertsFortranOrderOfThreeDimensions) {
  // Element (i, j, k) of shape (2, 3, 4) holds 12 i + 4 j + k.
  std::string data;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) {
        data += static_cast<char>(12 * i + 4 * j + k);
        data += '\0';
      }
    }
  }
  const TemporaryFile file(File(Dict("<u2", "(2, 3, 4)", "True"), data));
  const auto array = Read(file.path());
  ASSERT_TRUE(array.ok()) << array.status();
  for (int i = 0; i < 24; ++i) EXPECT_EQ(array->Number(i), i);
}

TEST(NpyRead, ReadsNumbersOfEveryWidth) {
  const auto first = [](const std::string& descr, const std::string& data) {
    const TemporaryFile file(File(Dict(descr, "(1,)"), data));
    const auto array = Read(file.path());
    return array.ok() && array->IsNumber() ? array->Number(0) : -999;
  };
  const float f = 1.5f;
  const double d = -2.5;
  EXPECT_EQ(first("<f4", {reinterpret_cast<const char*>(&f), 4}), 1.5);
  EXPECT_EQ(first("<f8", {reinterpret_cast<const char*>(&d), 8}), -2.5);
  EXPECT_EQ(first("<f2", std::string("\x00\x3e", 2)), 1.5);
  EXPECT_EQ(first("<f2", std::string("\x01\x80", 2)), -std::ldexp(1, -24));
  EXPECT_EQ(first("<f2", std::string("\x00\xfc", 2)), -INFINITY);
  EXPECT_EQ(first("|i1", "\xff"), -1);
  EXPECT_EQ(first("<u2", "\xff\xff"), 65535);
  EXPECT_EQ(first("<i8", std::string("\xfe\xff\xff\xff\xff\xff\xff\xff", 8)),
            -2);
  EXPECT_EQ(first(">f4", "abcd"), -999);
}

TEST(NpyRead, NamesAMissingFile) {
  const auto array = Read("/nonexistent/x.npy");
  ASSERT_FALSE(array.ok());
  const Diagnostic d = DiagnosticOf(array.status());
  EXPECT_EQ(d.category, Category::kInput);
  EXPECT_THAT(d.message, HasSubstr("/nonexistent/x.npy"));
  EXPECT_THAT(d.message, HasSubstr("No such file"));
}

TEST(NpyHolds, TakesTheSameFormatOrRawBitsOfTheSameWidth) {
  EXPECT_TRUE(Holds({'f', 4, false}, Dtype::kFloat32));
  EXPECT_TRUE(Holds({'f', 4, false}, Dtype::kTFloat32));
  EXPECT_FALSE(Holds({'f', 8, false}, Dtype::kFloat32));
  EXPECT_FALSE(Holds({'f', 4, true}, Dtype::kFloat32));
  EXPECT_FALSE(Holds({'i', 4, false}, Dtype::kUint32));
  EXPECT_FALSE(Holds({'V', 4, false}, Dtype::kFloat32));
  EXPECT_TRUE(Holds({'V', 2, false}, Dtype::kBFloat16));
  EXPECT_TRUE(Holds({'u', 2, false}, Dtype::kBFloat16));
  EXPECT_FALSE(Holds({'i', 2, false}, Dtype::kBFloat16));
  EXPECT_FALSE(Holds({'f', 2, false}, Dtype::kBFloat16));
  EXPECT_TRUE(Holds({'V', 1, false}, Dtype::kFloat8E4M3FN));
  EXPECT_TRUE(Holds({'f', 1, false}, Dtype::kFloat8E5M2));
  EXPECT_TRUE(Holds({'u', 4, false}, Dtype::kFloat8E4M3FNX4));
  EXPECT_TRUE(Holds({'b', 1, false}, Dtype::kBool));
  EXPECT_FALSE(Holds({'u', 1, false}, Dtype::kBool));
}

TEST(NpyWrite, RoundTripsEveryDtypeAndShape) {
  const std::vector<std::vector<int64_t>> shapes = {
      {}, {5}, {2, 3}, {1, 1, 7}, {0, 4}};
  for (const DtypeInfo& info : kDtypes) {
    for (const auto& shape : shapes) {
      std::string file = HeaderFor(info.dtype, shape);
      EXPECT_EQ(file.size() % 64, 0u);
      int64_t bytes = info.bytes;
      for (const int64_t n : shape) bytes *= n;
      file.append(static_cast<size_t>(bytes), '\0');
      const auto header = Parse(file);
      ASSERT_TRUE(header.ok()) << info.name << " " << header.status();
      EXPECT_EQ(header->shape, shape);
      EXPECT_TRUE(Holds(header->type, info.dtype)) << info.name;
    }
  }
  EXPECT_EQ(DescrOf(Dtype::kBFloat16), "|V2");
  EXPECT_EQ(DescrOf(Dtype::kFloat8E4M3), "|V1");
  EXPECT_EQ(DescrOf(Dtype::kFloat8E4M3FNX4), "<u4");
}

}  // namespace
}  // namespace trnemu::npy
