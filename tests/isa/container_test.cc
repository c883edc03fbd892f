// The program file: round trips, and a sentence of its own for each bad file.
#include "isa/container.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/diagnostic.h"
#include "isa/text.h"
#include "tests/isa/example_program.h"

namespace trnemu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// What reading these bytes says; an empty diagnostic if it succeeds.
Diagnostic Read(std::string_view bytes) {
  const auto program = ReadProgramBytes(Bytes(bytes));
  return program.ok() ? Diagnostic{} : DiagnosticOf(program.status());
}

class ContainerFiles : public ::testing::Test {
 protected:
  ContainerFiles()
      : folder_(testing::TempDir() + "/container_test." +
                std::to_string(getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ContainerFiles() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  size_t CountFiles() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  Diagnostic FaultOf(const std::string& path) const {
    const auto program = ReadProgram(path);
    return program.ok() ? Diagnostic{} : DiagnosticOf(program.status());
  }

  const std::filesystem::path folder_;
};

TEST_F(ContainerFiles, AProgramSurvivesAFile) {
  const Program program = ExampleProgram();
  const std::string path = Path("k.trn");
  ASSERT_TRUE(WriteProgram(program, path).ok());
  const auto read = ReadProgram(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FirstDifference(program, *read), "");
  EXPECT_EQ(SerializeProgram(*read), SerializeProgram(program));
  EXPECT_EQ(CountFiles(), 1u);
}

TEST_F(ContainerFiles, TheMappedDataOutlivesTheFile) {
  const std::string path = Path("k.trn");
  ASSERT_TRUE(WriteProgram(ExampleProgram(), path).ok());
  auto read = ReadProgram(path);
  ASSERT_TRUE(read.ok());
  Program empty = ExampleProgram();
  empty.name = "other";
  ASSERT_TRUE(WriteProgram(empty, path).ok());
  std::filesystem::remove(path);
  const Program copy = *read;
  *read = Program{};
  ASSERT_EQ(copy.data->bytes().size(), 205u);
  EXPECT_EQ(copy.data->bytes()[204], std::byte{204});
}

TEST_F(ContainerFiles, AMissingFileIsAnInputError) {
  const Diagnostic d = FaultOf(Path("none.trn"));
  EXPECT_EQ(d.category, Category::kInput);
  EXPECT_THAT(d.message, HasSubstr("none.trn: No such file or directory"));
}

TEST_F(ContainerFiles, ADirectoryIsAnInputError) {
  const Diagnostic d = FaultOf(folder_.string());
  EXPECT_EQ(d.category, Category::kInput);
  EXPECT_THAT(d.message, HasSubstr("Is a directory"));
}

TEST_F(ContainerFiles, ANamedPipeIsAnInputErrorAndDoesNotHang) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(FaultOf(Path("pipe")).category, Category::kInput);
}

TEST_F(ContainerFiles, AnUnreadableFileIsAnInputError) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  std::ofstream(Path("k.trn")) << "x";
  ASSERT_EQ(chmod(Path("k.trn").c_str(), 0), 0);
  const Diagnostic d = FaultOf(Path("k.trn"));
  EXPECT_EQ(d.category, Category::kInput);
  EXPECT_THAT(d.message, HasSubstr("Permission denied"));
}

TEST_F(ContainerFiles, AnEmptyFileIsTruncated) {
  std::ofstream(Path("k.trn")).flush();
  const Diagnostic d = FaultOf(Path("k.trn"));
  EXPECT_EQ(d.id, "malformed.truncated");
  EXPECT_THAT(d.message, StartsWith(Path("k.trn") + ": "));
}

TEST_F(ContainerFiles, WritingWhereNoFolderIsReportsWhy) {
  const absl::Status status =
      WriteProgram(ExampleProgram(), Path("none/k.trn"));
  ASSERT_FALSE(status.ok());
  const Diagnostic d = DiagnosticOf(status);
  EXPECT_EQ(d.category, Category::kInput);
  EXPECT_THAT(d.message, HasSubstr("No such file or directory"));
}

TEST_F(ContainerFiles, WritingOverADirectoryLeavesNothingBehind) {
  std::filesystem::create_directory(Path("k.trn"));
  const absl::Status status = WriteProgram(ExampleProgram(), Path("k.trn"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(DiagnosticOf(status).category, Category::kInput);
  EXPECT_EQ(CountFiles(), 1u);
}

TEST(Container, AProgramSurvivesBytesInMemory) {
  const Program program = ExampleProgram();
  const std::string bytes = SerializeProgram(program);
  EXPECT_EQ(bytes.substr(0, 12), std::string("TRNEMU\r\n\1\0\0\0", 12));
  EXPECT_EQ(bytes.size() % 4096, 205u);
  const auto read = ReadProgramBytes(Bytes(bytes));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FirstDifference(program, *read), "");
}

TEST(Container, AProgramOfSeveralChunksSurvives) {
  const Program program = LargeProgram(10000);
  const auto read = ReadProgramBytes(Bytes(SerializeProgram(program)));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->num_instructions(), 10000);
  EXPECT_EQ(FirstDifference(program, *read), "");
}

