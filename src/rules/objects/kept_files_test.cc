#include "rules/objects/kept_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::objects {
namespace {

using testing::ElementsAre;
using Kind = WorkFile::Kind;

WorkFile File(std::string path, std::uint64_t bytes, std::int64_t modified_ns = 5) {
  return {
      .path = std::move(path), .stamp = {.bytes = bytes, .modified_ns = modified_ns}, .kind = Kind::kFile};
}

std::vector<std::string> Kept(std::vector<WorkFile> files, const UnpackedFiles& unpacked,
                              KeptLimits limits = {}) {
  std::vector<std::string> paths;
  for (const WorkFile& file : ChooseKeptFiles(std::move(files), unpacked, limits).kept)
    paths.push_back(file.path);
  return paths;
}

std::string Left(std::vector<WorkFile> files, KeptLimits limits = {}) {
  return NameLeftFiles(ChooseKeptFiles(std::move(files), {}, limits).left);
}

TEST(KeptFiles, NewAndChangedOnes) {
  const std::string list =
      std::string("3 5 train.py") + '\0' + "7 5 data/a b.csv" + '\0' + "7 5 grown.txt" + '\0';
  EXPECT_THAT(
      Kept({File("train.py", 3), File("data/a b.csv", 7, 6), File("grown.txt", 8), File("plot.png", 9)},
           ReadUnpackedFiles(list)),
      ElementsAre("grown.txt", "plot.png", "data/a b.csv"));
}

TEST(KeptFiles, AListThatWasWrittenOverMakesFilesNew) {
  const std::string list =
      std::string("x 5 train.py") + '\0' + "7" + '\0' + "7 5 " + '\0' + '\0' + "9 9 whole";
  EXPECT_EQ(ReadUnpackedFiles(list), (UnpackedFiles{{"whole", {9, 9}}}));
}

TEST(KeptFiles, CompiledPythonIsNoResult) {
  EXPECT_THAT(Kept({File("module.pyc", 3)}, {}), ElementsAre());
  EXPECT_TRUE(IsToolFolder("__pycache__"));
  EXPECT_FALSE(IsToolFolder("plots"));
}

TEST(KeptFiles, TheSmallestComeFirstUpToTheLimits) {
  const std::vector<WorkFile> files = {File("large", 60), File("b", 30), File("a", 30), File("tiny", 1)};
  EXPECT_THAT(Kept(files, {}, {.bytes = 70, .files = 10}), ElementsAre("tiny", "a", "b"));
  EXPECT_EQ(Left(files, {.bytes = 70, .files = 10}), "large (more than 70 bytes in all)");
}

TEST(KeptFiles, ManyTinyFilesDisplaceNoResult) {
  std::vector<WorkFile> files = {File("model.pt", 60), File("log", 1), File("plots/loss.png", 9)};
  for (const char name : {'a', 'b', 'c', 'd'}) files.push_back(File(std::string("parts/") + name, 1));
  EXPECT_THAT(Kept(files, {}, {.bytes = 1000, .files = 3}), ElementsAre("log", "model.pt", "plots/loss.png"));
  EXPECT_THAT(Kept(files, {}, {.bytes = 1000, .files = 1}), ElementsAre("model.pt"));
  EXPECT_EQ(Left(files, {.bytes = 1000, .files = 1}).substr(0, 34), "log (more than 1 file), parts/a (m");
  EXPECT_THAT(Kept(files, {}, {.bytes = 62, .files = 10}), ElementsAre("log", "model.pt", "parts/a"))
      << "the top comes before smaller files of folders";
}

TEST(KeptFiles, ANameIsOneLine) {
  EXPECT_EQ(Left({{.path = "a\nINFO b", .kind = Kind::kLink}}), "a\\nINFO b (a link)");
}

TEST(KeptFiles, WhatIsNoFileIsNamed) {
  EXPECT_EQ(Left({{.path = "latest", .kind = Kind::kLink},
                  {.path = "socket", .kind = Kind::kSpecial},
                  {.path = "secret", .kind = Kind::kUnreadable}}),
            "latest (a link), secret (cannot be read), socket (neither a file nor a folder)");
  std::vector<WorkFile> many;
  for (const char name : {'a', 'b', 'c', 'd', 'e', 'f', 'g'})
    many.push_back({.path = std::string(1, name), .kind = Kind::kLink});
  EXPECT_EQ(Left(many), "a (a link), b (a link), c (a link), d (a link), e (a link) and 2 more");
  EXPECT_EQ(Left({}), "");
}

}  // namespace
}  // namespace trainyard::objects