TEST(Container, EveryTruncationIsReportedWithItsPlace) {
  const std::string bytes = SerializeProgram(ExampleProgram());
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Diagnostic d = Read(bytes.substr(0, n));
    ASSERT_EQ(d.id, "malformed.truncated") << n;
    ASSERT_THAT(d.message,
                HasSubstr("the file ends at byte " + std::to_string(n)));
  }
  EXPECT_EQ(Read(bytes.substr(0, 10)).message,
            "the file is truncated: the container version of 4 bytes was "
            "expected at byte 8, but the file ends at byte 10");
}

TEST(Container, TrailingBytesAreReported) {
  const std::string bytes = SerializeProgram(ExampleProgram());
  const Diagnostic d = Read(bytes + "\n");
  EXPECT_EQ(d.id, "malformed.trailing");
  EXPECT_THAT(d.message, HasSubstr("1 more bytes"));
}

TEST(Container, OtherFilesAreRecognisedByTheirMagic) {
  EXPECT_THAT(Read("\x89PNG\r\n").message, HasSubstr("not a trnemu program"));
  EXPECT_THAT(Read(ToText(ExampleProgram())).message, HasSubstr("trnemu asm"));
  std::string unix_ends = SerializeProgram(ExampleProgram());
  unix_ends.erase(6, 1);
  EXPECT_THAT(Read(unix_ends).message, HasSubstr("transferred as text"));
  EXPECT_EQ(Read(unix_ends).id, "malformed.magic");
}

TEST(Container, ANewerVersionSaysSo) {
  std::string bytes = SerializeProgram(ExampleProgram());
  bytes[8] = 7;
  EXPECT_EQ(Read(bytes).message,
            "made by a newer trnemu: container version 7, this one reads 1");
  EXPECT_EQ(Read(bytes).category, Category::kMalformed);
  bytes[8] = 0;
  EXPECT_EQ(Read(bytes).id, "malformed.version");
}

TEST(Container, ANeffFileIsUnsupportedAndSaysWhatToDo) {
  std::string bytes(4096, '\0');
  bytes.replace(1024 + 257, 5, "ustar");
  const Diagnostic d = Read(bytes);
  EXPECT_EQ(d.category, Category::kUnsupported);
  EXPECT_EQ(d.id, "neff");
  EXPECT_THAT(d.message, HasSubstr("undocumented"));
  EXPECT_THAT(d.remedy, HasSubstr("trnemu.torch"));
}

TEST(Container, PaddingMustBeZero) {
  std::string bytes = SerializeProgram(ExampleProgram());
  bytes[bytes.size() - 206] = 1;
  EXPECT_EQ(Read(bytes).id, "malformed.padding");
}

TEST(Container, AHugeLengthAllocatesNothing) {
  std::string bytes = SerializeProgram(ExampleProgram());
  bytes.replace(12, 4, "\xff\xff\xff\xff");
  const Diagnostic d = Read(bytes);
  EXPECT_EQ(d.id, "malformed.truncated");
  EXPECT_THAT(d.message, HasSubstr("the header of 4294967295 bytes"));
}

// One random edit: a changed byte, a span removed, repeated or overwritten.
void Mutate(std::string& bytes, std::mt19937& random) {
  auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  const size_t at = below(bytes.size());
  const size_t n = std::min(1 + below(8), bytes.size() - at);
  switch (below(5)) {
    case 0:
      bytes[at] = static_cast<char>(below(256));
      break;
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 2:
      bytes.erase(at, n);
      break;
    case 3:
      bytes.insert(below(bytes.size()), bytes.substr(at, n));
      break;
    default:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), n, '\xff');
  }
}

TEST(Container, RandomDamageGivesADiagnosticOrAValidProgram) {
  constexpr int kRounds = 4000;
  constexpr unsigned kSeed = 20240501;
  std::mt19937 random(kSeed);
  Program small = ExampleProgram();
  small.data = nullptr;  // so that most damage hits the protobuf
  for (Tensor& tensor : small.tensors) {
    if (tensor.kind == TensorKind::kConstant) tensor.kind = TensorKind::kInput;
  }
  const std::string good[] = {SerializeProgram(small),
                              SerializeProgram(ExampleProgram())};
  int valid = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " +
                 std::to_string(round));
    std::string bytes = good[round % 4 == 0];
    for (int edit = 0; edit <= round % 3; ++edit) Mutate(bytes, random);
    const auto program = ReadProgramBytes(Bytes(bytes));
    if (program.ok()) {
      ++valid;
      const auto again = FromText(ToText(*program));
      ASSERT_TRUE(again.ok()) << again.status();
      ASSERT_EQ(FirstDifference(*program, *again), "");
      continue;
    }
    const Diagnostic d = DiagnosticOf(program.status());
    ASSERT_TRUE(d.category == Category::kMalformed ||
                d.category == Category::kUnsupported)
        << Render(d);
    ASSERT_FALSE(d.message.empty());
  }
  EXPECT_GT(valid, kRounds / 100);
  EXPECT_LT(valid, kRounds / 2);
}

}  // namespace
}  // namespace trnemu
